"""What beat does every few seconds, once and by hand."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from evaluations.runner.reconcile import reconcile


class Command(BaseCommand):
    help = "Return expired claims, end pauses, fire deadlines, finish runs; safe at any time."

    def handle(self, *args: Any, **options: Any) -> None:
        did = reconcile()
        self.stdout.write(", ".join(f"{name} {count}" for name, count in did.items()))
