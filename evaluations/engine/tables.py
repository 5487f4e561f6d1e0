"""Results as tables for the terminal: never a figure without its interval."""

from __future__ import annotations

from rich.table import Table

from benchmarks.packs.files import Pack
from evaluations.engine.bundle import Comparison
from evaluations.engine.local_run import RunReport
from evaluations.engine.types import Interval


def score_table(report: RunReport, *, pack: Pack) -> Table:
    marks = "offline models, unofficial" if report.offline else "unofficial"
    outcome = "open" if report.outcome is None else report.outcome.value
    scores = report.scores
    table = Table(title=f"{pack.manifest.title}: {outcome} ({marks})", title_justify="left")
    for name in ("Capability", "Weight", "Asks", "Scored", "Score", "95 % interval"):
        table.add_column(name, justify="left" if name == "Capability" else "right")
    titles = {one.id: one.title.en for one in pack.manifest.capabilities}
    for one in scores.capabilities:
        name = f"{one.capability}  {titles[one.capability]}"
        table.add_row(name, f"{one.weight:.4f}", str(one.asks), str(one.scored), *_figures(one.score))
    table.add_section()
    answered = scores.scored + scores.zero_by_failure
    table.add_row("Overall", "", str(scores.asks), str(answered), *_figures(scores.overall), style="bold")
    table.caption = (
        f"{scores.zero_by_failure} of {scores.asks} are 0 by the service's failure, "
        f"{scores.unscored} unscored or open; {scores.clusters} samples"
    )
    return table


def comparison_table(compared: Comparison) -> Table:
    table = Table(title="First minus second, paired", title_justify="left")
    for name in ("Capability", "Difference", "95 % interval"):
        table.add_column(name, justify="left" if name == "Capability" else "right")
    for capability, interval in compared.capabilities.items():
        table.add_row(capability, *_figures(interval, sign="+"))
    table.add_section()
    table.add_row("Overall", *_figures(compared.difference, sign="+"), style="bold")
    return table


def _figures(interval: Interval | None, *, sign: str = "") -> tuple[str, str]:
    if interval is None:
        return "open", ""
    return (
        format(interval.mean, f"{sign}.4f"),
        f"{format(interval.low, f'{sign}.4f')} … {format(interval.high, f'{sign}.4f')}",
    )
