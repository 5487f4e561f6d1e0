#!/bin/sh
# Compiles requirements/*.txt from pyproject.toml. Extra arguments go to `uv pip compile`, such as --upgrade.
set -eu

compile() {
    target=$1
    shift
    "${PY:-.venv/bin/python}" -m uv pip compile pyproject.toml --quiet --universal --python-version 3.11 \
        --generate-hashes --no-annotate --no-header --no-emit-index-url --output-file "$target" "$@"
}

compile requirements/test.txt --group test "$@"
# The test file holds everything the running one does; as a constraint it keeps both at the same versions.
plain=$(mktemp)
trap 'rm -f "$plain"' EXIT
sed -n 's/^\([^ #-][^\\]*\) \\$/\1/p' requirements/test.txt >"$plain"
compile requirements/run.txt --constraint "$plain" "$@"
