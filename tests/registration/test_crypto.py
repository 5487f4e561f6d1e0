"""Evaluation Keys and memory keys: form, hash, encryption."""

from __future__ import annotations

import pytest
from cryptography.fernet import Fernet
from pytest_django import Settings

from registration import crypto
from registration.models import Version


def test_a_new_key_has_the_announced_form_and_parses() -> None:
    key = crypto.new_evaluation_key()
    prefix, live, key_id, secret, check = key.text.split("_")
    assert (prefix, live, len(key_id), len(secret), len(check)) == ("aml", "live", 12, 32, 6)
    assert crypto.parse_evaluation_key(key.text) == key


def test_two_keys_never_share_anything() -> None:
    first, second = crypto.new_evaluation_key(), crypto.new_evaluation_key()
    assert first.key_id != second.key_id
    assert first.text != second.text


def test_every_single_slip_in_a_key_is_noticed() -> None:
    text = crypto.new_evaluation_key().text
    for place in range(len(crypto.PREFIX), len(text)):
        wrong = "7" if text[place] != "7" else "8"
        with pytest.raises(crypto.MalformedKey):
            crypto.parse_evaluation_key(text[:place] + wrong + text[place + 1 :])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "begins with aml_live_"),
        ("sk-123", "begins with aml_live_"),
        ("aml_live_abc", "cut short"),
        ("aml_live_" + "_".join("0" * length for length in (12, 32, 5)), "cut short"),
        ("aml_live_" + "_".join("U" * length for length in (12, 32, 6)), "character that no"),
        ("aml_live_" + "_".join("é" * length for length in (12, 32, 6)), "character that no"),
        ("aml_live_" + "_".join("0" * length for length in (12, 32, 6)), "checksum"),
    ],
)
def test_a_malformed_key_is_refused_with_what_is_wrong(text: str, sentence: str) -> None:
    with pytest.raises(crypto.MalformedKey, match=sentence):
        crypto.parse_evaluation_key(text)


def test_a_key_does_not_show_in_its_repr() -> None:
    key = crypto.new_evaluation_key()
    assert key.text.split("_")[3] not in repr(key)


def test_the_digest_depends_on_the_pepper(settings: Settings) -> None:
    key = crypto.new_evaluation_key()
    digest = crypto.digest_of(key)
    assert crypto.digest_matches(key, digest)
    settings.KEY_PEPPER = "another pepper of at least 32 characters"
    assert not crypto.digest_matches(key, digest)


def _version(key: str) -> Version:
    version = Version()
    version.memory_key_encrypted = crypto.encrypt_memory_key(key, version_id=version.public_id)
    return version


def test_a_memory_key_comes_back_for_its_own_version_only() -> None:
    version, other = _version("süßes geheimnis"), Version()
    assert crypto.reveal_memory_key(version) == "süßes geheimnis"
    other.memory_key_encrypted = version.memory_key_encrypted
    with pytest.raises(crypto.UnreadableMemoryKey, match="another version"):
        crypto.reveal_memory_key(other)


def test_an_old_encryption_key_still_opens_after_a_new_one_came_first(settings: Settings) -> None:
    version = _version("memory-key-1")
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode(), *settings.ENCRYPTION_KEYS]
    assert crypto.reveal_memory_key(version) == "memory-key-1"


def test_without_our_encryption_key_nothing_opens(settings: Settings) -> None:
    version = _version("memory-key-1")
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    with pytest.raises(crypto.UnreadableMemoryKey, match="none of our keys"):
        crypto.reveal_memory_key(version)


def test_a_version_without_a_memory_key_reveals_nothing() -> None:
    assert crypto.reveal_memory_key(Version()) == ""


def test_the_end_of_a_short_memory_key_is_not_shown() -> None:
    assert crypto.last_characters("12345678901") == ""
    assert crypto.last_characters("123456789012") == "9012"
