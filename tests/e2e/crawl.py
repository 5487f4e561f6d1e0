"""Every page and file that somebody reaches by links of the site."""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections.abc import Iterable

import httpx2

LINK = re.compile(r"""(?:href|hx-get)="(/[^"#]*)""")
#: Signing out ends the crawl; a language of its own is crawled by itself; filters and sortings show the same.
SKIPPED = re.compile(r"^/(static|i18n|admin|accounts/logout|zh-hans)/|[?&](sort|after|code|operation)=")
MOST = 250


def crawl(site: str, *, start: Iterable[str], cookies: dict[str, str] | None = None) -> dict[str, str]:
    """Text by path; of an archive the text of its files."""
    waiting, found = list(start), dict[str, str]()
    with httpx2.Client(base_url=site, cookies=cookies, timeout=30, trust_env=False) as browser:
        while waiting:
            path = waiting.pop()
            if path in found or SKIPPED.search(path):
                continue
            assert len(found) < MOST, sorted(found)
            reply = browser.get(path)
            assert reply.status_code < 500, path
            found[path] = _text(reply)
            if "html" in reply.headers.get("Content-Type", ""):
                waiting += [html.unescape(link) for link in LINK.findall(reply.text)]
    return found


def _text(reply: httpx2.Response) -> str:
    if reply.headers.get("Content-Type") == "application/zip":
        return archive_text(reply.content)
    return f"{reply.headers}\n{html.unescape(reply.text)}"


def archive_text(data: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return "\n".join(archive.read(name).decode(errors="replace") for name in archive.namelist())
