#!/bin/sh
# Usage: scripts/setup.sh VENV REQUIREMENTS
# Makes the virtual environment VENV where there is none that works, and installs exactly REQUIREMENTS.
# Plain pip: it goes where the machine's own pip configuration (a mirror, a proxy) sends it.
set -eu

venv=$1
requirements=$2

if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    python=$(sh scripts/find_python.sh)
    echo "Making $venv with $python"
    "$python" -m venv --clear "$venv"
fi
echo "Installing $requirements"
PIP_DISABLE_PIP_VERSION_CHECK=1 "$venv/bin/python" -m pip install \
    --quiet --no-input --require-hashes --requirement "$requirements"
