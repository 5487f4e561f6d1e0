"""Codes that the API refuses a request with, in words, for the guide; ``doc_url`` of an error leads here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True, slots=True)
class RefusalWords:
    code: str
    status: int
    meaning: StrOrPromise
    advice: StrOrPromise


REFUSALS: tuple[RefusalWords, ...] = (
    RefusalWords("active_run", 409, _("Another run is under way in this track."),
                 _("Wait until it ends, or cancel it.")),
    RefusalWords("active_check", 409, _("Another check is under way in this track."),
                 _("Wait for its report.")),
    RefusalWords("cooldown", 409, _("The cooldown of the last Full is running in this track."),
                 _("next_allowed_at says when it ends.")),
    RefusalWords("quota_used", 409, _("All runs of this kind are used or reserved."),
                 _("GET /me shows the ledger; an organiser can grant one more.")),
    RefusalWords("starts_used", 409, _("Too many Fulls were started, refunded ones included."),
                 _("Ask the organiser.")),
    RefusalWords("smoke_limit", 429, _("Too many Smokes in the last hour."),
                 _("next_allowed_at says when the next one may start.")),
    RefusalWords("check_limit", 429, _("Too many checks in the last hour."),
                 _("next_allowed_at says when. The check on your own machine has no limit.")),
    RefusalWords("check_required", 409, _("The version has no passing conformance check."),
                 _("Start a check, and correct what its gates report.")),
    RefusalWords("smoke_required", 409, _("The version has no passing Smoke in this track."),
                 _("Start a Smoke; a Full needs one of the same version.")),
    RefusalWords("smoke_stale", 409, _("The passing Smoke is too old, or the endpoints changed after it."),
                 _("Start another Smoke.")),
    RefusalWords("label_taken", 409, _("A run of your registration has this label."),
                 _("Choose another label.")),
    RefusalWords("statements_missing", 409, _("A Full needs every statement confirmed."),
                 _("Send the ids that the answer lists under missing.")),
    RefusalWords("not_approved", 409, _("The registration is not approved, or not any more."),
                 _("The registration's page says what the organiser decided.")),
    RefusalWords("track_not_entered", 409, _("The system is not entered in this track."),
                 _("Add the track to the entry.")),
    RefusalWords("cycle_closed", 409, _("The cycle, or the track in it, takes no run of this kind now."),
                 _("The rules have the dates.")),
    RefusalWords("maintenance", 409, _("The platform is being maintained."),
                 _("Nothing is lost; the status page says why.")),
    RefusalWords("budget", 409, _("The platform's account with the model provider has no credit."),
                 _("Not your fault; try again later.")),
    RefusalWords("version_withdrawn", 409, _("The version, or its entry, was withdrawn."),
                 _("Submit a new version.")),
    RefusalWords("auth_required", 409, _("A Full needs a service that asks for a memory key."),
                 _("Choose an authentication scheme and set the key.")),
    RefusalWords("not_paused", 409, _("The run is not paused, so there is nothing to resume."),
                 _("GET /runs/{id} has its status.")),
    RefusalWords("paused_by_operator", 409, _("The organiser paused the run."),
                 _("It goes on when the organiser lets it.")),
    RefusalWords("run_paused", 409, _("The run is paused, so it isn't asked to try again this way."),
                 _("GET /runs/{id} says what it waits for.")),
    RefusalWords("waiting_for_provider", 409, _("The run waits for the model provider, not for you."),
                 _("It goes on by itself; nothing is charged for waiting.")),
    RefusalWords("run_finished", 409, _("The run is over."), _("GET /runs/{id} has its outcome.")),
    RefusalWords("cost_changed", 409, _("Cancelling costs something else by now than what was confirmed."),
                 _("Read what it costs now, and confirm again.")),
    RefusalWords("no_bundle", 409, _("The run has no result bundle."),
                 _("A bundle is made once a run has finished with a score.")),
    RefusalWords("no_content", 404, _("Of a Full nothing is shown beyond counts, codes and times."),
                 _("Start a Smoke to see whole exchanges.")),
    RefusalWords("version_frozen", 409, _("An accepted Full froze the version."), _("Make a new version.")),
    RefusalWords("keys_used", 409, _("Two keys are live, which is the most."),
                 _("Revoke one that is not used any more.")),
    RefusalWords("already_registered", 409, _("The participant is registered in this cycle."),
                 _("Everything you enter goes into that registration.")),
    RefusalWords("already_in_cycle", 409, _("Somebody takes part in this cycle with another participant."),
                 _("A person takes part in a cycle once.")),
    RefusalWords("already_decided", 409, _("Somebody decided on this before."), _("Look at the page again.")),
    RefusalWords("not_rejected", 409, _("The registration was not rejected, so it needs no new application."),
                 _("Look at the registration's page.")),
    RefusalWords("last_owner", 409, _("A participant keeps at least one owner."),
                 _("Make somebody else an owner first.")),
    RefusalWords("not_a_member", 403, _("You don't belong to this participant."),
                 _("Ask an owner for the join code.")),
    RefusalWords("not_an_owner", 403, _("Only an owner may do this."), _("Ask an owner.")),
    RefusalWords("not_an_organiser", 403, _("Only the organiser may do this."), _("Ask the organiser.")),
    RefusalWords("viewer", 403, _("A viewer reads and changes nothing."),
                 _("Ask an owner for another role.")),
    RefusalWords("invalid_field", 400, _("A field of the request is wrong."),
                 _("The answer names the field, what came and what was expected.")),
    RefusalWords("parse_error", 400, _("The body is no JSON."), _("Send one JSON object in UTF-8.")),
    RefusalWords("idempotency_mismatch", 422, _("This Idempotency-Key was used with another body."),
                 _("Send a new key with a new request.")),
    RefusalWords("not_authenticated", 401, _("The call needs an Evaluation Key."),
                 _("Send it as Authorization: Bearer <key>.")),
    RefusalWords("key_malformed", 401, _("The key is not in the form of an Evaluation Key."),
                 _("Copy it again, without blanks or line ends.")),
    RefusalWords("key_unknown", 401, _("There is no such key."), _("Copy it again, or make a new one.")),
    RefusalWords("key_revoked", 401, _("The key was revoked."), _("Make a new one on the keys page.")),
    RefusalWords("permission_denied", 403, _("This is not yours to do."),
                 _("GET /me shows what you may do.")),
    RefusalWords("not_found", 404, _("There is nothing of yours at this address."),
                 _("Check the id; ids of others are answered in the same way.")),
    RefusalWords("method_not_allowed", 405, _("The address doesn't take this method."),
                 _("The list of calls has the methods.")),
    RefusalWords("unsupported_media_type", 415, _("The body's type is not JSON."),
                 _("Send Content-Type: application/json.")),
    RefusalWords("not_acceptable", 406, _("The answer can't be given in the form asked for."),
                 _("Ask for JSON, or CSV where it is offered.")),
)  # fmt: skip
