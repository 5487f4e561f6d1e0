"""From the ledger's records to scores and to the lines of a bundle. Reads only; made anew each time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmarks.types import Question
from evaluations.engine.bundle.content import BundleItem
from evaluations.engine.ledger import AskState, Ledger
from evaluations.engine.naming import sample_salt
from evaluations.engine.records import FAILED, read_verdict
from evaluations.engine.scoring import score_answer
from evaluations.engine.spool import AskRef, LaneInfo, SampleSpool
from evaluations.engine.steps import gold_of, scored, unscored, zero_by_failure
from evaluations.engine.types import AskScore

OPEN = "OPEN"  # not asked, not answered or not judged yet


def ask_scores(
    ledger: Ledger, *, spool: SampleSpool, questions: Mapping[str, Question]
) -> Iterator[tuple[AskScore, AskState]]:
    """Every planned ask once, in the pack's order."""
    for lane in spool.lanes.values():
        for ref in lane.asks:
            state = ledger.asks.get(ref.ask, AskState())
            yield _score(ledger, spool=spool, lane=lane, ref=ref, question=questions[ref.question]), state


def bundle_items(
    ledger: Ledger, *, spool: SampleSpool, questions: Mapping[str, Question], salts: bytes
) -> Iterator[BundleItem]:
    """``salts`` is the secret under which samples are salted."""
    for score, state in ask_scores(ledger, spool=spool, questions=questions):
        yield BundleItem.of(
            score,
            salt=sample_salt(salts, score.sample),
            search=state.search,
            answer=state.answer,
            judge=state.judge,
        )


def _score(
    ledger: Ledger, *, spool: SampleSpool, lane: LaneInfo, ref: AskRef, question: Question
) -> AskScore:
    state = ledger.asks.get(ref.ask)
    if state is None or state.search is None:
        closed = ledger.closed_by(lane.sample)
        if closed is not None:
            return zero_by_failure(ref.ask, question=question, code=closed)
        return unscored(ref.ask, question=question, reason=OPEN)
    if state.failed_by_search is not None:
        return zero_by_failure(ref.ask, question=question, code=state.failed_by_search)
    reason = _no_value(state)
    if reason is not None:
        return unscored(ref.ask, question=question, reason=reason)
    return _scored(spool, lane=lane, ref=ref, question=question, state=state)


def _no_value(state: AskState) -> str | None:
    """Why there is nothing to score yet, or never will be; None where there is."""
    for record in (state.answer, state.judge):
        if record is not None and record["state"] == FAILED:
            return str(record["code"])
    if state.answer is None or (state.answer["needs_judge"] and state.judge is None):
        return OPEN
    return None


def _scored(
    spool: SampleSpool, *, lane: LaneInfo, ref: AskRef, question: Question, state: AskState
) -> AskScore:
    ask = spool.event(lane.sample, ref.event).ask
    if ask is None or state.answer is None:
        raise AssertionError("an ask without its event or its answer can't be scored")
    score = score_answer(
        question,
        gold=gold_of(ask, question),
        answer=state.answer["answer"],
        verdict=read_verdict(state.judge),
    )
    return scored(ref.ask, question=question, score=score)
