"""Filling in a form by keyboard alone, as somebody does who has no pointer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from playwright.sync_api import Page

MOST_STEPS = 200
FOCUSED = """() => {
    const one = document.activeElement, box = one.getBoundingClientRect();
    const style = getComputedStyle(one);
    return {tag: one.localName, type: one.type || "", name: one.name || "", value: one.value || "",
            text: one.innerText || "", checked: !!one.checked, left: box.left, right: box.right,
            outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0}
}"""


def focused(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(FOCUSED)
    return found


def tabs(page: Page) -> Iterator[dict[str, Any]]:
    """Presses Tab again and again; what has the focus after each."""
    for _step in range(MOST_STEPS):
        page.keyboard.press("Tab")
        yield focused(page)


def fill_in(page: Page, values: Mapping[str, str], *, button: str) -> list[dict[str, Any]]:
    """Tabs through the form, types, and presses Enter on the button; what had the focus on the way."""
    met = []
    for element in tabs(page):
        met.append(element)
        if element["tag"] == "button" and element["text"].strip() == button:
            page.keyboard.press("Enter")
            return met
        if element["name"] in values and element["tag"] in ("input", "textarea"):
            _answer(page, element, values[element["name"]])
    raise AssertionError(f"{button!r} is not reached by {MOST_STEPS} Tabs: {[one['name'] for one in met]}")


def _answer(page: Page, element: Mapping[str, Any], value: str) -> None:
    if element["type"] == "checkbox":
        if element["value"] in value.split() and not element["checked"]:
            page.keyboard.press("Space")
    elif element["type"] == "radio":
        _choose(page, value)
    else:
        page.keyboard.press("Control+a")
        page.keyboard.type(value)


def _choose(page: Page, value: str) -> None:
    """One of a group of radio buttons: Space takes the first, arrows the next."""
    page.keyboard.press("Space")
    for _number in range(10):
        if focused(page)["value"] == value:
            return
        page.keyboard.press("ArrowDown")
    raise AssertionError(f"there is no choice {value!r}")
