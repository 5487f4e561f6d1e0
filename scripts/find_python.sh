#!/bin/sh
# Prints the Python to build .venv with: the first that is 3.11 or newer and can make virtual environments.
set -u

old=""
bare=""
for name in ${PYTHON:-python3.13 python3.12 python3.11 python3 python}; do
    path=$(command -v "$name" 2>/dev/null) || continue
    if ! "$path" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        old="$old $path"
    elif ! "$path" -c 'import ensurepip, venv' 2>/dev/null; then
        bare="$bare $path" # Debian keeps ensurepip in a package of its own
    else
        echo "$path"
        exit 0
    fi
done

if [ -n "$bare" ]; then
    echo "Found$bare, but it can't make virtual environments. Install python3-venv (Debian, Ubuntu)." >&2
elif [ -n "$old" ]; then
    echo "Found only$old, older than 3.11. Install Python 3.11 or newer, or name one with PYTHON=." >&2
else
    echo "Found no Python. Install Python 3.11 or newer, or name one with PYTHON=." >&2
fi
exit 1
