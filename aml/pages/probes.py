"""``/healthz`` and ``/readyz`` for whoever runs the processes, ``/robots.txt`` for search engines."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from redis import Redis, RedisError

BROKER_SECONDS = 2
QUIET = {"X-Robots-Tag": "noindex"}
ROBOTS = """User-agent: *
Disallow: /admin/
Disallow: /accounts/
Disallow: /evaluation/
Disallow: /review/
Disallow: /api/
Disallow: /healthz
Disallow: /readyz
"""


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process is up; it asks nobody else."""
    return HttpResponse("ok\n", content_type="text/plain", headers=QUIET)


@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Database, migrations and broker: 200, or 503 with what is missing."""
    checks: dict[str, Callable[[], str]] = {"database": _database, "migrations": _migrations}
    if settings.REDIS_URL:
        checks["broker"] = _broker
    found = {name: check() for name, check in checks.items()}
    ready = set(found.values()) == {"ok"}
    return JsonResponse({"ready": ready, **found}, status=200 if ready else 503, headers=QUIET)


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    return HttpResponse(ROBOTS, content_type="text/plain")


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "no answer"
    return "ok"


def _migrations() -> str:
    try:
        executor = MigrationExecutor(connection)
    except DatabaseError:
        return "unknown"
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return f"{len(missing)} not applied" if missing else "ok"


def _broker() -> str:
    client = Redis.from_url(
        settings.REDIS_URL, socket_timeout=BROKER_SECONDS, socket_connect_timeout=BROKER_SECONDS
    )
    try:
        client.ping()
    except RedisError:
        return "no answer"
    finally:
        client.close()
    return "ok"
