"""Addresses of taking part, below ``/evaluation/``."""

from __future__ import annotations

from django.urls import path

from registration.views import entries, keys, participants, registrations, versions

app_name = "registration"

urlpatterns = [
    path("participants/new/", participants.participant_new, name="participant_new"),
    path("participants/join/", participants.participant_join, name="participant_join"),
    path("participants/<slug:public_id>/", participants.participant, name="participant"),
    path(
        "participants/<slug:public_id>/join-code/",
        participants.participant_join_code,
        name="participant_join_code",
    ),
    path(
        "participants/<slug:public_id>/members/<slug:person>/", participants.member_role, name="member_role"
    ),
    path("register/", registrations.register, name="register"),
    path("registrations/<slug:public_id>/", registrations.registration, name="registration"),
    path("registrations/<slug:public_id>/again/", registrations.reapply, name="reapply"),
    path("registrations/<slug:public_id>/keys/new/", keys.key_new, name="key_new"),
    path("entries/new/", entries.entry_new, name="entry_new"),
    path("entries/<slug:public_id>/", entries.entry, name="entry"),
    path("entries/<slug:public_id>/withdraw/", entries.entry_withdraw, name="entry_withdraw"),
    path("entries/<slug:public_id>/versions/new/", versions.version_new, name="version_new"),
    path("versions/<slug:public_id>/", versions.version, name="version"),
    path("versions/<slug:public_id>/edit/", versions.version_edit, name="version_edit"),
    path("versions/<slug:public_id>/memory-key/", versions.version_memory_key, name="version_memory_key"),
    path("versions/<slug:public_id>/withdraw/", versions.version_withdraw, name="version_withdraw"),
    path("keys/", keys.keys, name="keys"),
    path("keys/<slug:key_id>/revoke/", keys.key_revoke, name="key_revoke"),
]
