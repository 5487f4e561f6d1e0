"""The engine dressed for one run: its service, its models, its ids."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from evaluations.engine.client import HttpMemoryService
from evaluations.engine.contract import user_agent
from evaluations.engine.models import OPENAI_URL, build_model
from evaluations.engine.steps import UnitExecutor
from evaluations.engine.types import AuthScheme, ChatModel, Endpoint, ModelSettings, Secret
from evaluations.models import EvaluationContract, Run
from evaluations.models.ledger import KindChoice
from evaluations.records.flows import limits_of
from evaluations.runner.work import Done, Work, broken
from registration.crypto import reveal_memory_key
from registration.models import Version

log = logging.getLogger(__name__)
VERSION = "1"


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a shell is built from, read in the database's thread. Holds a secret: never log it."""

    run: Run
    endpoint: Endpoint
    answer: ModelSettings
    judge: ModelSettings
    key_set_at: datetime | None


def recipe(run_id: int) -> Recipe:
    run = Run.objects.select_related("version__entry__registration__cycle", "contract", "pack").get(pk=run_id)
    return Recipe(
        run=run,
        endpoint=endpoint_of(run.version, frozen=run.spec["endpoint"]),
        answer=model_settings(run.contract, role="answer"),
        judge=model_settings(run.contract, role="judge"),
        key_set_at=run.version.memory_key_set_at,
    )


def endpoint_of(version: Version, *, frozen: dict[str, str]) -> Endpoint:
    """URLs and scheme as accepted; the memory key as it is now, since it may be rotated."""
    key = reveal_memory_key(version) if version.memory_key_encrypted else ""
    return Endpoint(
        add_url=frozen["add_url"],
        search_url=frozen["search_url"],
        health_url=frozen.get("health_url") or None,
        status_url=frozen.get("status_url") or None,
        auth=AuthScheme(frozen["auth_scheme"]),
        key=Secret(key) if key else None,
        allow_private=settings.ALLOW_PRIVATE_ENDPOINTS,
        allow_http=version.entry.registration.cycle.allow_plain_http,
    )


def platform_agent() -> str:
    """The User-Agent of every call that this platform makes, checks and runs alike."""
    return user_agent(version=VERSION, site_url=settings.SITE_URL)


def model_settings(contract: EvaluationContract, *, role: str) -> ModelSettings:
    """Name and parameters from the contract, address and key from the environment."""
    chosen = contract.answer_model if role == "answer" else contract.judge_model
    offline = ModelSettings(name=chosen["name"]).offline
    return ModelSettings(
        name=chosen["name"],
        base_url=settings.OPENAI_BASE_URL or (None if offline else OPENAI_URL),
        api_key=Secret(settings.OPENAI_API_KEY) if settings.OPENAI_API_KEY else None,
        max_output_tokens=chosen["max_output_tokens"],
        temperature=chosen["temperature"],
        seed=chosen["seed"],
    )


class Shell:
    """Executes works of one run. Lives in the driver's loop."""

    def __init__(self, recipe: Recipe, *, answerer: ChatModel, judge: ChatModel) -> None:
        run = recipe.run
        self.key_set_at = recipe.key_set_at
        self.is_smoke = run.is_smoke
        self._memory = HttpMemoryService(
            recipe.endpoint,
            track=run.track,
            limits=limits_of(run),
            agent=platform_agent(),
        )
        self._executor = UnitExecutor(
            memory=self._memory,
            answerer=answerer,
            judge_model=judge,
            answer_template=run.pack.answer_prompt,
            judge_template=run.pack.judge_prompt,
            budget=run.pack.read_manifest().answer.input_budget_tokens,
            secret=bytes(run.secret),
            top_k=limits_of(run).top_k,
        )

    async def execute(self, work: Work) -> Done:
        """Never raises: what breaks around a call is ours, and the call is made again."""
        if work.unreadable:
            return Done(work, fault=broken())
        try:
            return await self._execute(work)
        except Exception as error:
            log.error("unit %s broke: %s", work.unit.pk, type(error).__name__, exc_info=settings.DEBUG)
            return Done(work, fault=broken())

    async def _execute(self, work: Work) -> Done:
        kind, question = work.unit.kind, work.question
        if kind == KindChoice.ADD and work.add is not None:
            exchange = await self._executor.add(work.add, sample=work.sample, event=work.event)
            return Done(work, exchange=exchange)
        if question is None:
            raise ValueError(f"{kind} unit without a question")
        if kind == KindChoice.SEARCH:
            return Done(work, exchange=await self._executor.search(question, sample=work.sample))
        if kind == KindChoice.ANSWER:
            answer = await self._executor.answer(question, ask=work.unit.ask, items=work.items)
            return Done(work, answer=answer)
        verdict = await self._executor.judge(question, ask=work.unit.ask, gold=work.gold, answer=work.answer)
        return Done(work, verdict=verdict)

    async def aclose(self) -> None:
        await self._memory.aclose()


class Models:
    """Chat models shared by all runs of a driver: one client per settings."""

    def __init__(self) -> None:
        self._built: dict[ModelSettings, ChatModel] = {}

    def get(self, chosen: ModelSettings) -> ChatModel:
        if chosen not in self._built:
            self._built[chosen] = build_model(chosen)
        return self._built[chosen]

    async def aclose(self) -> None:
        for model in self._built.values():
            await model.aclose()
