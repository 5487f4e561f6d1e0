"""The engine's command line. Each command's module is loaded only when that command is called."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple


class Command(NamedTuple):
    module: str
    configure: str
    summary: str


COMMANDS = {
    "check": Command("evaluations.engine.check_cli", "configure", "conformance report of a service"),
    "run": Command("evaluations.engine.run_cli", "configure_run", "evaluate a service with a pack"),
    "verify": Command("evaluations.engine.run_cli", "configure_verify", "recompute a result bundle"),
    "compare": Command("evaluations.engine.run_cli", "configure_compare", "paired difference of two bundles"),
}


def build_parser(wanted: str | None) -> argparse.ArgumentParser:
    """The parser with every command's name, and the arguments of the one ``wanted``."""
    parser = argparse.ArgumentParser(prog="python -m evaluations.engine", description=__doc__)
    # The placeholder's type: argparse's own is private.
    commands: Any = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        subparser = commands.add_parser(name, help=command.summary, description=command.summary)
        if name == wanted:
            getattr(importlib.import_module(command.module), command.configure)(subparser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    arguments = sys.argv[1:] if argv is None else list(argv)
    args = build_parser(arguments[0] if arguments else None).parse_args(arguments)
    code: int = args.func(args)
    return code


if __name__ == "__main__":
    sys.exit(main())
