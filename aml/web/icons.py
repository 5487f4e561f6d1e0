"""The site's few icons: 16 × 16 line drawings, so that a state is never told by colour alone."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString

_DRAWINGS = {
    "check": "M3 8.5l3.5 3.5L13 4.5",
    "cross": "M4 4l8 8M12 4l-8 8",
    "warning": "M8 2L1.5 13.5h13zM8 6.5v3.5M8 12v.01",
    "info": "M8 1.75a6.25 6.25 0 1 0 0 12.5a6.25 6.25 0 1 0 0-12.5M8 7.25v4M8 5v.01",
    "clock": "M8 1.75a6.25 6.25 0 1 0 0 12.5a6.25 6.25 0 1 0 0-12.5M8 4.5V8l2.5 1.75",
    "run": "M13.5 8A5.5 5.5 0 1 1 11 3.4M11 1v2.8h2.8",
    "pause": "M5.5 3.5v9M10.5 3.5v9",
    "half": "M8 1.75a6.25 6.25 0 1 0 0 12.5a6.25 6.25 0 1 0 0-12.5M8 1.75v12.5",
    "stop": "M3.5 3.5h9v9h-9z",
    "lock": "M3.5 7.5h9v6.5h-9zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5",
    "eye": "M1.5 8S4 3.5 8 3.5S14.5 8 14.5 8S12 12.5 8 12.5S1.5 8 1.5 8M8 6.5a1.5 1.5 0 1 0 0 3a1.5 1.5 0 1 0 0-3",
    "person": "M8 2.25a2.75 2.75 0 1 0 0 5.5a2.75 2.75 0 1 0 0-5.5M2.75 14c.5-3 2.5-4.25 5.25-4.25S12.75 11 13.25 14",
    "circle": "M8 3a5 5 0 1 0 0 10a5 5 0 1 0 0-10",
    "dash": "M3.5 8h9",
    "back": "M6 3L2.5 6.5L6 10M2.5 6.5H10a3.5 3.5 0 0 1 0 7H7",
    "flag": "M3.5 14.5V2M3.5 2.5h9L10 5.5l2.5 3h-9",
    "code": "M5.5 4L1.5 8l4 4M10.5 4l4 4l-4 4",
    "box": "M2 5l6-3l6 3v6l-6 3l-6-3zM2 5l6 3l6-3M8 8v6",
    "key": "M5 8.25a2.75 2.75 0 1 0 0 5.5a2.75 2.75 0 1 0 0-5.5M7 9l6.5-6.5M11 5l2 2",
    "download": "M8 2v8M4.5 7L8 10.5L11.5 7M2.5 13.5h11",
    "theme": "M8 1.75a6.25 6.25 0 1 0 0 12.5a6.25 6.25 0 1 0 0-12.5M8 1.75v12.5M8 5l5.5-1M8 8h6.2M8 11l5.5 1",
}  # fmt: skip


def icon(name: str) -> SafeString:
    """One icon as inline SVG, hidden from screen readers: the word beside it says the same.

    Raises ``KeyError`` for a name that does not exist, so that a typing error shows in a test.
    """
    return format_html(
        '<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">'
        '<path d="{}"/></svg>',
        _DRAWINGS[name],
    )
