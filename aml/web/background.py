"""The one door to Celery: its settings for every task, and waking somebody after the commit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from celery import Task, shared_task
from django.conf import settings
from django.db import transaction

DEFAULT_QUEUE = "aml"
SMOKE_QUEUE = "smoke"  # of a worker that is kept for Smokes
MESSAGE_SECONDS = 60  # an older message is worth nothing: reconcile has sent another


def task(*, name: str, time_limit: int = 120) -> Callable[[Callable[..., None]], Task[..., None]]:
    """A task that is acknowledged late, ignores its result, and is safe to run twice at once.

    Its queue is chosen when it is sent; what beat sends goes to the default one.
    """

    def decorate(function: Callable[..., None]) -> Task[..., None]:
        made: Task[..., None] = shared_task(
            name=name, acks_late=True, ignore_result=True, time_limit=time_limit
        )(function)
        return made

    return decorate


def wake(target: Task[..., None], **kwargs: Any) -> None:
    """Send ``target`` once the transaction is committed. A lost message is made good by reconcile."""
    transaction.on_commit(lambda: send(target, **kwargs), robust=True)


def send(target: Task[..., None], *, queue: str = DEFAULT_QUEUE, **kwargs: Any) -> None:
    """Send ``target`` now, outside any transaction. Without a broker the driver beside the site polls."""
    if not settings.EMBEDDED_DRIVER:
        target.apply_async(kwargs=kwargs, queue=queue, ignore_result=True, expires=MESSAGE_SECONDS)
