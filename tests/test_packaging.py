"""What is shipped beside the code fits the code: locks, image, compose file, example environment."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ("run", "test")
# Set by images we only use, or by us for the image.
FOREIGN = frozenset({"POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD_FILE"})
OURS = ("web", "worker", "smoke-worker", "beat", "migrate")
SERVICES = (*OURS, "postgres", "redis")


@cache
def compose() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return document


def service(name: str) -> dict[str, Any]:
    found: dict[str, Any] = compose()["services"][name]
    return found


@cache
def instructions() -> tuple[tuple[str, str], ...]:
    """(instruction, rest) pairs of the Dockerfile, continued lines joined, comments dropped."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.M).replace("\\\n", " ")
    pairs = (line.split(maxsplit=1) for line in text.splitlines() if line.strip())
    return tuple((name, rest) for name, rest in pairs)


def lock_text(name: str) -> str:
    return (ROOT / "requirements" / f"{name}.txt").read_text()


def pins(name: str) -> dict[str, set[str]]:
    """Every pinned version of each package in a lock; markers may give one package several."""
    found: dict[str, set[str]] = {}
    for package, version in re.findall(r"^([a-z0-9][a-z0-9.-]*)==([^ ;\\]+)", lock_text(name), flags=re.M):
        found.setdefault(package, set()).add(version)
    return found


def project_names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=!~ ]", text, maxsplit=1)[0].lower() for text in requirements}


