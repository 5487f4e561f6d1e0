"""Print ``.env.example`` from the declarations in ``aml/settings.py``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def main() -> None:
    # The settings must load whatever the caller has set.
    os.environ.clear()
    from aml import settings
    from aml.lib.env import render_example

    sys.stdout.write(render_example(settings.env.variables))


if __name__ == "__main__":
    main()
