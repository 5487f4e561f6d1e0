"""The whole way by a script with an Evaluation Key; each answer is kept for the tests."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import httpx2

from evaluations.services import statements
from registration.crypto import new_evaluation_key
from tests.e2e.stage import Stage

PATIENCE = 90.0
FINAL = ("succeeded", "partial", "failed", "cancelled")
ENDED = ("passed", "failed", "error")
STATEMENTS = {"version": statements.VERSION, "accepted": list(statements.IDS)}

Reply = httpx2.Response


class ApiWay:
    """``replies`` by what was asked; ``seen`` are the states a poll met, one after another."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.replies: dict[str, Reply] = {}
        self.pairs: dict[str, list[Reply]] = {}
        self.seen: dict[str, list[dict[str, Any]]] = {}
        self.counts: dict[str, tuple[int, int]] = {}
        self.foreign: dict[str, Reply] = {}
        self.events: list[dict[str, Any]] = []
        self.own, self.other = (self._system(name) for name in ("Ada", "Eve"))
        self.api = stage.api(self.own["key"])

    def walk(self) -> None:
        with self.api:
            self._bad_keys()
            self._check()
            self._smoke()
            self._full()
            self._afterwards()
            self._foreign()
            self.stage.ground("approve", self.id_of("full"))
            self._published()

    def id_of(self, name: str) -> str:
        return str(self.replies[name].json()["id"])

    def order(self, kind: str, **fields: Any) -> dict[str, Any]:
        made = {"version": self.own["version"], "track": "textual", "kind": kind, "label": f"api {kind}"}
        return {**made, **({"statements": STATEMENTS} if kind == "full" else {}), **fields}

    def _system(self, name: str) -> dict[str, str]:
        made: dict[str, str] = self.stage.ground("participant", name, "commercial")
        system: dict[str, str] = self.stage.ground("system", made["registration"], self.stage.memory)
        return made | system

    def _bad_keys(self) -> None:
        keys = {
            "key_malformed": "aml_live_nonsense",
            "key_mistyped": self.own["key"][:-1] + ("x" if self.own["key"][-1] != "x" else "y"),
            "key_unknown": new_evaluation_key().text,
            "key_revoked": self.stage.ground("revoked_key", self.own["registration"])["key"],
            "key_missing": "",
        }
        for name, key in keys.items():
            with self.stage.api(key) as api:
                self.replies[name] = api.get("me")

    def _check(self) -> None:
        self._refuse("full_without_check", self.order("full"))
        self._refuse("missing_field", {"version": self.own["version"], "track": "textual", "kind": "smoke"})
        self._refuse("unknown_field", self.order("smoke", colour="red"))
        self._refuse("wrong_track", self.order("smoke", track="coding"))
        self._refuse("unknown_track", self.order("smoke", track="music"))
        self._refuse("foreign_version", self.order("smoke", version=self.other["version"]))
        body = {"version": self.own["version"]}
        self.pairs["check"] = self._at_once("checks", body, headers={"Idempotency-Key": "the-check"})
        self.replies["check"] = self.pairs["check"][0]
        self._until("check", f"checks/{self.id_of('check')}", ended=ENDED)

    def _smoke(self) -> None:
        self._refuse("full_without_smoke", self.order("full"))
        self.pairs["smoke"] = sorted(
            self._at_once("runs", self.order("smoke")), key=lambda one: one.status_code
        )
        self.replies["smoke"] = self.pairs["smoke"][0]
        self._until("smoke", f"runs/{self.id_of('smoke')}", ended=FINAL)
        self._refuse("smoke_too_soon", self.order("smoke", label="another smoke"))

    def _full(self) -> None:
        self._refuse("no_statements", self.order("full", statements={"version": 1, "accepted": ["rules"]}))
        self._refuse("label_taken", self.order("full", label="api smoke"))
        headers = {"Idempotency-Key": "the-full"}
        self.pairs["full"] = self._at_once("runs", self.order("full"), headers=headers)
        self.replies["full"] = self.pairs["full"][0]
        other = self.order("full", label="another full")
        self.replies["other_body"] = self.api.post("runs", json=other, headers=headers)
        self._refuse("while_one_runs", other)
        self._until("full", f"runs/{self.id_of('full')}", ended=FINAL, meanwhile=self._next_events)
        self._next_events()
        self._refuse("in_cooldown", other)

    def _afterwards(self) -> None:
        for kind in ("smoke", "full"):
            self.replies[f"{kind}_attempts"] = self.api.get(f"runs/{self.id_of(kind)}/attempts")
        first = self.api.get(f"runs/{self.id_of('full')}/events?after=0")
        self.replies["events"] = first
        self.replies["events_again"] = self.api.get(
            f"runs/{self.id_of('full')}/events?after=0", headers={"If-None-Match": first.headers["ETag"]}
        )
        self.replies["bundle"] = self.api.get(f"runs/{self.id_of('full')}/bundle")
        self.replies["me"] = self.api.get("me?simulate=succeeded")
        self.replies["runs"] = self.api.get("runs")

    def _foreign(self) -> None:
        """Somebody else's script asks for what is Ada's."""
        run = f"runs/{self.id_of('full')}"
        with self.stage.api(self.other["key"]) as api:
            for path in (
                run,
                f"{run}/events",
                f"{run}/attempts",
                f"{run}/bundle",
                f"checks/{self.id_of('check')}",
            ):
                self.foreign[path] = api.get(path)
            for act in ("cancel", "resume"):
                self.foreign[f"{run}/{act}"] = api.post(f"{run}/{act}")

    def _published(self) -> None:
        with self.stage.api() as visitor:
            self.replies["board"] = visitor.get("boards/textual/commercial")
            self.replies["board_csv"] = visitor.get("boards/textual/commercial?format=csv")
            self.replies["system"] = visitor.get(f"systems/{self.own['slug']}")
            self.replies["audit"] = visitor.get("audit")

    def _refuse(self, name: str, order: dict[str, Any]) -> None:
        """Sends an order that is to be refused; notes the number of runs before and after."""
        before = self.stage.count("evaluations_run")
        self.replies[name] = self.api.post("runs", json=order)
        self.counts[name] = (before, self.stage.count("evaluations_run"))

    def _at_once(self, path: str, body: dict[str, Any], **more: Any) -> list[Reply]:
        start = Barrier(2)

        def send(_number: int) -> Reply:
            with self.stage.api(self.own["key"]) as api:
                start.wait()
                return api.post(path, json=body, **more)

        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(send, range(2)))

    def _until(
        self, name: str, path: str, *, ended: tuple[str, ...], meanwhile: Callable[[], None] | None = None
    ) -> None:
        """Polls until the state is one of ``ended``."""
        limit, states = time.monotonic() + PATIENCE, self.seen.setdefault(name, [])
        while not states or states[-1]["status"] not in ended:
            self.stage.processes.check()
            assert time.monotonic() < limit, states[-1:]
            reply = self.api.get(path)
            assert reply.is_success, reply.text
            states.append(reply.json())
            if meanwhile:
                meanwhile()
            time.sleep(0.3)

    def _next_events(self) -> None:
        after = self.events[-1]["number"] if self.events else 0
        self.events += self.api.get(f"runs/{self.id_of('full')}/events?after={after}").json()["events"]
