"""The demo's ground: people, packs, and an open, unofficial cycle with three tracks. Safe to run again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from allauth.account.models import EmailAddress
from django.conf import settings

from aml.lib.tracks import Track
from aml.web import clock
from aml.web.models import User
from benchmarks.services import import_pack
from evaluations.models import CycleTrack, EvaluationContract
from evaluations.services.contracts import make_contract
from registration.models import Cycle

PASSWORD = "memory-demo-2026"  # noqa: S105 - printed for whoever runs the demo; embedded mode only
ORGANISER = "organiser@example.org"
REVIEWERS = ("reviewer-1@example.org", "reviewer-2@example.org")
PARTICIPANT = "participant@example.org"
FULL_PACK, SMOKE_PACK = "textual-demo", "textual-smoke"
OTHER_PACKS = ("textual-tiny",)


@dataclass(frozen=True, slots=True)
class Ground:
    cycle: Cycle
    contract: EvaluationContract
    organiser: User
    reviewers: tuple[User, ...]
    participant: User


def seed(*, full_pack: str = FULL_PACK) -> Ground:
    if settings.PRODUCTION:
        raise RuntimeError("the demo's people have a known password: it runs in embedded mode only")
    contract = _contract(full_pack)
    cycle = _cycle()
    for track in Track:
        own = contract if track is Track.TEXTUAL else None
        CycleTrack.objects.update_or_create(
            cycle=cycle, track=track, defaults={"contract": own, "is_open": own is not None}
        )
    return Ground(
        cycle=cycle,
        contract=contract,
        organiser=_person(ORGANISER, "Olga Organiser", is_staff=True, is_superuser=True),
        reviewers=tuple(
            _person(email, name, is_reviewer=True)
            for email, name in zip(REVIEWERS, ("Rana Reviewer", "Rui Reviewer"), strict=True)
        ),
        participant=_person(PARTICIPANT, "Pat Participant"),
    )


def _contract(full_pack: str) -> EvaluationContract:
    for name in OTHER_PACKS:
        import_pack(name)
    return make_contract(
        track=Track.TEXTUAL, full_pack=import_pack(full_pack), smoke_pack=import_pack(SMOKE_PACK)
    )


def _cycle() -> Cycle:
    now = clock.now().replace(minute=0, second=0, microsecond=0)
    cycle, _ = Cycle.objects.get_or_create(
        slug="demo",
        defaults={
            "title": "Demo cycle",
            "title_zh": "演示赛季",
            "summary": "A cycle on your own machine, to try everything once. Its results are unofficial.",
            "summary_zh": "在你自己的机器上体验全部流程的赛季，其结果为非官方结果。",
            "host": "You",
            "contact": ORGANISER,
            "is_public": True,
            "is_official": False,
            "opens_at": now - timedelta(days=1),
            "registration_closes_at": now + timedelta(days=30),
            "full_closes_at": now + timedelta(days=60),
            "evaluation_stops_at": now + timedelta(days=75),
            "results_at": now + timedelta(days=90),
        },
    )
    return cycle


def _person(email: str, name: str, **roles: bool) -> User:
    user, made = User.objects.get_or_create(email=email, defaults={"name": name, **roles})
    if made:
        user.set_password(PASSWORD)
        user.save(update_fields=["password"])
    EmailAddress.objects.get_or_create(user=user, email=email, defaults={"verified": True, "primary": True})
    return user
