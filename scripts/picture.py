"""Run the demo, photograph its board, stop the demo: ``python scripts/picture.py docs/board.png``."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import ViewportSize, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
# The demo prints the pages to open when the row is published.
BOARD = re.compile(r"http://\S+/leaderboard/[\w-]+/[\w-]+/")
SIZE: ViewportSize = {"width": 1640, "height": 1000}  # wide enough for every column
MARGIN = 24  # below the table, in CSS pixels


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as data:
        demo = start_demo(data)
        try:
            photograph(board_address(demo), Path(sys.argv[1]))
        finally:
            demo.send_signal(signal.SIGINT)
            demo.wait(timeout=60)
    return 0


def start_demo(data: str) -> subprocess.Popen[str]:
    """The demo on a free port, with its own data, so that the picture shows nothing else."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = f"{probe.getsockname()[1]}"
    # Without what could connect it to other servers or models: the picture is the same for everyone.
    environment = {"PATH": "/usr/bin:/bin", "AML_VAR_DIR": data, "PYTHONUNBUFFERED": "1", "COLUMNS": "200"}
    return subprocess.Popen(
        [sys.executable, "manage.py", "demo", "--port", port],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def board_address(demo: subprocess.Popen[str]) -> str:
    for line in demo.stdout or ():
        sys.stdout.write(line)
        if found := BOARD.search(line):
            return found.group()
    raise SystemExit("The demo ended before it printed a board's address.")


def photograph(address: str, target: Path) -> None:
    browser_path = (
        shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, device_scale_factor=1.25, color_scheme="light")
        page.goto(address, wait_until="networkidle")
        table = page.locator("table.board").bounding_box()
        if table is None:
            raise SystemExit(f"There is no board at {address}.")
        target.parent.mkdir(parents=True, exist_ok=True)
        height = table["y"] + table["height"] + MARGIN
        page.screenshot(
            path=target, clip={"x": 0, "y": 0, "width": SIZE["width"], "height": height}, full_page=True
        )
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
