"""Every component of the design system with sample data, on one page. Not served in production."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.http import Http404
from django.shortcuts import render

from aml.web.formats import heat_bucket, scale_for
from aml.web.states import STATES

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

_NOW = datetime(2026, 12, 2, 14, 5, tzinfo=UTC)
_CAPABILITIES = (
    ("A", "Recall", "A fact said once is found again."),
    ("B", "Multi-hop", "Two facts from different sessions are joined."),
    ("C", "Time", "When something happened, and in which order."),
    ("D", "Update", "The newest of several statements counts."),
    ("E", "Abstain", "What was never said is not made up."),
    ("G", "Preference", "Answers follow what the user likes."),
)


@dataclass(frozen=True, slots=True)
class SampleRow:
    """A board row as ``leaderboard/_board.html`` documents it."""

    rank: int | None
    rank_low: int | None
    rank_high: int | None
    tie_group: int
    system: str
    version: str
    overall: float
    low: float
    high: float
    values: tuple[float | None, ...]
    badges: tuple[str, ...] = ()
    is_baseline: bool = False
    scored: int = 1_986
    n: int = 1_986
    url: str = "#board"
    search_p50: float = 184.0
    search_p95: float = 1_240.0
    tokens: int = 2_310
    error_rate: float = 0.0012

    @property
    def capabilities(self) -> list[tuple[str, str, float | None, int]]:
        columns = list(zip(*(row.values for row in _ROWS), strict=True))
        return [
            (name, title, value, heat_bucket(value, column))
            for (name, title, _), value, column in zip(_CAPABILITIES, self.values, columns, strict=True)
        ]


_ROWS = (
    SampleRow(1, 1, 1, 1, "Palimpsest", "2.4.1", 0.612, 0.594, 0.63, (0.71, 0.58, 0.62, 0.66, 0.49, 0.6)),
    SampleRow(2, 2, 4, 2, "Hippocampus-lite", "0.9.0", 0.551, 0.53, 0.571,
              (0.68, 0.5, 0.54, 0.6, 0.44, 0.52)),
    SampleRow(3, 2, 4, 2, "记忆宫殿", "v1.2", 0.548, 0.527, 0.57, (0.66, 0.52, 0.5, 0.61, 0.47, 0.51)),
    SampleRow(4, 2, 5, 2, "Graphmem with a rather long name", "2026-11-20 · 3f9c1d2", 0.536, 0.513, 0.558,
              (0.64, 0.55, 0.47, 0.55, 0.45, 0.5), ("incomplete", "self_run"), scored=1_954),
    SampleRow(5, 4, 5, 3, "Tape", "5", 0.509, 0.486, 0.532, (0.6, 0.46, 0.49, 0.51, 0.5, None)),
)  # fmt: skip
_BASELINES = (
    SampleRow(None, None, None, 0, "Full context", "", 0.634, 0.615, 0.652,
              (0.74, 0.6, 0.66, 0.63, 0.52, 0.65), ("baseline",), is_baseline=True, url="", tokens=26_410),
    SampleRow(None, None, None, 0, "Full-text search", "reference 1", 0.487, 0.465, 0.509,
              (0.63, 0.4, 0.45, 0.44, 0.48, 0.44), ("baseline",), is_baseline=True, url=""),
    SampleRow(None, None, None, 0, "No memory", "", 0.121, 0.108, 0.135, (0.04, 0.03, 0.05, 0.02, 0.62, 0.1),
              ("baseline",), is_baseline=True, url="", tokens=0),
)  # fmt: skip


def sample_board() -> dict[str, Any]:
    scale = scale_for([edge for row in (*_ROWS, *_BASELINES) for edge in (row.low, row.high)])
    return {
        "caption": "Textual, Open-source Methods: accuracy on the demo pack, in points from 0 to 100",
        "rows": _ROWS,
        "baseline_rows": _BASELINES,
        "baselines": [(row.system, row.overall) for row in _BASELINES],
        "capabilities": _CAPABILITIES,
        "scale_min": scale[0],
        "scale_max": scale[1],
        "contract_hash": "9d3f0c7a41b2e6d5" * 4,
        "updated_at": _NOW,
        "questions": 1_986,
        "formula": "Overall = weighted mean of the capabilities, weights as in the pack's manifest.",
        "tie_rule": "Rank = 1 + the number of rows with a higher score. The range holds every rank the "
        "paired differences allow; a bracket joins the rows that can't be told apart from the first of them.",
        "noise": "Answering 5 % of the questions again changed Overall by 0.4 points.",
        "csv": "#csv",
        "json": "#json",
    }


class SampleForm(forms.Form):
    system = forms.CharField(label="System", help_text="The name on the board.", max_length=60)
    add_url = forms.URLField(label="Add URL", help_text="Called exactly as written.", assume_scheme="https")
    auth = forms.ChoiceField(
        label="Authentication", choices=[("bearer", "Bearer"), ("x-api-key", "X-API-Key")]
    )
    tracks = forms.MultipleChoiceField(
        label="Tracks",
        choices=[("textual", "Textual"), ("coding", "Coding"), ("multimodal", "Multimodal")],
        widget=forms.CheckboxSelectMultiple,
    )
    division = forms.ChoiceField(
        label="Division",
        choices=[("open_source", "Open-source Methods"), ("commercial", "Commercial Products")],
        widget=forms.RadioSelect,
        help_text="Exactly one for the whole cycle.",
    )
    concurrency = forms.IntegerField(label="Concurrency of Search", min_value=1, max_value=256)
    notes = forms.CharField(label="Implementation notes", widget=forms.Textarea, required=False)


class SampleStatements(forms.Form):
    frozen = forms.BooleanField(
        label="The version is frozen: code, image, endpoints, authentication, capacity."
    )
    kept = forms.BooleanField(
        label="The service and its memories stay up until the run page says that I may stop."
    )
    deleted = forms.BooleanField(label="I will delete the evaluation data within 30 days after the end.")


def _sample_forms() -> dict[str, forms.Form]:
    sent = {
        "system": "Palimpsest",
        "add_url": "ftp://memory.example.org/add",
        "concurrency": "900",
        "auth": "bearer",
    }
    return {
        "empty_form": SampleForm(),
        "form": SampleForm(sent, prefix=None),
        "statements": SampleStatements({"kept": "on"}),
    }


def _sample_lists() -> dict[str, Any]:
    return {
        "steps": [
            {"title": "Register", "state": "done", "href": "#stepper"},
            {"title": "Enter a system", "state": "done", "href": "#stepper"},
            {"title": "Conformance check", "state": "current", "note": "2 gates failed"},
            {"title": "Smoke", "state": "blocked", "note": "needs a passing check"},
            {"title": "Full", "state": "upcoming"},
            {"title": "Review", "state": "upcoming"},
        ],
        "events": [
            {"at": _NOW, "title": "Paused", "state": "paused", "who": "platform",
             "text": "memory.example.org:443 refused the connection for 5 minutes. 1,204 of 5,000 are kept."},
            {"at": _NOW, "title": "First Add sent", "state": "running", "who": "platform"},
            {"at": _NOW, "title": "Accepted", "state": "approved", "who": "organiser"},
        ],
        "exchanges": [
            {"method": "POST", "url": "https://memory.example.org/v1/add", "status": 200,
             "request_headers": [("Authorization", "•••")],
             "request": [{"text": '{"user_id": "aml:u7c9a1"}'}], "response": [{"text": '{"success": true}'}]},
        ],
        "tabs": [
            {"title": "Textual", "href": "#tabs", "current": True, "count": 12},
            {"title": "Coding", "href": "#tabs", "count": 3},
            {"title": "Multimodal", "href": "#tabs", "count": 0},
        ],
        "switch": [
            {"title": "Open-source Methods", "href": "#tabs", "current": True},
            {"title": "Commercial Products", "href": "#tabs"},
        ],
        "details": [
            ("Status", "Open until 31 Dec 2026"),
            ("Add URL", "https://memory.example.org/v1/add", "mono"),
            ("Image digest", ""),
        ],
        "figures": [("Overall", "61.2"), ("Questions", "1,986"), ("Search p95", "1.24 s")],
        "effects": [
            ("Slot", "2 of 2: this is the last Full of the cycle"),
            ("Cooldown", "30 days in this track, from the moment the run ends"),
            ("Start", "within 48 hours"),
        ],
    }  # fmt: skip


def gallery(request: HttpRequest) -> HttpResponse:
    """The page ``/gallery/``; 404 in production unless debugging."""
    if settings.PRODUCTION and not settings.DEBUG:
        raise Http404
    context = {"board": sample_board(), "states": STATES, "now": _NOW, **_sample_forms(), **_sample_lists()}
    return render(request, "pages/gallery.html", context)
