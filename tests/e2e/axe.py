"""What axe finds on a page."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

GRAVE = ("serious", "critical")


def violations(page: Page) -> list[str]:
    """Serious and critical ones: rule, help, and the elements."""
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{page.url} {one['id']} ({one['impact']}): {one['help']}: {[node['target'] for node in one['nodes']]}"
        for one in found
        if one["impact"] in GRAVE
    ]
