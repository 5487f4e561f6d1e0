"""The default prompts. Packs carry their own copies; the contract hashes what is rendered from them."""

from pathlib import Path

_FOLDER = Path(__file__).parent

ANSWER_TEMPLATE = (_FOLDER / "answer.txt").read_text(encoding="utf-8")
JUDGE_TEMPLATE = (_FOLDER / "judge.txt").read_text(encoding="utf-8")
