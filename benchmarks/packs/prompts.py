"""The Answer and Judge prompts that packs of ours carry unless they bring their own."""

from __future__ import annotations

from importlib.resources import files

NAMES = ("answer", "judge")


def default_prompts() -> dict[str, str]:
    """Prompt texts by their file name in a pack."""
    folder = files("evaluations.engine") / "prompts"
    return {f"prompts/{name}.txt": (folder / f"{name}.txt").read_text(encoding="utf-8") for name in NAMES}
