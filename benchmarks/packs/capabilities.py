"""The capabilities of packs.md: id, titles and the question behind each, for every pack to share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.types import Capability, Title

_TITLES: Mapping[str, tuple[Title, Title]] = {
    "A": (
        Title(en="Explicit facts", zh="事实回忆"),
        Title(en="Does it bring back what was stated?", zh="能否找回明确说过的内容？"),
    ),
    "B": (
        Title(en="Relations and multi-hop", zh="关系与多跳"),
        Title(en="Does it bring all the pieces that must be joined?", zh="能否找齐需要拼接的各个线索？"),
    ),
    "C": (
        Title(en="Time and events", zh="时间与事件"),
        Title(en="Order, durations, what was true when?", zh="顺序、时长、何时为真？"),
    ),
    "D": (
        Title(en="Governance", zh="记忆治理"),
        Title(en="Updates, contradictions, what was to be forgotten?", zh="更新、矛盾，以及该遗忘的内容？"),
    ),
    "E": (
        Title(en="Personalisation", zh="个性化"),
        Title(en="Preferences, identity, what fits this person?", zh="偏好、身份，什么适合这个人？"),
    ),
    "G": (
        Title(en="Rules and procedures", zh="规则与流程"),
        Title(en="Agreed constraints and steps, followed later?", zh="约定的限制与步骤，之后是否遵守？"),
    ),
    "H": (
        Title(en="Safety and privacy", zh="安全与隐私"),
        Title(en="Evidence boundaries, uncertainty, sensitive data?", zh="证据边界、不确定性与敏感信息？"),
    ),
    "S": (
        Title(en="Streaming", zh="持续记忆"),
        Title(en="Questions between Adds: right at each moment?", zh="在写入之间提问：每一刻都答对吗？"),
    ),
}
TEXTUAL_CAPABILITIES: tuple[str, ...] = tuple(_TITLES)


def capability(name: str, *, weight: float, leaves: Sequence[str] = ()) -> Capability:
    """The capability with this letter; ``KeyError`` for a letter that packs.md doesn't have."""
    title, rubric = _TITLES[name]
    return Capability(id=name, title=title, rubric=rubric, weight=weight, leaves=tuple(leaves))
