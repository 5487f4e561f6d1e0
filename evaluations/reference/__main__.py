"""``python -m evaluations.reference``: the reference memory service on its own."""

from __future__ import annotations

import argparse
import os

from evaluations.reference.app import serve
from evaluations.reference.faults import describe


def _parser() -> argparse.ArgumentParser:
    listing = "\n".join(f"  {name:16} {text}" for name, text in describe().items())
    parser = argparse.ArgumentParser(
        prog="python -m evaluations.reference",
        description="The reference memory service (full-text search).",
        epilog=f"faults:\n{listing}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", type=int, default=8100)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--path", help="the SQLite file; a temporary one without it")
    parser.add_argument("--key-env", metavar="NAME", help="environment variable with the key to ask for")
    parser.add_argument(
        "--fault", action="append", default=[], metavar="NAME", help="may be given several times"
    )
    return parser


def main() -> None:
    args = _parser().parse_args()
    key = os.environ[args.key_env] if args.key_env else None
    serve(args.port, host=args.host, path=args.path, key=key, faults=args.fault)


if __name__ == "__main__":
    main()
