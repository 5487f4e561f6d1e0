"""The formats, states and components behind ``{% load ui %}``."""

from __future__ import annotations

import html as markup
import math
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from django import forms
from django.conf import settings
from django.template import Context, Template
from django.test import RequestFactory
from django.utils.html import strip_tags

from aml.web import formats, icons, states


def render(source: str, **context: object) -> str:
    return Template("{% load ui %}" + source).render(Context(context))


def words(html: str) -> str:
    """What a reader sees, without tags and line breaks."""
    return " ".join(markup.unescape(strip_tags(html)).split())


@pytest.mark.parametrize(
    ("value", "text"), [(0.45063, "45.1"), (0.0, "0.0"), (1.0, "100.0"), (None, "–"), (math.nan, "–")]
)
def test_a_score_is_shown_in_points_with_one_decimal(value: float | None, text: str) -> None:
    assert formats.score(value) == text


def test_a_missing_score_is_never_shown_as_zero() -> None:
    assert render("{{ value|score }}", value=None) == "–"


def test_decimals_can_be_chosen_for_a_column() -> None:
    assert render("{{ value|score:2 }} {{ value|score:0 }}", value=0.5) == "50.00 50"


def test_an_interval_needs_both_ends() -> None:
    assert formats.interval(0.419, 0.482) == "41.9–48.2"
    assert formats.interval(0.419, None) == "–"


def test_a_rank_range_of_one_rank_is_one_number() -> None:
    assert formats.rank_range(3, 6) == "3–6"
    assert formats.rank_range(1, 1) == "1"
    assert formats.rank_range(None, 2) == "–"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.4, "0 s"),
        (59.6, "1 min"),
        (250, "4 min 10 s"),
        (3600, "1 h"),
        (3605, "1 h"),
        (187_200, "2 d 4 h"),
        (timedelta(days=30), "30 d"),
        (-5, "0 s"),
        (None, "–"),
    ],
)
def test_a_duration_shows_its_two_largest_units(seconds: float | timedelta | None, text: str) -> None:
    assert formats.duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(44.4, "44 ms"), (1234, "1.23 s"), (75_000, "1 min 15 s"), (None, "–"), (math.nan, "–")],
)
def test_a_latency_changes_unit_at_a_second_and_a_minute(value: float | None, text: str) -> None:
    assert formats.milliseconds(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.42, "0.42"), (7.52, "7.5"), (1184.2, "1,184"), (None, "–")])
def test_a_rate_keeps_two_figures_below_ten(value: float | None, text: str) -> None:
    assert formats.rate(value) == text


def test_counts_are_grouped_by_thousands() -> None:
    assert render("{{ n|count }}", n=1986) == "1,986"


def test_an_unknown_total_is_left_out() -> None:
    assert formats.done_of_total(12, None) == "12"
    assert formats.done_of_total(1204, 5000) == "1,204 of 5,000"


def test_a_time_is_shown_in_utc_whatever_its_zone() -> None:
    when = datetime(2026, 12, 2, 22, 5, tzinfo=timezone(timedelta(hours=8)))
    assert formats.utc(when) == "2 Dec 2026, 14:05 UTC"
    assert formats.utc_date(when) == "2 Dec 2026"


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="without a zone"):
        formats.utc(datetime(2026, 12, 2, 14, 5))  # noqa: DTZ001 - what is refused


def test_a_time_element_carries_the_moment_for_the_script() -> None:
    html = render("{% utc_time when %}", when=datetime(2026, 12, 2, 14, 5, tzinfo=UTC))
    assert html == '<time datetime="2026-12-02T14:05:00+00:00" data-local>2 Dec 2026, 14:05 UTC</time>'


def test_no_time_is_a_dash() -> None:
    assert render("{% utc_time when %}", when=None) == "–"


def test_a_place_on_the_scale_stays_within_the_picture() -> None:
    assert formats.position(0.45, low=0.4, high=0.6) == "25.00%"
    assert formats.position(0.1, low=0.4, high=0.6) == "0.00%"
    assert formats.position(0.9, low=0.4, high=0.6) == "100.00%"
    assert formats.position(0.5, low=0.5, high=0.5) == "50.00%"


def test_the_common_scale_opens_to_whole_steps() -> None:
    assert formats.scale_for([0.419, 0.63, None]) == (0.4, 0.65)
    assert formats.scale_for([0.3, 0.3]) == (0.3, 0.35)
    assert formats.scale_for([1.0]) == (0.95, 1.0)
    assert formats.scale_for([None, math.nan]) == (0.0, 1.0)


def test_heat_runs_from_the_lowest_to_the_highest_of_the_column() -> None:
    column = [0.2, 0.4, 0.6, None]
    assert [formats.heat_bucket(value, column) for value in (0.2, 0.4, 0.6, None)] == [0, 2, 4, 0]
    assert formats.heat_bucket(0.01, column) == 0
    assert formats.heat_bucket(0.5, [0.5, 0.5]) == 0


