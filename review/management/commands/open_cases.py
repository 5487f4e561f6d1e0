"""Cases that a crash left unopened, by hand."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from review.builder import open_missing_cases, refresh_findings
from review.models import Case


class Command(BaseCommand):
    help = "Open the review case of every finished Full that has none; safe at any time."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--refresh", action="store_true", help="Also compute the findings of undecided cases again."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"opened {open_missing_cases()}")
        if options["refresh"]:
            cases = Case.objects.filter(status__in=Case.UNDECIDED)
            for case in cases:
                refresh_findings(case)
            self.stdout.write(f"refreshed {len(cases)}")
