from __future__ import annotations

from pathlib import Path

import pytest

from aml.lib.env import ConfigurationError, Env, render_example


def message_of(env: Env, *, elsewhere: tuple[str, ...] | None = None) -> str:
    with pytest.raises(ConfigurationError) as caught:
        env.finish(elsewhere=elsewhere)
    return str(caught.value)


def test_an_unset_variable_has_its_default() -> None:
    env = Env({})
    assert env.str("AML_NAME", default="x", help="h") == "x"
    assert env.int("AML_COUNT", default=3, help="h") == 3
    assert env.list("AML_HOSTS", default=["a", "b"], help="h") == ["a", "b"]
    env.finish()


def test_an_empty_value_counts_as_unset() -> None:
    env = Env({"AML_COUNT": "  "})
    assert env.int("AML_COUNT", default=3, help="h") == 3
    env.finish()


@pytest.mark.parametrize(
    ("text", "value"), [("yes", True), ("TRUE", True), ("1", True), ("off", False), ("0", False)]
)
def test_yes_and_no_have_several_spellings(text: str, value: bool) -> None:
    assert Env({"AML_FLAG": text}).bool("AML_FLAG", default=not value, help="h") is value


def test_values_are_parsed_by_type() -> None:
    env = Env({"AML_COUNT": "7", "AML_SHARE": "0.5", "AML_HOSTS": " a, ,b ", "AML_MODE": "b"})
    assert env.int("AML_COUNT", default=0, help="h") == 7
    assert env.float("AML_SHARE", default=0.0, help="h") == 0.5
    assert env.list("AML_HOSTS", help="h") == ["a", "b"]
    assert env.choice("AML_MODE", choices=("a", "b"), default="a", help="h") == "b"
    env.finish()


def test_a_wrong_value_is_named_with_what_was_expected() -> None:
    env = Env({"AML_MODE": "foo"})
    assert (
        env.choice("AML_MODE", choices=("embedded", "production"), default="embedded", help="h") == "embedded"
    )
    assert "AML_MODE: got 'foo', expected one of embedded, production" in message_of(env)


@pytest.mark.parametrize("text", ["x", "-1", "11", "1.5", "nan"])
def test_a_number_out_of_range_is_refused(text: str) -> None:
    env = Env({"AML_COUNT": text})
    env.int("AML_COUNT", default=1, minimum=0, maximum=10, help="h")
    assert "expected a whole number from 0 to 10" in message_of(env)


@pytest.mark.parametrize("text", ["nan", "inf", "-0.5"])
def test_a_float_must_be_finite_and_within_its_range(text: str) -> None:
    env = Env({"AML_SHARE": text})
    env.float("AML_SHARE", default=1.0, help="h")
    assert f"got '{text}', expected a number of at least 0.0" in message_of(env)


@pytest.mark.parametrize(
    "text", ["localhost", "ftp://host", "http://", "http://host:99999", "http://a b", "http:/x"]
)
def test_what_is_not_a_url_of_the_scheme_is_refused(text: str) -> None:
    env = Env({"AML_URL": text})
    env.url("AML_URL", help="h")
    assert "expected a URL starting with http:// or https://" in message_of(env)


def test_a_url_may_have_a_path_and_no_host() -> None:
    env = Env({"DATABASE_URL": "sqlite:////tmp/db.sqlite3"})
    assert env.url("DATABASE_URL", schemes=("sqlite",), help="h") == "sqlite:////tmp/db.sqlite3"
    env.finish()


def test_all_problems_come_in_one_message() -> None:
    env = Env({"AML_A": "x", "AML_B": "y"})
    env.int("AML_A", default=1, help="h")
    env.bool("AML_B", default=True, help="h")
    assert message_of(env).count("expected") == 2


def test_a_secret_is_in_no_message() -> None:
    env = Env({"SECRET_KEY": "hunter2"})
    env.secret("SECRET_KEY", min_length=50, help="h")
    message = message_of(env)
    assert "hunter2" not in message
    assert "SECRET_KEY: got a value that is not shown, expected at least 50 characters" in message


