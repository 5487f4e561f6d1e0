"""Tasks as Celery takes them."""

from __future__ import annotations

import warnings

from celery import Celery

from aml.celery import app


def test_tasks_bind_to_an_application_without_a_warning() -> None:
    app.loader.import_default_modules()
    other = Celery("other", set_as_current=False)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        other.finalize()
        names = {name for name in other.tasks if name.startswith(("web.", "evaluations."))}
    assert names >= {"web.send_outbox", "web.seal_audit", "evaluations.drive", "evaluations.reconcile"}
    assert [str(one.message) for one in warned] == []
    assert all(other.tasks[name].acks_late for name in names)
