"""The manifest and README of an imported LoCoMo pack."""

from __future__ import annotations

from collections.abc import Mapping

from aml.lib.tracks import Track
from benchmarks.packs.capabilities import capability
from benchmarks.types import Counts, Dataset, Manifest, ModelUse, Visibility

ATTRIBUTION = (
    "Maharana, Lee, Tulyakov, Bansal, Barbieri, Fang: Evaluating Very Long-Term Conversational Memory "
    "of LLM Agents, ACL 2024, arXiv 2402.17753"
)
SOURCE = "https://github.com/snap-research/locomo, data/locomo10.json"
ABSTENTION, ABSTENTION_WEIGHT = "H", 0.05
LEAVES = {"A": ("single-hop",), "B": ("multi-hop", "open-domain"), "C": ("temporal",), "H": ("adversarial",)}


def locomo_manifest(*, counts: Mapping[str, int], scorer: str) -> Manifest:
    """``counts`` holds the questions of each capability; see ``weights`` for what they are worth."""
    worth = weights(counts)
    return Manifest(
        id="locomo10" if scorer == "token_f1" else "locomo10-judged",
        version="1.0.0",
        title="LoCoMo, 10 conversations" + ("" if scorer == "token_f1" else ", graded by a judge"),
        track=Track.TEXTUAL,
        visibility=Visibility.PRIVATE,
        licence="CC-BY-NC-4.0",
        attribution=ATTRIBUTION,
        source=SOURCE,
        language="en",
        capabilities=tuple(
            capability(name, weight=weight, leaves=LEAVES[name]) for name, weight in worth.items()
        ),
        datasets=(Dataset(id="locomo10", title="LoCoMo", licence="CC-BY-NC-4.0"),),
        answer=ModelUse(prompt="prompts/answer.txt", role="answer", max_output_tokens=512),
        judge=ModelUse(prompt="prompts/judge.txt", role="judge", max_output_tokens=512),
        counts=Counts(samples=0, adds=0, asks=0, questions=0),
        files={},
    )


def weights(counts: Mapping[str, int]) -> dict[str, float]:
    """Capability weights that sum to 1: ``ABSTENTION_WEIGHT`` for H, the rest by share of questions.

    H holds nothing but questions to decline. By its share (22 %) an empty memory, which makes every
    answer a refusal, would stand above a plain full-text search.
    """
    if set(counts) == {ABSTENTION}:
        return {ABSTENTION: 1.0}
    held_back = ABSTENTION_WEIGHT if ABSTENTION in counts else 0.0
    answerable = sum(count for name, count in counts.items() if name != ABSTENTION)
    return {
        name: held_back if name == ABSTENTION else (1 - held_back) * count / answerable
        for name, count in counts.items()
    }


def locomo_readme(*, categories: Mapping[str, int], scorer: str) -> str:
    rows = "\n".join(f"| {name} | {count} |" for name, count in categories.items())
    return README.format(rows=rows, scorer=scorer, attribution=ATTRIBUTION, source=SOURCE)


README = """# LoCoMo

Imported from `locomo10.json` ({source}).

{attribution}

Licence: CC BY-NC 4.0. Not for commercial use, and not to be passed on with software under another licence.

## How it was mapped

- The first speaker is `user`, the second `assistant`; each message starts with the speaker's name.
- A picture is kept as its caption, in square brackets. The picture itself is not sent.
- Every message has its session's date and time, read as UTC. The source gives none for single messages.
- Evidence `D3:7` became `s3:7`, the seventh message of session 3.

| category | questions |
|---|---|
{rows}

Capabilities: A Explicit facts = single-hop. B Relations and multi-hop = multi-hop and open-domain (two
leaves). C Time and events = temporal. H Safety and privacy = adversarial, graded as abstention: the answer
must decline.
Weights: H has 0.05; A, B and C share the other 0.95 by their numbers of questions. H holds nothing but
questions to decline, so that by its share of 22 % a system that remembers nothing would stand above one that
remembers something. The evidence that the source gives for adversarial questions is left out: it is what the
question was twisted from and answers nothing.
The answerable categories are graded by `{scorer}`.
"""