def documented_variables() -> set[str]:
    return set(re.findall(r"^#?([A-Z_]+)=", (ROOT / ".env.example").read_text(), flags=re.M))


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_has_hashes(name: str) -> None:
    entries = re.split(r"\n(?=\S)", lock_text(name).strip())
    assert len(entries) > 30
    assert [entry for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_host(name: str) -> None:
    assert re.search(r"://|--index|--extra|--find-links|--trusted", lock_text(name)) is None


def test_every_dependency_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project_names(project["project"]["dependencies"]) - pins("run").keys() == set()
    assert project_names(project["dependency-groups"]["test"]) - pins("test").keys() == set()


def test_the_readme_says_why_each_dependency_is_there() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    explained = set(re.findall(r"`([a-z0-9-]+)(?:\[[a-z]+\])?`", (ROOT / "README.md").read_text()))
    assert project_names(project["project"]["dependencies"]) - explained == set()


def test_both_locks_pin_the_same_versions() -> None:
    test = pins("test")
    assert {name: versions for name, versions in pins("run").items() if test.get(name) != versions} == {}


def test_the_example_environment_is_the_declared_one() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/env_example.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert (ROOT / ".env.example").read_text() == done.stdout, "run `make env-example`"


@pytest.mark.parametrize("name", SERVICES)
def test_an_image_has_a_version(name: str) -> None:
    image = service(name)["image"]
    assert image == "aml:local" or re.search(r":\d+(\.\d+)*-[a-z]+$", image), image


def test_the_dockerfile_starts_from_versioned_images() -> None:
    images = [rest.split()[0] for name, rest in instructions() if name == "FROM"]
    assert len(images) == 2
    assert all(re.search(r":3\.\d+-slim-[a-z]+$", image) for image in images)


def test_the_dockerfile_installs_hashed_requirements_only() -> None:
    installs = [rest for name, rest in instructions() if name == "RUN" and "pip install" in rest]
    assert installs
    assert all("--require-hashes" in rest for rest in installs)


def test_the_image_does_not_run_as_root() -> None:
    user = [rest for name, rest in instructions() if name == "USER"][-1]
    assert int(user.split(":")[0]) > 0


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_confined(name: str) -> None:
    spec = service(name)
    assert int(spec["user"].split(":")[0]) > 0
    assert spec["read_only"] is True
    assert spec["cap_drop"] == ["ALL"]
    assert spec["tmpfs"]


@pytest.mark.parametrize("name", [name for name in SERVICES if name != "migrate"])
def test_a_lasting_service_restarts_and_is_watched(name: str) -> None:
    spec = service(name)
    assert spec["restart"] == "unless-stopped"
    assert spec["healthcheck"]["test"][0] in {"CMD", "CMD-SHELL"}


def test_ours_start_after_the_migrations() -> None:
    waiting = [service(name)["depends_on"]["migrate"]["condition"] for name in OURS if name != "migrate"]
    assert set(waiting) == {"service_completed_successfully"}


def test_every_variable_of_the_compose_file_is_documented() -> None:
    named = {name for service_name in SERVICES for name in service(service_name).get("environment", {})}
    text = (ROOT / "docker-compose.yml").read_text()
    used = named | set(re.findall(r"\$\{([A-Z_]+)", text))
    assert {name.removesuffix("_FILE") for name in used - FOREIGN} - documented_variables() == set()


def test_every_mounted_secret_is_read_and_made() -> None:
    script = (ROOT / "scripts" / "make_secrets.sh").read_text()
    paths = {value for name in SERVICES for value in service(name).get("environment", {}).values()}
    for name, secret in compose()["secrets"].items():
        assert f"/run/secrets/{name}" in paths
        assert secret["file"] == f"secrets/{name}"
        assert f"put {name} " in script


def test_secrets_made_once_are_kept(tmp_path: Path) -> None:
    command = ["sh", str(ROOT / "scripts" / "make_secrets.sh")]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    first = {path.name: path.read_bytes() for path in (tmp_path / "secrets").iterdir()}
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert {path.name: path.read_bytes() for path in (tmp_path / "secrets").iterdir()} == first
    assert first.keys() == compose()["secrets"].keys()


def test_the_settings_accept_the_made_secrets_in_production(tmp_path: Path) -> None:
    subprocess.run(
        ["sh", str(ROOT / "scripts" / "make_secrets.sh")], cwd=tmp_path, check=True, capture_output=True
    )
    environment = {"PATH": "/usr/bin:/bin", "AML_VAR_DIR": str(tmp_path)}
    for name, value in service("web")["environment"].items():
        default = re.sub(r"^\$\{[A-Z_]+:[-?](.*)\}$", r"\1", value)
        environment[name] = default.replace("/run/secrets", str(tmp_path / "secrets"))
    environment |= {"AML_SITE_URL": "https://aml.example.org", "AML_ALLOWED_HOSTS": "aml.example.org"}
    code = "from aml import settings; print(settings.MODE, settings.DATABASES['default']['HOST'])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["production", "postgres"], done.stderr


@pytest.mark.parametrize("name", ["web", "worker", "smoke-worker", "beat"])
def test_the_command_of_a_service_parses(name: str) -> None:
    """The program's own parser takes every option, so the command is one that can be run by hand."""
    program, *arguments = shlex.split(service(name)["command"])
    assert (Path(sys.executable).parent / program).exists()
    done = subprocess.run(
        [str(Path(sys.executable).parent / program), *arguments, _dry(program)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def _dry(program: str) -> str:
    """The option that ends a program once it has read its options."""
    return {"gunicorn": "--check-config", "celery": "--help"}[program]


def test_the_image_runs_the_command_of_the_web_service() -> None:
    command = [rest for name, rest in instructions() if name == "CMD"][-1]
    assert yaml.safe_load(command) == shlex.split(service("web")["command"])


def test_the_build_context_holds_every_room_and_no_secret() -> None:
    lines = (ROOT / ".dockerignore").read_text().split()
    assert lines[0] == "*"
    kept = {line.removeprefix("!") for line in lines if line.startswith("!")}
    rooms = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "var"}
    assert rooms <= kept
    assert not kept & {"secrets", ".env", "var", "tests"}


def test_make_help_names_every_target() -> None:
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    listed = {line.split()[0] + " " + line.split()[1] for line in done.stdout.splitlines()}
    wanted = ("setup", "demo", "test", "test-long", "lint", "lock", "messages", "help")
    assert {f"make {name}" for name in wanted} <= listed


def test_no_shipped_script_has_a_syntax_error() -> None:
    for path in [*(ROOT / "scripts").glob("*.sh"), ROOT / ".ci" / "run"]:
        subprocess.run(["bash", "-n", str(path)], check=True)
