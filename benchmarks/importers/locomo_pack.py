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
LEAVES = {"A": ("single-hop",), "B": ("multi-hop", "open-domain"), "C": ("temporal",), "H": ("adversarial",)}


def locomo_manifest(*, counts: Mapping[str, int], scorer: str) -> Manifest:
    """``counts`` holds the questions of each capability: weights are shares, so Overall is a plain mean."""
    total = sum(counts.values())
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
            capability(name, weight=count / total, leaves=LEAVES[name]) for name, count in counts.items()
        ),
        datasets=(Dataset(id="locomo10", title="LoCoMo", licence="CC-BY-NC-4.0"),),
        answer=ModelUse(prompt="prompts/answer.txt", role="answer", max_output_tokens=512),
        judge=ModelUse(prompt="prompts/judge.txt", role="judge", max_output_tokens=512),
        counts=Counts(samples=0, adds=0, asks=0, questions=0),
        files={},
    )


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
Weights are each capability's share of the questions, so Overall is the plain mean over all questions.
The answerable categories are graded by `{scorer}`.
"""
