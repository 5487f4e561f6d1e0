"""What every page knows about the site."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, Any]:
    return {
        "site_embedded": not settings.PRODUCTION,
        "site_allows_private_endpoints": settings.ALLOW_PRIVATE_ENDPOINTS,
        "site_code_revision": settings.CODE_REVISION,
    }
