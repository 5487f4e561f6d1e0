"""What the stage stands on, as a program in the stage's environment.

``python -m tests.e2e.ground`` reads calls, one line of JSON each (``["participant", "Ada", "commercial"]``), and
answers each with a line: ``{"answer": …}`` or ``{"error": traceback}``. It ends with its input.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

PACK, SMOKE_PACK = "textual-tiny", "textual-smoke"
LONG_ENOUGH = 12  # a shorter gold, such as "green", stands in many a sentence


def migrate() -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def seed() -> dict[str, Any]:
    """Packs, an open cycle, the demo's people, baselines."""
    from aml.pages.demo import seed as demo
    from benchmarks.models import PackRelease
    from evaluations.services.baselines import run_baselines

    ground = demo.seed(full_pack=PACK)
    PackRelease.objects.filter(pack=PACK).update(visibility=PackRelease.Visibility.PRIVATE)
    run_baselines(contract=ground.contract)
    return {"cycle": ground.cycle.slug, "contract": ground.contract.hash}


def participant(name: str, division: str) -> dict[str, str]:
    """Somebody who is registered and approved."""
    from allauth.account.models import EmailAddress

    from aml.pages.demo.seed import ORGANISER, PASSWORD
    from aml.web.models import User
    from registration.models import Cycle
    from registration.services import participants, registrations
    from tests.factories import make_user

    email = f"{name.lower()}@example.org"
    person = make_user(email=email, name=name, password=PASSWORD)
    EmailAddress.objects.create(user=person, email=email, verified=True, primary=True)
    team = participants.create_participant(actor=person, name=f"{name}'s team", organisation=name)
    registration = registrations.register(
        actor=person, participant=team, cycle=Cycle.objects.get(), division=division, statement="A memory."
    )
    organiser = User.objects.get(email=ORGANISER)
    registrations.decide_registration(actor=organiser, registration=registration, approve=True)
    return {"email": email, "registration": registration.public_id}


def system(registration_id: str, memory: str) -> dict[str, str]:
    """A system of theirs, and an Evaluation Key."""
    from registration.models import Member, Registration
    from registration.services import entries, keys
    from tests.e2e.stage import MEMORY_KEY
    from tests.factories import version_values

    registration = Registration.objects.get(public_id=registration_id)
    person = registration.participant.members.get(role=Member.Role.OWNER).user
    urls = {"add_url": f"{memory}/add", "search_url": f"{memory}/search", "health_url": f"{memory}/health"}
    entry = entries.create_entry(
        actor=person, registration=registration, name=f"Memory of {person.name}", tracks=["textual"],
        description="Full-text search.", version=version_values(registration.division) | urls,
        memory_key=MEMORY_KEY,
    )  # fmt: skip
    key = keys.create_evaluation_key(actor=person, registration=registration)
    return {"version": entry.versions.get().public_id, "slug": entry.slug, "key": key.text}


def revoked_key(registration_id: str) -> dict[str, str]:
    from registration.models import Member, Registration
    from registration.services import keys

    registration = Registration.objects.get(public_id=registration_id)
    person = registration.participant.members.get(role=Member.Role.OWNER).user
    made = keys.create_evaluation_key(actor=person, registration=registration)
    keys.revoke_key(actor=person, key=made.key)
    return {"key": made.text}


def approve(run_id: str) -> dict[str, str]:
    """By both reviewers."""
    from aml.web.models import User
    from review.models import Case, Decision
    from review.services.checklist import IDS
    from review.services.deciding import decide

    for reviewer in User.objects.filter(is_reviewer=True).order_by("email"):
        case = Case.objects.get(run__public_id=run_id)
        decide(case=case, reviewer=reviewer, verdict=Decision.Verdict.APPROVE, reason="Fine.", checklist=IDS)
    return {"case": case.public_id}


def private() -> list[str]:
    """Questions, longer golds and messages of the Full's pack that the public Smoke's has not."""
    return sorted(_texts(PACK) - _texts(SMOKE_PACK))


def _texts(pack: str) -> set[str]:
    from benchmarks.models import PackEvent, PackQuestion, unpack

    bodies = [
        *PackQuestion.objects.filter(release__pack=pack).values_list("body", flat=True),
        *PackEvent.objects.filter(sample__release__pack=pack, kind="add").values_list("body", flat=True),
    ]
    return {text for body in bodies for text in _private_parts(json.loads(unpack(body)))}


def _private_parts(body: dict[str, Any]) -> Iterator[str]:
    golds = body.get("gold") or []
    messages = body.get("add", {}).get("messages", [])
    parts = [body.get("query"), *([golds] if isinstance(golds, str) else golds)]
    parts += [message["content"] for message in messages]
    yield from (part for part in parts if isinstance(part, str) and len(part) >= LONG_ENOUGH)


def send_mails() -> None:
    """What waits in the outbox."""
    from aml.web import outbox

    outbox.send_pending()


ACTS: dict[str, Callable[..., Any]] = {
    "migrate": migrate,
    "seed": seed,
    "participant": participant,
    "system": system,
    "revoked_key": revoked_key,
    "approve": approve,
    "private": private,
    "send_mails": send_mails,
}


def main() -> None:
    import django

    # What an act prints goes to the log: the answers have the output to themselves.
    answers, sys.stdout = sys.stdout, sys.stderr
    django.setup()
    for line in sys.stdin:
        act, *arguments = json.loads(line)
        try:
            reply = {"answer": ACTS[act](*arguments)}
        except Exception:  # the test that asked shall see it
            reply = {"error": traceback.format_exc()}
        print(json.dumps(reply), file=answers, flush=True)


if __name__ == "__main__":
    main()
