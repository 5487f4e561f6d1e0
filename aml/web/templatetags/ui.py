"""``{% load ui %}``: formatting filters and the components that need more than an include."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import template
from django.template.loader import render_to_string
from django.urls import translate_url
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from aml.web import formats, icons, states

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from django_stubs_ext import StrOrPromise

register = template.Library()


# ---- Filters: a value in, a text out ----------------------------------------------------------


@register.filter
def score(value: float | None, decimals: int = 1) -> str:
    return formats.score(value, decimals=decimals)


@register.filter
def percent(value: float | None, decimals: int = 1) -> str:
    return formats.percent(value, decimals=decimals)


@register.filter
def interval(low: float | None, high: float | None) -> str:
    return formats.interval(low, high)


@register.filter
def rank_range(low: int | None, high: int | None) -> str:
    return formats.rank_range(low, high)


@register.filter
def count(value: int | None) -> str:
    return formats.count(value)


@register.filter
def rate(value: float | None) -> str:
    return formats.rate(value)


@register.filter
def milliseconds(value: float | None) -> str:
    return formats.milliseconds(value)


@register.filter
def duration(value: float | timedelta | None) -> str:
    return formats.duration(value)


@register.filter
def utc(when: datetime | None) -> str:
    return formats.utc(when)


@register.filter
def utc_date(when: datetime | None) -> str:
    return formats.utc_date(when)


@register.filter
def short_hash(value: str, length: int = 12) -> str:
    """The first characters of a hash or a commit, enough to recognise it."""
    return value[:length]


@register.filter
def state_info(state: object) -> states.StateInfo:
    return states.state_info(state)


@register.filter
def fault_word(fault: object) -> StrOrPromise:
    """Whose fault it is, in a word: ``participant`` → ``Your service``."""
    return states.FAULTS.get(str(fault), formats.MISSING)


@register.filter
def phase_word(phase: object) -> StrOrPromise:
    return states.PHASES.get(str(phase), str(phase))


@register.filter
def pause_sentence(reason: object) -> StrOrPromise:
    return states.PAUSE_REASONS.get(str(reason), "")


@register.filter
def done_of_total(done: int | None, total: int | None) -> str:
    return formats.done_of_total(done, total)


# ---- Small tags -------------------------------------------------------------------------------


@register.simple_tag
def icon(name: str) -> SafeString:
    return icons.icon(name)


@register.simple_tag
def utc_time(when: datetime | None) -> str:
    """A ``<time>`` in UTC; the script adds the reader's own time beside it."""
    if when is None:
        return formats.MISSING
    moment = formats.as_utc(when).isoformat(timespec="seconds")
    return format_html('<time datetime="{}" data-local>{}</time>', moment, formats.utc(when))


@register.inclusion_tag("ui/badge.html")
def badge(state: object, label: StrOrPromise = "", title: StrOrPromise = "") -> dict[str, Any]:
    return {"state": state, "label": label, "title": title}


@register.simple_tag(takes_context=True)
def page_in(context: template.Context, language: str) -> str:
    """This page's address in another language, query kept; ``/`` without a request."""
    request = context.get("request")
    return "/" if request is None else translate_url(request.get_full_path(), language)


@register.simple_tag(takes_context=True)
def nav_current(context: template.Context, prefix: str) -> SafeString:
    """``aria-current`` where this page lies under the given address."""
    request = context.get("request")
    path = "" if request is None else request.path
    if not prefix or not path.startswith(prefix):
        return mark_safe("")
    return format_html('aria-current="{}"', "page" if path == prefix else "true")


# ---- Pictures ---------------------------------------------------------------------------------


@register.inclusion_tag("ui/interval_bar.html")
def interval_bar(
    *,
    value: float | None,
    low: float | None,
    high: float | None,
    scale_min: float = 0.0,
    scale_max: float = 1.0,
    baselines: Sequence[tuple[StrOrPromise, float]] = (),
    quiet: bool = False,
) -> dict[str, Any]:
    """A score with its interval on a scale shared by all rows; see ``ui/interval_bar.html``."""

    def place(number: float | None) -> str | None:
        return None if number is None else formats.position(number, low=scale_min, high=scale_max)

    return {
        "value": value,
        "low": low,
        "high": high,
        "x": place(value),
        "x_low": place(low),
        "x_high": place(high),
        "baselines": [(title, number, place(number)) for title, number in baselines],
        "quiet": quiet,
    }


# ---- Components -------------------------------------------------------------------------------


@register.simple_tag(takes_context=True)
def ui(context: template.Context, component: str, **parameters: Any) -> SafeString:
    """``{% ui "button" label=… kind="primary" %}`` renders ``ui/button.html``.

    Unlike an include it sees its parameters only, so that a ``title`` or ``form`` of the page never
    slips into a component.
    """
    return render_to_string(f"ui/{component}.html", {"request": context.get("request"), **parameters})


# ---- Components with a body -------------------------------------------------------------------


@register.simple_block_tag(end_name="endnotice")
def notice(content: str, level: str = "info", title: StrOrPromise = "") -> str:
    """``{% notice "warning" title=t %}<p>…</p>{% endnotice %}``; levels as in ``ui/notice.html``."""
    return render_to_string("ui/notice.html", {"level": level, "title": title, "body": content})


@register.simple_block_tag(end_name="endcrumbs")
def crumbs(content: str) -> str:
    """``{% crumbs %}<li><a …>…</a></li>{% endcrumbs %}``: the way to this page."""
    return render_to_string("ui/crumbs.html", {"body": content})


@register.simple_block_tag(end_name="enddatatable")
def datatable(
    content: str,
    caption: StrOrPromise = "",
    csv: str = "",
    json: str = "",
    note: StrOrPromise = "",
) -> str:
    """``{% datatable caption=c csv=url %}<thead>…<tbody>…{% enddatatable %}``; see ``ui/table.html``."""
    return render_to_string(
        "ui/table.html", {"body": content, "caption": caption, "csv": csv, "json": json, "note": note}
    )
