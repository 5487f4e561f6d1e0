"""``python -m evaluations.engine run | verify | compare``."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.text import Text

from benchmarks.packs.files import Pack, PackError, open_pack
from evaluations.engine.bundle import BundleError, compare_bundles, verify_bundle
from evaluations.engine.bundle.signing import local_key
from evaluations.engine.check_cli import UsageError, build_endpoint
from evaluations.engine.client import HttpMemoryService
from evaluations.engine.contract import Limits
from evaluations.engine.folder import BUNDLE, FolderRefused, RunIdentity
from evaluations.engine.journal import JournalDamaged
from evaluations.engine.local_arms import ARMS, connect_arm
from evaluations.engine.local_run import Connect, LocalRun, RunReport, contract_of, run_locally
from evaluations.engine.models import OPENAI_URL
from evaluations.engine.offline import ANSWER_MODEL, JUDGE_MODEL
from evaluations.engine.progress import RunProgress
from evaluations.engine.run import RunSettings
from evaluations.engine.tables import comparison_table, score_table
from evaluations.engine.types import AuthScheme, MemoryService, ModelSettings, Secret

DONE, NOT_DONE, REFUSED = 0, 1, 2


def configure_run(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``run``; keys are never among them."""
    parser.add_argument("--pack", required=True, metavar="DIR|ZIP|NAME", help="what is run")
    parser.add_argument(
        "--smoke-pack",
        metavar="DIR|ZIP|NAME",
        help="the Smoke pack that the contract names beside --pack, which seeds the intervals: give a cycle's to "
        "get the hash and the figures that the platform gets; default: the pack itself",
    )
    parser.add_argument("--out", required=True, type=Path, metavar="DIR")
    parser.add_argument("--add-url")
    parser.add_argument("--search-url")
    parser.add_argument("--health-url")
    parser.add_argument("--status-url", help="Add-status URL that holds {task_id}; approves 202")
    parser.add_argument("--auth", choices=[scheme.value for scheme in AuthScheme], default="none")
    parser.add_argument("--key-env", metavar="NAME", help="environment variable that holds the memory key")
    parser.add_argument("--arm", choices=ARMS, help="run a baseline in this process instead of a service")
    parser.add_argument("--smoke", action="store_true", help="two samples of the pack only")
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out")
    parser.add_argument("--concurrency-add", type=_between(1, 64), default=8, metavar="N")
    parser.add_argument("--concurrency-search", type=_between(1, 256), default=16, metavar="N")
    _configure_models(parser)
    parser.add_argument("--signing-key", type=Path, default=default_key_path(), metavar="FILE")
    parser.set_defaults(func=run_main)


