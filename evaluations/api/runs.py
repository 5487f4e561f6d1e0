"""Runs for scripts: start, watch, cancel, resume, fetch the bundle."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from evaluations import serializers
from evaluations.api.answers import (
    choice_from,
    number_from,
    once,
    person_of,
    registration_of,
    tagged,
    version_of,
)
from evaluations.engine.errors import Code
from evaluations.models import Run
from evaluations.models.ledger import SERVICE_KINDS
from evaluations.services import (
    Order,
    bundle_of,
    cancel_run,
    is_unofficial,
    progress,
    results,
    resume_run,
    start_run,
    statements,
)
from evaluations.services.traces import attempts_after, trace

RUNS, EVENTS, ATTEMPTS = 100, 500, 100
AFTER = OpenApiParameter("after", OpenApiTypes.INT, description="Only what has a larger number.")


@extend_schema(
    methods=["GET"],
    operation_id="list_runs",
    tags=["runs"],
    parameters=[OpenApiParameter("before", OpenApiTypes.STR, description="A run's id: only older ones.")],
    responses={200: serializers.RunList},
)
@extend_schema(
    methods=["POST"],
    operation_id="start_run",
    tags=["runs"],
    request=serializers.RunRequest,
    responses={201: serializers.RunDetail},
)
@api_view(["GET", "POST"])
def runs(request: Request) -> Response:
    """Your runs, newest first, at most 100 at a time; or start one (takes ``Idempotency-Key``)."""
    if request.method == "GET":
        return Response(serializers.RunList(_listed(request)).data)
    body = serializers.RunRequest(data=request.data)
    body.is_valid(raise_exception=True)
    values = body.validated_data

    def do() -> dict[str, Any]:
        version = version_of(request, values["version"])
        run = start_run(actor=person_of(request), version=version, order=_order(values))
        return _detail(_runs(request).get(pk=run.pk))

    return once(request, act="runs", body=values, do=do)


def _listed(request: Request) -> dict[str, Any]:
    found = _runs(request).order_by("-accepted_at", "-pk")
    if before := request.query_params.get("before", ""):
        last = get_object_or_404(_runs(request), public_id=before)
        older = Q(accepted_at__lt=last.accepted_at) | Q(accepted_at=last.accepted_at, pk__lt=last.pk)
        found = found.filter(older)
    page = list(found[: RUNS + 1])
    more = len(page) > RUNS
    return {"runs": page[:RUNS], "next": page[RUNS - 1].public_id if more else None}


def _order(values: dict[str, Any]) -> Order:
    concurrency = values.get("concurrency", {})
    accepted = values.get("statements", {"accepted": (), "version": statements.VERSION})
    return Order(
        track=values["track"],
        kind=values["kind"],
        label=values["label"],
        add=concurrency.get("add"),
        search=concurrency.get("search"),
        accepted=accepted["accepted"],
        statements_version=accepted["version"],
    )


@extend_schema(operation_id="get_run", tags=["runs"], responses={200: serializers.RunDetail})
@api_view(["GET"])
def run(request: Request, public_id: str) -> HttpResponse:
    """Status, outcome, whose fault, stages with done and total, ETA, errors by code, results."""
    return tagged(request, _detail(_run_or_404(request, public_id)))


@extend_schema(
    operation_id="run_events", tags=["runs"], parameters=[AFTER], responses={200: serializers.EventList}
)
@api_view(["GET"])
def events(request: Request, public_id: str) -> HttpResponse:
    """The timeline, at most 500 at a time. Numbers rise by one per run, without gaps that fill later."""
    after = number_from(request, "after")
    found = list(_run_or_404(request, public_id).events.filter(number__gt=after).order_by("number")[:EVENTS])
    last = found[-1].number if found else after
    return tagged(request, serializers.EventList({"events": found, "last": last}).data)


@extend_schema(
    operation_id="run_attempts",
    tags=["runs"],
    parameters=[
        AFTER,
        OpenApiParameter("code", OpenApiTypes.STR, description="Only attempts that ended so."),
        OpenApiParameter("operation", OpenApiTypes.STR, enum=["add", "search"]),
    ],
    responses={200: serializers.AttemptList},
)
@api_view(["GET"])
def attempts(request: Request, public_id: str) -> Response:
    """Calls to your service, at most 100 at a time: of a Smoke with their exchange, of a Full without."""
    found = _run_or_404(request, public_id)
    after = number_from(request, "after")
    rows = attempts_after(
        found,
        after,
        limit=ATTEMPTS,
        code=choice_from(request, "code", list(Code)),
        operation=choice_from(request, "operation", sorted(SERVICE_KINDS)),
    )
    traces = [trace(row, content=found.is_smoke) for row in rows]
    last = traces[-1].number if traces else after
    return Response(serializers.AttemptList({"attempts": traces, "last": last}).data)


@extend_schema(
    operation_id="cancel_run",
    tags=["runs"],
    request=serializers.CancelRequest,
    responses={200: serializers.RunDetail},
)
@api_view(["POST"])
def cancel(request: Request, public_id: str) -> Response:
    """End a run. What it costs is in the policy of ``/cycles/current``; takes ``Idempotency-Key``."""
    found = _run_or_404(request, public_id)
    body = serializers.CancelRequest(data=request.data or {})
    body.is_valid(raise_exception=True)
    expected = body.validated_data.get("expected", "")

    def do() -> dict[str, Any]:
        cancel_run(actor=person_of(request), run=found, expected=expected)
        return _detail(_run_or_404(request, public_id))

    return once(request, act=f"cancel:{public_id}", body=body.validated_data, do=do, status=200)


@extend_schema(
    operation_id="resume_run",
    tags=["runs"],
    request=serializers.Nothing,
    responses={200: serializers.RunDetail},
)
@api_view(["POST"])
def resume(request: Request, public_id: str) -> Response:
    """Have a call tried at once after an outage of your service; a success lets the run go on."""
    found = _run_or_404(request, public_id)
    serializers.Nothing(data=request.data or {}).is_valid(raise_exception=True)

    def do() -> dict[str, Any]:
        resume_run(actor=person_of(request), run=found)
        return _detail(_run_or_404(request, public_id))

    return once(request, act=f"resume:{public_id}", body={}, do=do, status=200)


@extend_schema(
    operation_id="run_bundle", tags=["runs"], responses={(200, "application/zip"): OpenApiTypes.BINARY}
)
@api_view(["GET"])
def bundle(request: Request, public_id: str) -> HttpResponse:
    """The signed public result bundle (``aml-bundle/1``) as a zip."""
    found = _run_or_404(request, public_id)
    response = HttpResponse(bundle_of(found), content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="aml-bundle-{found.public_id}.zip"'
    return response


def _runs(request: Request) -> QuerySet[Run]:
    return Run.objects.filter(registration=registration_of(request)).select_related(
        "version__entry", "contract", "cycle", "pack", "registration__participant"
    )


def _run_or_404(request: Request, public_id: str) -> Run:
    return get_object_or_404(_runs(request), public_id=public_id)


def _detail(found: Run) -> dict[str, Any]:
    seen = {
        "run": found,
        "progress": progress(found),
        "results": results(found),
        "unofficial": is_unofficial(found),
    }
    return dict(serializers.RunDetail(seen).data)
