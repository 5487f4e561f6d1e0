"""People at browsers of their own."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Mapping
from typing import Any

from playwright.sync_api import Browser, Locator, Page

from tests.e2e.stage import PASSWORD, Stage

PATIENCE = 90.0  # seconds for a check or a run
MILLISECONDS = 15_000


def executable() -> str | None:
    return os.environ.get("AML_TEST_CHROMIUM") or shutil.which("chromium")


class Person:
    """A browser with nobody else's cookies; whatever its console complains of is in ``complaints``."""

    def __init__(self, browser: Browser, stage: Stage, **context: Any) -> None:
        self.stage = stage
        # Without transitions, so that no colour is measured half-way to another.
        self.context = browser.new_context(base_url=stage.site, reduced_motion="reduce", **context)
        self.context.set_default_timeout(MILLISECONDS)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda one: self._note(one.type, f"{one.text} at {self.page.url}"))
        self.page.on("pageerror", lambda error: self.complaints.append(f"{error} at {self.page.url}"))

    def open(self, path: str) -> int:
        """Goes there; the status."""
        answer = self.page.goto(path)
        assert answer is not None
        return answer.status

    def log_in(self, email: str) -> Person:
        self.open("/accounts/login/")
        self.page.get_by_label("Email").fill(email)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.press("Sign in")
        self.page.wait_for_url("**/evaluation/")
        return self

    def press(self, name: str) -> None:
        self.main.get_by_role("button", name=name, exact=True).first.click()

    def follow(self, name: str) -> None:
        self.main.get_by_role("link", name=name, exact=True).first.click()

    def do_next(self) -> None:
        """The one act that the desk offers."""
        self.open("/evaluation/")
        self.main.locator(".panel--action .button--primary").click()

    def arrive(self, kind: str) -> None:
        """Waits for the page of a participant, an entry, a run…, whatever its id."""
        self.page.wait_for_url(re.compile(rf"/evaluation/{kind}/[a-z0-9]{{12}}/$"))

    def fill(self, values: Mapping[str, str]) -> None:
        """Fields by name; a choice is picked by its value, several are parted by blanks."""
        for name, value in values.items():
            field = self.page.locator(f"[name='{name}']")
            if field.first.get_attribute("type") in ("radio", "checkbox"):
                for one in value.split():
                    self.page.locator(f"[name='{name}'][value='{one}']").check()
            else:
                field.fill(value)

    @property
    def main(self) -> Locator:
        return self.page.locator("main")

    @property
    def text(self) -> str:
        """What the page says, in one line."""
        return " ".join(self.page.locator("body").inner_text().split())

    @property
    def path(self) -> str:
        return self.page.url.removeprefix(self.stage.site)

    def watch(self, selector: str) -> list[str]:
        """What the part of the page shows, one after another, until it asks for itself no more."""
        seen: list[str] = []
        ends = time.monotonic() + PATIENCE
        while self.page.locator(f"{selector}[hx-get]").count():
            self.stage.processes.check()
            assert time.monotonic() < ends, f"not over after {PATIENCE} s: {seen[-1:]}"
            words = " ".join(self.page.locator(".progress__count").all_inner_texts())
            if words and words not in seen[-1:]:
                seen.append(words)
            self.page.wait_for_timeout(200)
        self.page.wait_for_load_state()
        return [*seen, " ".join(self.page.locator(".progress__count").all_inner_texts())]

    def code_from_the_mail(self) -> str:
        """The newest code that the local outbox page shows."""
        with self.context.new_page() as outbox:
            outbox.goto("/outbox/")
            text = outbox.locator("pre").first.inner_text()
        found = re.search(r"^\s*([A-Z0-9]{3,4}-?[A-Z0-9]{3,4})\s*$", text, re.MULTILINE)
        assert found, text
        return found.group(1)

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(f"{kind}: {text}")
