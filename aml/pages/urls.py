"""Addresses of the public pages, below ``/``. The probes of ``aml.pages.probes`` have no language prefix."""

from __future__ import annotations

from django.urls import path

from aml.pages import benchmarks, guide, home, log, outbox, rules, status
from aml.pages.gallery import gallery

app_name = "pages"

urlpatterns = [
    path("", home.home, name="home"),
    path("rules/", rules.rules, name="rules"),
    path("api-guide/", guide.api_guide, name="api_guide"),
    path("docs/", home.docs, name="docs"),
    path("benchmarks/", benchmarks.benchmarks, name="benchmarks"),
    path("status/", status.status, name="status"),
    path("audit/", log.audit_log, name="audit"),
    path("outbox/", outbox.outbox_page, name="outbox"),
    path("gallery/", gallery, name="gallery"),
]
