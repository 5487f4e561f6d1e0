"""A database of its own for a measurement: made before, dropped after, whatever happens between."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

import psycopg2


@contextlib.contextmanager
def own_database() -> Iterator[dict[str, str]]:
    """The environment of a child process: PostgreSQL where DATABASE_URL names one, else SQLite."""
    with tempfile.TemporaryDirectory(prefix="aml-bench-") as folder:
        env = {**os.environ, "AML_VAR_DIR": folder, "AML_MODE": "embedded", "REDIS_URL": ""}
        url = os.environ.get("DATABASE_URL", "")
        if not url.startswith("postgres"):
            env["DATABASE_URL"] = ""
            yield env
            return
        name = f"aml_bench_{os.getpid()}"
        _execute(url, f"CREATE DATABASE {name}")
        try:
            yield {**env, "DATABASE_URL": urlunsplit(urlsplit(url)._replace(path=f"/{name}"))}
        finally:
            _execute(url, f"DROP DATABASE {name} WITH (FORCE)")


def _execute(url: str, statement: str) -> None:
    connection = psycopg2.connect(url)
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute(statement)
    connection.close()


def run_child(module: str, *arguments: str) -> int:
    """Run ``python -m module`` on a database of its own; returns its exit status."""
    with own_database() as env:
        return subprocess.run([sys.executable, "-m", module, *arguments], env=env, check=False).returncode