def test_a_url_with_a_password_is_in_no_message() -> None:
    env = Env({"REDIS_URL": "amqp://u:hunter2@host"})
    env.url("REDIS_URL", schemes=("redis",), help="h")
    assert "hunter2" not in message_of(env)


def test_a_value_may_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("from file\n")
    env = Env({"SECRET_KEY_FILE": str(path)})
    assert env.secret("SECRET_KEY", help="h") == "from file"
    env.require("SECRET_KEY", reason="it")
    env.finish()


def test_a_missing_file_is_named_with_the_reason() -> None:
    env = Env({"SECRET_KEY_FILE": "/nowhere/key"})
    env.secret("SECRET_KEY", help="h")
    assert "SECRET_KEY_FILE: got '/nowhere/key', expected a readable file (No such file" in message_of(env)


def test_an_empty_file_counts_as_unset(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.touch()
    env = Env({"SECRET_KEY_FILE": str(path)})
    assert env.secret("SECRET_KEY", default="d", help="h") == "d"
    env.require("SECRET_KEY", reason="AML_MODE=production")
    assert "SECRET_KEY: not set, but AML_MODE=production needs it" in message_of(env)


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_bytes(b"\xff\xfe\xff")
    env = Env({"SECRET_KEY_FILE": str(path)})
    env.secret("SECRET_KEY", help="h")
    assert "(not UTF-8 text)" in message_of(env)


def test_a_value_given_both_ways_is_refused() -> None:
    env = Env({"SECRET_KEY": "a", "SECRET_KEY_FILE": "/b"})
    env.secret("SECRET_KEY", help="h")
    assert "SECRET_KEY: set twice, here and in SECRET_KEY_FILE" in message_of(env)


def test_what_a_mode_needs_is_required_by_name() -> None:
    env = Env({})
    env.url("DATABASE_URL", schemes=("postgres",), help="h")
    env.require("DATABASE_URL", when=True, reason="AML_MODE=production")
    message = message_of(env)
    assert "DATABASE_URL: not set, but AML_MODE=production needs it" in message
    assert "postgres://" in message


def test_nothing_is_required_when_the_condition_is_false() -> None:
    env = Env({})
    env.str("AML_NAME", help="h")
    env.require("AML_NAME", when=False, reason="never")
    env.finish()


def test_a_misspelt_name_is_reported_with_the_nearest_one() -> None:
    env = Env({"AML_MODUS": "x", "AML_TEST_X": "1", "AML_OTHER": "1", "HOME": "/"})
    env.str("AML_MODE", help="h")
    message = message_of(env, elsewhere=("AML_TEST_", "AML_OTHER"))
    assert "AML_MODUS: no such setting; did you mean AML_MODE?" in message
    assert "AML_TEST_X" not in message
    assert "AML_OTHER" not in message


def test_a_name_is_declared_once() -> None:
    env = Env({})
    env.str("AML_NAME", help="h")
    with pytest.raises(ValueError, match="AML_NAME is declared twice"):
        env.str("AML_NAME", help="h")


def test_the_example_lists_every_variable_with_meaning_and_default() -> None:
    env = Env({"SECRET_KEY": "hunter2"})
    env.section("Web")
    env.int("AML_PORT", default=8000, minimum=1, maximum=65535, help="Where the site listens.")
    env.secret("SECRET_KEY", default="insecure", help="Signs cookies.")
    text = render_example(env.variables)
    assert (
        "## Web\n\n# Where the site listens.\n# Takes a whole number from 1 to 65535.\n#AML_PORT=8000\n"
        in text
    )
    assert text.endswith("#SECRET_KEY=\n")
    assert "insecure" not in text


def test_a_default_that_depends_on_another_setting_is_said_in_words() -> None:
    env = Env({})
    env.bool("AML_PRIVATE", default=True, shown="yes in embedded mode, else no", help="Allow it.")
    text = render_example(env.variables)
    assert "# Takes yes or no. Default: yes in embedded mode, else no.\n#AML_PRIVATE=\n" in text
