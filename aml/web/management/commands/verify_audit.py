"""``manage.py verify_audit``: walk the audit log's chain; exit 1 if a row was edited, deleted or moved."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from aml.web import audit
from aml.web.models import AuditEntry


class Command(BaseCommand):
    help = "Check the hash chain of the audit log and its daily roots."

    def handle(self, *args: Any, **options: Any) -> None:
        faults = audit.verify()
        if faults:
            raise CommandError("\n".join(faults))
        sealed = AuditEntry.objects.filter(sequence__isnull=False).count()
        waiting = AuditEntry.objects.filter(sequence__isnull=True).count()
        self.stdout.write(f"{sealed} rows, chain intact; {waiting} rows wait to be sealed")
