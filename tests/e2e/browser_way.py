"""The whole way in browsers, on pages only; what each step showed is kept for the tests."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser, Download

from aml.pages.demo.seed import ORGANISER, REVIEWERS
from tests.e2e.axe import violations
from tests.e2e.people import Person
from tests.e2e.stage import MEMORY_KEY, PASSWORD, Stage

STRANGER = "stranger@example.net"
TEAM = "The strangers"
SYSTEM = "Palimpsest"
BOARD = "/leaderboard/textual/open-source/"
REASON = "Complete; the counts add up and nothing speaks against it."


class BrowserWay:
    """``saw`` is the text of pages by what was done; ``paths`` are their addresses; ``files`` are downloads."""

    def __init__(self, stage: Stage, browser: Browser) -> None:
        self.stage = stage
        self.stranger = Person(browser, stage)
        self.organiser = Person(browser, stage)
        self.reviewers = [Person(browser, stage) for _reviewer in REVIEWERS]
        self.visitor = Person(browser, stage)
        self.saw: dict[str, str] = {}
        self.paths: dict[str, str] = {}
        self.files: dict[str, str] = {}
        self.progress: dict[str, list[str]] = {}
        self.barriers: dict[str, list[str]] = {}
        self.key = ""

    @property
    def people(self) -> list[Person]:
        return [self.stranger, self.organiser, *self.reviewers, self.visitor]

    def walk(self) -> None:
        self._sign_up()
        self._register()
        self._approve()
        self._enter()
        self._make_key()
        self._check()
        self._smoke()
        self._full()
        self._review()
        self._look_at_the_board()

    def _note(self, name: str, person: Person) -> None:
        self.saw[name], self.paths[name] = person.text, person.path

    def _sign_up(self) -> None:
        person = self.stranger
        person.open("/")
        person.page.get_by_role("link", name="Sign in").first.click()
        person.follow("Create an account")
        person.fill({"email": STRANGER, "password1": PASSWORD})
        person.press("Create account")
        person.page.get_by_role("heading", name="code").wait_for()
        self._note("code", person)
        person.page.locator("[name='code']").fill(person.code_from_the_mail())
        person.press("Confirm")
        person.page.wait_for_url("**/evaluation/")
        self._note("first desk", person)

    def _register(self) -> None:
        person = self.stranger
        person.do_next()
        person.fill({"name": TEAM, "kind": "team", "organisation": "Strange Institute"})
        person.press("Create the participant")
        person.arrive("participants")
        self._note("participant", person)
        person.do_next()
        person.fill({"division": "open-source", "statement": "A memory that overwrites itself."})
        person.press("Send the application")
        person.arrive("registrations")
        self._note("application", person)

    def _approve(self) -> None:
        person = self.organiser.log_in(ORGANISER)
        person.open("/admin/registration/registration/")
        page = person.page
        row = page.locator("#result_list tbody tr", has_text=TEAM)
        row.locator("input.action-select").check()
        page.locator("select[name='action']").select_option("decide")
        page.get_by_role("button", name="Go").or_(page.get_by_role("button", name="Run")).first.click()
        self._note("application in the admin", person)
        page.locator("[name='decision'][value='approve']").check()
        page.locator("[name='reason']").fill("Welcome.")
        page.get_by_role("button", name="Decide").click()
        page.locator(".messagelist").wait_for()
        self._note("approved in the admin", person)

    def _enter(self) -> None:
        person = self.stranger
        person.page.reload()
        self._note("approved", person)
        person.follow("Enter a system")
        person.fill(self.system())
        self.barriers["entry form"] = violations(person.page)
        person.press("Enter the system")
        person.arrive("entries")
        self._note("entry", person)
        person.follow("1.0")
        person.arrive("versions")
        self._note("version", person)

    def system(self) -> dict[str, str]:
        """A value for every field of the form."""
        return {
            "name": SYSTEM,
            "description": "It keeps what was said last.",
            "tracks": "textual",
            "label": "1.0",
            "add_url": f"{self.stage.memory}/add",
            "search_url": f"{self.stage.memory}/search",
            "health_url": f"{self.stage.memory}/health",
            "status_url": f"{self.stage.memory}/status?id={{task_id}}",
            "auth_scheme": "bearer",
            "memory_key": MEMORY_KEY,
            "add_concurrency": "8",
            "search_concurrency": "16",
            "rate_limit": "none",
            "body_limit": "2000000",
            "runtime_environment": "Python and SQLite.",
            "models_and_dependencies": "none",
            "documentation": "https://example.net/palimpsest",
            "image_digest": f"registry.example.net/palimpsest@sha256:{'ab' * 32}",
            "repository": "https://example.net/palimpsest.git",
            "commit": "0123456789abcdef0123456789abcdef01234567",
            "original_authors": "The strangers",
            "provenance": "Our own work.",
            "changes": "none",
            "licence": "Apache-2.0",
            "implementation_notes": "One index per user.",
            "contact": STRANGER,
            "maintenance_contact": "night@example.net",
            "organisation": "Strange Institute",
            "public_fields": "organisation documentation",
        }

    def _make_key(self) -> None:
        person = self.stranger
        person.do_next()
        person.press("Make an Evaluation Key")
        self.key = person.page.locator("#secret-value").inner_text()
        self._note("key", person)
        person.follow("I have stored it")
        person.page.wait_for_url("**/evaluation/keys/")
        self.saw["keys"] = person.page.content()
        person.page.reload()
        self.saw["keys again"] = person.page.content()

    def _check(self) -> None:
        person = self.stranger
        person.do_next()
        person.arrive("checks")
        self.progress["check"] = person.watch("#check-live")
        person.page.get_by_text("All gates passed").wait_for()
        self._note("check", person)

    def _smoke(self) -> None:
        person = self.stranger
        person.do_next()
        self._note("smoke confirmation", person)
        person.press("Start the Smoke")
        self._watch_run("smoke")
        person.follow("See every exchange, failing first")
        person.page.wait_for_url("**/exchanges/")
        self._note("exchanges", person)
        self.files["exchanges"] = person.page.content()

    def _full(self) -> None:
        person = self.stranger
        person.do_next()
        self._note("full confirmation", person)
        self.barriers["full confirmation"] = violations(person.page)
        runs = self.stage.count("evaluations_run")
        person.press("Start the Full")
        person.page.locator(".error-summary").first.wait_for()
        self._note("full without statements", person)
        self.files["runs after the refusal"] = str(self.stage.count("evaluations_run") - runs)
        for box in person.page.locator(".statements input[type='checkbox']").all():
            box.check()
        person.press("Start the Full")
        self._watch_run("full")
        self.files["results.json"] = self._download("JSON")
        person.open("/evaluation/")
        self._note("desk in cooldown", person)

    def _watch_run(self, kind: str) -> None:
        page = self.stranger.page
        self.stranger.arrive("runs")
        self._note(f"{kind} begun", self.stranger)
        self.progress[kind] = self.stranger.watch("#run-live")
        page.locator("#results-title").wait_for()
        self._note(kind, self.stranger)

    def _download(self, name: str, person: Person | None = None) -> str:
        with (person or self.stranger).page.expect_download() as waiting:
            (person or self.stranger).main.get_by_role("link", name=name).first.click()
        download: Download = waiting.value
        return download.path().read_text()

    def _review(self) -> None:
        for number, (person, email) in enumerate(zip(self.reviewers, REVIEWERS, strict=True), start=1):
            person.log_in(email).open("/review/")
            self._note(f"queue {number}", person)
            person.follow(SYSTEM)
            self._note(f"case {number}", person)
            if number == 1:
                self.barriers["case"] = violations(person.page)
            person.fill({"verdict": "approve", "reason": REASON})
            for box in person.page.locator("[name='checklist']").all():
                box.check()
            person.press("Record my decision")
            person.page.get_by_text("Your decision is recorded.").wait_for()
            self._note(f"decided {number}", person)
            self.visitor.open(BOARD)
            self._note(f"board after {number}", self.visitor)

    def _look_at_the_board(self) -> None:
        person = self.visitor
        self.files["board.json"] = self._download("JSON", person)
        self.files["board.csv"] = self._download("CSV", person)
        person.page.get_by_role("link", name="中文").click()
        person.page.wait_for_url("**/zh-hans/**")
        self._note("board in Chinese", person)
        person.open(BOARD)
        person.page.locator("table.board").get_by_role("link", name=SYSTEM).click()
        person.page.wait_for_url("**/systems/*/")
        self._note("system", person)
        self.stranger.open(self.paths["full"])
        self._note("published run", self.stranger)

    def row(self) -> dict[str, Any]:
        """The stranger's row, as the API's board has it."""
        with self.stage.api() as visitor:
            board = visitor.get("boards/textual/open-source").json()
        [row] = [one for one in board["rows"] if one["system"] == SYSTEM]
        return dict(row)
