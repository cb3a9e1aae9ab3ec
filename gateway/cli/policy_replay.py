"""`sentinel policy replay`: which recorded verdicts would be others under edited policies."""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn

import typer

from gateway.cli.client import ApiRefused, call_api, identity
from gateway.cli.config import config_file, require_ledger, settings_or_exit
from gateway.cli.options import As, Config, Json, time_of
from gateway.cli.output import console, error_console, log_to_stderr, run, safe, show_json
from gateway.core.errors import CodeInvalid

if TYPE_CHECKING:
    from gateway.core.settings import Settings
    from gateway.policy.bundle import Bundle
    from gateway.policy.replay_contracts import ContractReplay
    from gateway.policy.replay_report import ReplayReport

FLIPPED: Final = 2
"""Exit code if a verdict would be another; 1 is an error."""
_TOO_MANY, _NOT_FOUND = 429, 404
_TRIES: Final = 60


class ReplayFormat(StrEnum):
    """How the report is printed."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    SARIF = "sarif"


Page = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""Asks for one page of the replay."""


def replay_command(
    *,
    since: Annotated[str, typer.Option(help="From when on: an age (`7d`) or a time. Default: everything.")] = "",
    policies: Annotated[
        Path | None, typer.Option(help="Directory of the edited policies. Default: those in force.")
    ] = None,
    contracts: Annotated[
        str,
        typer.Option(
            help="Judge by contracts again too: by those of a branch, tag or commit, or by the contract files of a stack's directory."
        ),
    ] = "",
    stack: Annotated[str, typer.Option(help="Only the decisions about this stack.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="At most so many decisions, the newest. Default: all.")] = 2**62,
    output: Annotated[ReplayFormat, typer.Option("--format", help="How to print the report.")] = ReplayFormat.TEXT,
    root: Annotated[str, typer.Option(help="Path of the policies in their repository, for the places in SARIF.")] = "",
    stack_root: Annotated[
        str, typer.Option(help="Path of the stack in its repository, for the places of contracts in SARIF.")
    ] = "",
    local: Annotated[
        bool, typer.Option("--local", help="Read the ledger of the settings, and not through the gateway.")
    ] = False,
    config: Config = None,
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Ask edited policies or contracts about every recorded change again, with the facts of then. Nothing is changed or comes into force.

    Exit code 0: every verdict would be the same. 2: some would be others; they are grouped by rule and actor. 1: nothing was replayed.
    """
    log_to_stderr()
    as_json = as_json or output in (ReplayFormat.JSON, ReplayFormat.SARIF)
    settings = settings_or_exit(config_file(config), as_json=as_json) if local else None
    asked = ReplayOptions(policies=policies, contracts=contracts, since=since, stack=stack, limit=limit)
    show_replay(
        run(replayed(settings, actor, asked), as_json=as_json), output, roots=(root, stack_root), as_json=as_json
    )


def show_replay(report: "ReplayReport", output: ReplayFormat, *, roots: tuple[str, str], as_json: bool) -> NoReturn:
    """Print the report and exit. `roots` are the paths of the policies and of the stack in their repositories."""
    if output is ReplayFormat.SARIF:
        show_json(report.sarif(root=roots[0], stack_root=roots[1]))
    elif as_json:
        show_json(report.to_json())
    elif output is ReplayFormat.MARKDOWN:
        sys.stdout.write(report.markdown())
    else:
        for line in report.lines():
            console.print(safe(line))
    raise typer.Exit(FLIPPED if report.flips else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """The decisions, policies and contracts that the options name."""

    policies: Path | None
    contracts: str
    """A revision or a directory; empty to keep what contracts said then."""
    since: str
    stack: str
    limit: int


async def replayed(settings: "Settings | None", actor: str | None, asked: ReplayOptions) -> "ReplayReport":
    """The report of all pages: of the ledger of the settings, else through the gateway. Raises a `SentinelError`."""
    from gateway.policy.replay import LARGEST_PAGE
    from gateway.policy.replay_report import ReplayReport

    start = time_of(asked.since)
    bundle = await asyncio.to_thread(_bundle, asked.policies) if asked.policies is not None else None
    contracts = await asyncio.to_thread(_contracts, asked)
    report, left, before = ReplayReport(), asked.limit, 0
    pages = _through_gateway(actor, bundle) if settings is None else _from_ledger(settings, bundle)
    async with pages as page_of:
        while left > 0:
            wanted = {"before_seq": before, "limit": min(left, LARGEST_PAGE), "stack": asked.stack}
            page = await page_of(wanted | ({"since": start.isoformat()} if start else {}) | contracts)
            report.add(page)
            left -= page["replayed"] + sum(page["not_replayed"].values())
            if page["next"] is None:
                break
            before = page["next"]
            _show_progress(report)
    return report


async def pages_of(actor: str | None, bundle: "Bundle", since: str) -> AsyncIterator[dict[str, Any]]:
    """Every page of the gateway's decisions since then, replayed under a bundle, newest first."""
    start, before = time_of(since), 0
    async with _through_gateway(actor, bundle) as page_of:
        while True:
            page = await page_of({"before_seq": before} | ({"since": start.isoformat()} if start else {}))
            yield page
            if page["next"] is None:
                return
            before = page["next"]


def _contracts(asked: ReplayOptions) -> dict[str, Any]:
    """The member `contracts` of the request; no member without contracts. Raises `errors.CodeInvalid`."""
    from gateway.terraform.contracts.contract import SUFFIX
    from gateway.terraform.origins import LARGEST_CONTRACT, MOST_CONTRACTS

    if not asked.contracts:
        return {}
    folder = Path(asked.contracts)
    if not folder.is_dir():
        return {"contracts": {"stack": asked.stack, "ref": asked.contracts}}
    paths = sorted(
        path
        for path in folder.rglob(f"*{SUFFIX}")
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    if not paths:
        raise CodeInvalid(f"There is no contract (*{SUFFIX}) in {folder}. Nothing was replayed.")
    if len(paths) > MOST_CONTRACTS or any(path.stat().st_size > LARGEST_CONTRACT for path in paths):
        raise CodeInvalid(
            f"{folder} has more than {MOST_CONTRACTS} contract files, or one of more than {LARGEST_CONTRACT} bytes. Nothing was replayed."
        )
    try:
        files = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    except (OSError, UnicodeDecodeError) as error:
        raise CodeInvalid(f"The contracts in {folder} cannot be read: {error}. Nothing was replayed.") from error
    return {"contracts": {"stack": asked.stack, "files": files, "alone": True}}


def _show_progress(report: "ReplayReport") -> None:
    """A line on a terminal, which the next one replaces."""
    if error_console.is_terminal:
        error_console.print(f"{report.replayed} decisions replayed, {report.flips} would be others …", end="\r")


def _bundle(policies: Path) -> "Bundle":
    """The bundle of the edited policies, built if need be. Raises `errors.PolicyInvalid`."""
    from gateway.policy.bundle import select_bundle

    with tempfile.TemporaryDirectory() as scratch:
        return select_bundle(policies, Path(scratch))


@asynccontextmanager
async def _through_gateway(actor: str | None, bundle: "Bundle | None") -> AsyncIterator[Page]:
    """Pages from the gateway, which is sent the bundle once, and again if it has closed it meanwhile."""
    from gateway.policy.replays import packed_bundle

    caller = identity(actor, default="human")
    sent = {"bundle": packed_bundle(bundle)} if bundle is not None else {}
    known = {"revision": bundle.revision} if bundle is not None else {}
    parts = [sent]

    async def page_of(wanted: Mapping[str, Any]) -> dict[str, Any]:
        for _ in range(_TRIES):
            try:
                page = await call_api(caller, "POST", "/replay", member="replayed", body={**wanted, **parts[0]})
            except ApiRefused as refusal:
                if refusal.status == _NOT_FOUND and parts[0] is known:
                    parts[0] = sent
                elif refusal.status == _TOO_MANY:
                    await asyncio.sleep(1)
                else:
                    raise
                last = refusal
            else:
                parts[0] = known
                return page
        raise last

    yield page_of


@asynccontextmanager
async def _from_ledger(settings: "Settings", bundle: "Bundle | None") -> AsyncIterator[Page]:
    """Pages from the ledger of the settings."""
    from gateway.core.garbage import collect_seldom
    from gateway.core.off_loop import hand_over_soon
    from gateway.ledger.sealed_ledger import open_sealed_ledger
    from gateway.policy.embedded import Embedded
    from gateway.policy.replay import ReplayRange, replay_page, replay_threads
    from gateway.policy.replay_contracts import ContractReplay
    from gateway.policy.sources import shipped

    require_ledger(settings)
    hand_over_soon()
    judges: list[ContractReplay] = []
    used = await asyncio.to_thread(_bundle, settings.policy.path or shipped()) if bundle is None else bundle
    engine = Embedded(used, deadline_ms=settings.policy.deadline_ms, memory_mb=settings.policy.memory_mb)
    try:
        with replay_threads() as threads:
            async with open_sealed_ledger(settings) as ledger:
                collect_seldom()

                async def page_of(wanted: Mapping[str, Any]) -> dict[str, Any]:
                    given = dict(wanted)
                    contracts = given.pop("contracts", None)
                    if contracts is not None and not judges:
                        judges.append(await asyncio.to_thread(_judge, settings, contracts))
                        collect_seldom()
                    since = {"since": datetime.fromisoformat(wanted["since"])} if "since" in wanted else {}
                    return await replay_page(
                        ledger, engine, threads, ReplayRange(**{**given, **since}), judges[0] if judges else None
                    )

                yield page_of
    finally:
        await engine.close()


def _judge(settings: "Settings", wanted: Mapping[str, Any]) -> "ContractReplay":
    """What judges by these contracts of the stacks of the settings. Raises `errors.CodeInvalid`."""
    from gateway.policy.replay_contracts import ContractReplay
    from gateway.terraform.origins import CodeEdit
    from gateway.terraform.stacks import Stacks

    edit = CodeEdit(
        stack=wanted["stack"],
        ref=wanted.get("ref", ""),
        contracts={path: text.encode() for path, text in wanted.get("files", {}).items()},
        alone=wanted.get("alone", False),
    )
    stacks = Stacks.load(settings.stacks, default_mode=settings.mode, default_region=settings.upstream.default_region)
    return ContractReplay(stacks=stacks.edited(edit))
