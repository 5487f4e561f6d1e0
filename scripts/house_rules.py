"""Rules of the house that no linter knows. Prints ``file:line: rule`` and exits 1 when one is broken."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("aml", "benchmarks", "registration", "evaluations", "review", "leaderboard", "scripts", "tests")
MODULE_LINES = 400
FUNCTION_LINES = 50
# The only doors for a change of status (elsewhere it would leave no event row) and for a message to a worker.
STATUS_DOORS = frozenset({"records.py", "records", "outbox.py", "tests"})
TASK_DOORS = frozenset({"background.py"})


def main() -> int:
    broken = [f"{path.relative_to(ROOT)}:{line}: {rule}" for path in files() for line, rule in check(path)]
    for line in broken:
        print(line)
    return 1 if broken else 0


def files() -> Iterator[Path]:
    for room in ROOMS:
        yield from sorted(path for path in (ROOT / room).rglob("*.py") if "migrations" not in path.parts)


def check(path: Path) -> Iterator[tuple[int, str]]:
    """(line number, broken rule) pairs of one file."""
    text = path.read_text(encoding="utf-8")
    length = text.count("\n")
    if length > MODULE_LINES:
        yield 1, f"{length} lines; above {MODULE_LINES} a module becomes a package"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from check_function(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield from check_call(node, name=node.func.attr, path=path)


def check_function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[int, str]]:
    length = (node.end_lineno or node.lineno) - node.lineno + 1
    if length > FUNCTION_LINES:
        yield node.lineno, f"{node.name} has {length} lines; above {FUNCTION_LINES} it needs named helpers"


def check_call(node: ast.Call, *, name: str, path: Path) -> Iterator[tuple[int, str]]:
    keywords = {keyword.arg for keyword in node.keywords}
    if name == "update" and "status" in keywords and not STATUS_DOORS & {*path.parts}:
        yield node.lineno, "a status moves in the app's records module only, with its event row"
    if name in {"delay", "apply_async"} and not TASK_DOORS & {*path.parts}:
        yield node.lineno, f".{name}() may run before the commit; use aml.web.background.wake"


if __name__ == "__main__":
    sys.exit(main())