def _configure_models(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--answer-model", default=ANSWER_MODEL, metavar="NAME")
    parser.add_argument("--judge-model", default=JUDGE_MODEL, metavar="NAME")
    parser.add_argument("--answer-base-url", metavar="URL", help="OpenAI-compatible; default OPENAI_BASE_URL")
    parser.add_argument("--judge-base-url", metavar="URL", help="default: the answer model's")
    parser.add_argument("--model-key-env", default="OPENAI_API_KEY", metavar="NAME")
    parser.add_argument("--concurrency-models", type=_between(1, 256), default=8, metavar="N")
    parser.add_argument(
        "--model-attempts", type=_between(1, 1000), default=20, metavar="N", help="then an ask stays open"
    )


def configure_verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundle", type=Path, metavar="BUNDLE")
    parser.add_argument(
        "--trusted-key",
        action="append",
        metavar="ID",
        help="key id of a platform; repeatable",
    )
    parser.set_defaults(func=verify_main)


def configure_compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", type=Path, metavar="BUNDLE")
    parser.add_argument("second", type=Path, metavar="BUNDLE")
    parser.set_defaults(func=compare_main)


def default_key_path() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "aml" / "signing-key"


def run_main(args: argparse.Namespace) -> int:
    """0: every ask is settled; 1: some are open, ``--resume`` goes on; 2: it could not run."""
    console = Console(stderr=True)
    try:
        plan = _plan(args)
        console.print(f"Contract {contract_of(plan).hash}", soft_wrap=True)
        report = asyncio.run(
            run_locally(plan, watch=lambda run, ledger: RunProgress(run, ledger, console=console))
        )
    except (UsageError, FolderRefused, JournalDamaged, PackError, OSError) as error:
        console.print(Text(f"The run could not start: {error}", style="bold red"))
        return REFUSED
    except KeyboardInterrupt:
        console.print(f"Interrupted. Go on with --resume --out {args.out}")
        return NOT_DONE
    _show(report, plan=plan)
    return DONE if report.outcome is not None else NOT_DONE


def verify_main(args: argparse.Namespace) -> int:
    """0 only if everything agrees."""
    report = verify_bundle(bundle_in(args.bundle), trusted_keys=args.trusted_key)
    print("\n".join(report.lines))
    print("The bundle agrees in every figure." if report.ok else "The bundle does NOT agree.")
    return DONE if report.ok else NOT_DONE


def compare_main(args: argparse.Namespace) -> int:
    """0: compared; 1: a bundle does not agree with itself; 2: the two can't be paired."""
    paths = [bundle_in(path) for path in (args.first, args.second)]
    for path in paths:
        report = verify_bundle(path)
        if not report.ok:
            print(f"{path} does not verify:", *(line for line in report.lines if "WRONG" in line), sep="\n")
            return NOT_DONE
    try:
        compared = compare_bundles(*paths)
    except BundleError as error:
        print(error, file=sys.stderr)
        return REFUSED
    Console(highlight=False).print(comparison_table(compared))
    for note in compared.notes:
        print(f"Note: {note}")
    return DONE


def bundle_in(path: Path) -> Path:
    """A bundle, or the sealed one in a run's folder."""
    return path / BUNDLE if (path / BUNDLE).is_dir() else path


def _plan(args: argparse.Namespace) -> LocalRun:
    pack = open_pack(args.pack)
    settings = RunSettings(
        concurrency_add=args.concurrency_add,
        concurrency_search=args.concurrency_search,
        concurrency_models=args.concurrency_models,
        model_attempts=args.model_attempts,
    )
    connect, target = _target(args, pack=pack, limits=settings.limits)
    return LocalRun(
        pack=pack,
        connect=connect,
        target=target,
        answer_model=_model(args, "answer", limit=pack.manifest.answer.max_output_tokens),
        judge_model=_model(args, "judge", limit=pack.manifest.judge.max_output_tokens),
        out=args.out,
        key=local_key(args.signing_key),
        settings=settings,
        smoke=args.smoke,
        smoke_pack=open_pack(args.smoke_pack) if args.smoke_pack else None,
        resume=args.resume,
        control=args.arm is not None,
    )


def _target(args: argparse.Namespace, *, pack: Pack, limits: Limits) -> tuple[Connect, str]:
    if args.arm is not None:
        if args.add_url or args.search_url:
            raise UsageError("--arm runs in this process: leave out --add-url and --search-url")
        return connect_arm(args.arm, pack=pack, out=args.out), f"arm {args.arm}"
    if not args.add_url or not args.search_url:
        raise UsageError("--add-url and --search-url are needed, or --arm for a baseline")
    endpoint = build_endpoint(args)

    def connect(_identity: RunIdentity) -> MemoryService:
        return HttpMemoryService(endpoint, track=pack.manifest.track.value, limits=limits)

    return connect, f"{args.add_url} {args.search_url}"


def _model(args: argparse.Namespace, role: str, *, limit: int) -> ModelSettings:
    name = args.answer_model if role == "answer" else args.judge_model
    bare = ModelSettings(name=name, max_output_tokens=limit)
    told = args.answer_base_url if role == "answer" else args.judge_base_url or args.answer_base_url
    if bare.offline and told is None:
        return bare
    key = os.environ.get(args.model_key_env)
    if not key and not bare.offline:
        raise UsageError(f"model {name} needs a key in the environment variable {args.model_key_env}")
    return ModelSettings(
        name=name,
        base_url=told or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL,
        api_key=Secret(key) if key else None,
        max_output_tokens=limit,
    )


def _show(report: RunReport, *, plan: LocalRun) -> None:
    console = Console(highlight=False)
    console.print(score_table(report, pack=plan.pack))
    if report.offline:
        console.print("Offline models: deterministic stand-ins, not a language model. Unofficial.")
    else:
        console.print("A self-run: unofficial.")
    if report.stopped:
        console.print(f"Stopped: {report.stopped}.")
    if report.outcome is None:
        console.print(f"Some asks are open. Go on with --resume --out {plan.out}")
    console.print(f"Contract: {report.contract_hash}", soft_wrap=True)
    console.print(f"Bundle: {report.bundle} (sealed), {report.public_bundle} (public)", soft_wrap=True)


def _between(low: int, high: int) -> Callable[[str], int]:
    def integer(text: str) -> int:
        value = int(text)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{value} is not from {low} to {high}")
        return value

    return integer
