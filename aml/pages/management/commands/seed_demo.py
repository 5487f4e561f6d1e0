"""The demo's people, packs and open cycle, without running anything."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from aml.pages.demo import seed


class Command(BaseCommand):
    help = "Seed an open, unofficial cycle with three tracks, the shipped packs, and people to log in as."

    def handle(self, *args: Any, **options: Any) -> None:
        ground = seed.seed()
        people = (ground.organiser, *ground.reviewers, ground.participant)
        self.stdout.write(f"cycle {ground.cycle.slug}, contract {ground.contract.hash}")
        for person in people:
            self.stdout.write(f"  {person.email} / {seed.PASSWORD}")
