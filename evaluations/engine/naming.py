"""The opaque ids that a service sees (contract.md, "Ids"), and the salts of a bundle.

Every id is an HMAC under the run's secret, so it is the same after any crash and different in every
run. Smoke, Full and check share none because their secrets differ; ``scope`` sets probes and canaries
apart from samples within one run.
"""

from __future__ import annotations

from aml.lib.ids import opaque_id


def user_id(secret: bytes, sample: str, *, scope: str = "") -> str:
    """The isolation boundary of one sample."""
    return opaque_id(secret, "user", *_scoped(scope), sample)


def session_id(secret: bytes, sample: str, session: str, *, scope: str = "") -> str:
    """One source conversation of a sample."""
    return opaque_id(secret, "session", *_scoped(scope), sample, session)


def request_id(secret: bytes, sample: str, event: int, *, scope: str = "") -> str:
    """One logical write: the Add at this index of the sample's events, unique over the whole run."""
    return opaque_id(secret, "add", *_scoped(scope), sample, str(event))


def sample_salt(secret: bytes, sample: str) -> str:
    """The salt that hides a sample's name in a public bundle; kept in the sealed one."""
    return opaque_id(secret, "salt", sample).removeprefix("aml:")


def _scoped(scope: str) -> tuple[str, ...]:
    return (scope,) if scope else ()