@pytest.mark.parametrize("state", states.STATES)
def test_every_state_has_an_icon_a_tone_and_a_word(state: str) -> None:
    info = states.state_info(state)
    assert icons.icon(info.icon)
    assert info.tone in {"good", "busy", "warning", "danger", "quiet"}
    assert str(info.label) in render("{% badge state %}", state=state)


def test_an_unknown_state_is_shown_as_it_is() -> None:
    assert states.state_info("on_holiday").label == "On holiday"


def test_a_badge_tells_its_state_by_icon_and_word() -> None:
    html = render('{% badge "failed" title="the endpoint was down" %}')
    assert "<svg" in html
    assert words(html) == "Failed: the endpoint was down"


def test_a_misspelt_icon_is_an_error() -> None:
    with pytest.raises(KeyError):
        icons.icon("chekc")


@pytest.mark.parametrize(
    ("fault", "word"), [("participant", "Your service"), ("provider", "Model provider"), (None, "–")]
)
def test_a_fault_is_told_in_a_word(fault: str | None, word: str) -> None:
    assert render("{{ fault|fault_word }}", fault=fault) == word


def test_an_interval_bar_draws_by_attributes_and_says_its_numbers() -> None:
    html = render(
        "{% interval_bar value=0.5 low=0.45 high=0.55 scale_min=0.4 scale_max=0.6 baselines=lines %}",
        lines=[("Full-text search", 0.42)],
    )
    assert "style=" not in html
    assert 'cx="50.00%"' in html
    assert 'x1="10.00%"' in html
    assert 'aria-label="50.0, 95 % interval 45.0–55.0; Full-text search 42.0"' in html


def test_an_interval_bar_without_a_score_draws_no_point() -> None:
    html = render("{% interval_bar value=None low=None high=None %}")
    assert "<circle" not in html
    assert "None" not in html


def test_a_component_sees_its_parameters_only() -> None:
    html = render('{% ui "button" label="Save" %}', form="leaks", href="/leaks/", disabled_reason="leaks")
    assert "leaks" not in html
    assert "<button" in html


def test_a_disabled_action_says_why_and_when_it_opens() -> None:
    when = datetime(2026, 12, 2, 14, 5, tzinfo=UTC)
    html = render(
        '{% ui "button" label="Start" disabled_reason="Cooldown." opens_at=when id="go" %}', when=when
    )
    assert 'aria-disabled="true"' in html
    assert 'aria-describedby="go-reason"' in html
    assert "submit" not in html
    assert "Cooldown. Opens 2 Dec 2026, 14:05 UTC." in words(html)


def test_hostile_text_is_escaped_in_components() -> None:
    html = render(
        '{% notice "danger" title=t %}{{ t }}{% endnotice %}{% ui "copyable" id="x" text=t %}', t="<script>"
    )
    assert "<script>" not in html


class Sample(forms.Form):
    name = forms.CharField(help_text="As on the board.")
    notes = forms.CharField(required=False)
    agreed = forms.BooleanField()


def test_a_field_ties_help_and_error_to_the_input() -> None:
    html = render('{% ui "fields" form=form %}', form=Sample({}))
    assert 'aria-describedby="id_name_helptext id_name_error"' in html
    assert 'id="id_name_helptext"' in html
    assert 'id="id_name_error"' in html
    assert 'aria-invalid="true"' in html


def test_an_optional_field_says_so() -> None:
    html = render('{% ui "field" field=form.notes %}', form=Sample())
    assert "(optional)" in html


def test_the_error_summary_links_to_each_field() -> None:
    form = Sample({"notes": "kept"})
    html = render('{% ui "error_summary" form=form %}', form=form)
    assert 'href="#id_name"' in html
    assert 'href="#id_agreed"' in html
    assert render('{% ui "error_summary" form=form %}', form=Sample()).strip() == ""


def test_a_refused_form_keeps_what_was_typed() -> None:
    assert 'value="kept"' in render('{% ui "fields" form=form %}', form=Sample({"notes": "kept"}))


def test_progress_with_an_unknown_total_shows_a_count_and_no_bar() -> None:
    html = render('{% ui "progress" label="Judging" done=3 %}')
    assert "<progress" not in html
    assert words(html) == "Judging 3"


def test_progress_tells_rate_and_time_left_with_its_spread() -> None:
    html = render(
        '{% ui "progress" label="Search" done=1204 total=all rate=7.5 eta=505 eta_low=low eta_high=high %}',
        all=5000,
        low=420,
        high=660,
    )
    assert "1,204 of 5,000" in words(html)
    assert "7.5 per second · about 8 min 25 s left (7 min – 11 min)" in words(html)


def test_the_navigation_marks_where_we_are() -> None:
    request = RequestFactory().get("/rules/")
    assert render('{% nav_current "/rules/" %}', request=request) == 'aria-current="page"'
    assert render('{% nav_current "/blog/" %}', request=request) == ""
    assert render('{% nav_current "" %}', request=request) == ""


def test_no_template_holds_an_inline_style_or_script() -> None:
    for path in Path(settings.BASE_DIR, "templates").rglob("*.html"):
        text = path.read_text()
        assert " style=" not in text, path
        assert "<style" not in text, path
        assert "<script>" not in text, path
        assert " onclick=" not in text, path
