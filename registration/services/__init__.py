"""What a person asks for. Each service guards, changes in one transaction, records, and tells."""

from registration.services.entries import (
    create_entry,
    new_version,
    set_memory_key,
    update_version,
    version_start,
    withdraw_entry,
    withdraw_version,
)
from registration.services.keys import NewKey, create_evaluation_key, reissue_key, revoke_key
from registration.services.participants import (
    create_participant,
    join_participant,
    renew_join_code,
    set_role,
)
from registration.services.registrations import decide_registration, reapply, register

__all__ = [
    "NewKey",
    "create_entry",
    "create_evaluation_key",
    "create_participant",
    "decide_registration",
    "join_participant",
    "new_version",
    "reapply",
    "register",
    "reissue_key",
    "renew_join_code",
    "revoke_key",
    "set_memory_key",
    "set_role",
    "update_version",
    "version_start",
    "withdraw_entry",
    "withdraw_version",
]
