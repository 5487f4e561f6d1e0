#!/bin/sh
# Every static check, all of them even when one fails; exit 1 if any did.
set -u

bin="${VENV:-.venv}/bin"
failed=""

check() {
    title=$1
    shift
    echo "== $title"
    "$@" || failed="$failed, $title"
}

templates() {
    find templates -name '*.html' -exec "$bin/djade" --target-version 5.2 --check {} +
}

check "ruff" "$bin/python" -m ruff check .
check "format" "$bin/python" -m ruff format --check .
check "house rules" "$bin/python" scripts/house_rules.py
check "types" "$bin/python" -m mypy
check "imports" "$bin/python" -c 'from importlinter.cli import lint_imports_command as run; run()'
check "templates" templates
check "migrations" "$bin/python" manage.py makemigrations --check --dry-run
check "production settings" "$bin/python" scripts/production_env.py \
    "$bin/python" manage.py check --deploy --fail-level WARNING

if [ -n "$failed" ]; then
    echo "Failed: ${failed#, }" >&2
    exit 1
fi
echo "All checks passed."
