"""`sentinel effects learn`, `list` and `accept`: rows for operations that were approved and applied without being understood."""

import asyncio
import getpass
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.config import config_file, require_ledger, settings_or_exit
from gateway.cli.options import Config, Json
from gateway.cli.output import console, log_to_stderr, run, safe, show_json, show_table
from gateway.core.errors import SentinelError, SettingsInvalid
from gateway.core.times import SystemClock

if TYPE_CHECKING:
    from gateway.core.ports import LedgerQueries
    from gateway.core.records.decided import RecordedCall
    from gateway.core.settings import Settings
    from gateway.effects.learning import Observed
    from gateway.effects.proposals import StoredProposal
    from gateway.terraform.stacks import Stacks

_MOST_RECORDS = 2_000
"""Decisions that are looked through if no mutation is named."""
_MOST_RESOURCES = 20
"""Resources that are read for one call. One that may concern more says too little."""


class NotObserved(SentinelError):
    """The reconciler could not read what is live."""

    code = "not_observed"


def learn(
    mutations: Annotated[
        list[str] | None,
        typer.Argument(
            help="Applied mutations to learn from. Default: the newest that a person approved and nobody understood."
        ),
    ] = None,
    *,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Read back what applied calls did that nobody understood, and propose rows for their operations. No proposal is in force.

    Run it on the host of the gateway, soon after the call: what is live is compared with the state file. Exit code 0, also if nothing was learned.
    """
    file = config_file(config)
    settings = settings_or_exit(file, as_json=as_json)
    found = run(_learn(settings, file, tuple(mutations or ())), as_json=as_json)
    if as_json:
        show_json({"learned": found})
        return
    for each in found:
        said = f"proposed as {each['proposal']}" if each["proposal"] else each["reason"]
        console.print(safe(f"{each['mutation']} ({each['operation']}): {said}"))
    if not found:
        console.print("No applied call is left that a person approved and nobody understood.")
    elif any(each["proposal"] for each in found):
        console.print("`sentinel effects list` shows the proposals with their evidence.")


def list_(*, config: Config = None, as_json: Json = False) -> None:
    """Show the proposed rows with what speaks for each, and who accepted which."""
    from gateway.effects.proposals import Proposals

    found = Proposals(settings_or_exit(config_file(config), as_json=as_json).data).all()
    if as_json:
        show_json({"proposals": [_to_json(each) for each in found]})
        return
    show_table("Proposals", _COLUMNS, [_cells(each) for each in found])
    for each in found:
        console.print(safe(f"{each.id}, from {', '.join(each.mutations)}:"))
        for sentence in each.evidence:
            console.print(safe(f"  {sentence}"))


def accept(
    proposal: Annotated[str, typer.Argument(help="Id of the proposal, eff_….")],
    *,
    by: Annotated[str, typer.Option(help="Who accepts it. Default: the user of the operating system.")] = "",
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Write a proposed row into the directory `effects.learned`, whose changes are reviewed as code. The gateway reads it at its next start."""
    found = run(_accept(settings_or_exit(config_file(config), as_json=as_json), proposal, by), as_json=as_json)
    if as_json:
        show_json(found)
        return
    console.print(
        safe(
            f"{proposal} is in {found['file']}, accepted by {found['by']}. Review and commit it, then restart the gateway."
        )
    )


async def _accept(settings: "Settings", proposal: str, by: str) -> dict[str, Any]:
    from gateway.effects.proposals import Proposals

    if settings.effects.learned is None:
        raise SettingsInvalid(
            "The setting effects.learned names no directory for accepted rows; set one that is under review."
        )
    user = getpass.getuser()
    # Anybody may say any name here. Who was signed in on the host is kept beside it.
    name = by if by in ("", user) else f"{by} (signed in as {user})"
    name = name or user
    path = Proposals(settings.data).accept(proposal, settings.effects.learned, by=name, at=SystemClock().now())
    return {"proposal": proposal, "file": str(path), "by": name}


# Learning ---------------------------------------------------------------------------------------------------------


async def _learn(settings: "Settings", config: Path | None, mutations: tuple[str, ...]) -> list[dict[str, Any]]:
    log_to_stderr()
    from gateway.ledger.sealed_ledger import open_sealed_ledger
    from gateway.terraform.stacks import Stacks

    require_ledger(settings)
    async with open_sealed_ledger(settings) as ledger:
        calls = await _calls(ledger, mutations)
    stacks = await asyncio.to_thread(
        Stacks.load, settings.stacks, default_mode=settings.mode, default_region=settings.upstream.default_region
    )
    return [await _learn_one(settings, config, stacks, mutation, call) for mutation, call in calls]


async def _calls(ledger: "LedgerQueries", mutations: tuple[str, ...]) -> list[tuple[str, "RecordedCall | str"]]:
    """Each mutation with its call, or the reason why there is nothing to learn from it."""
    from gateway.core.ports import RecordQuery
    from gateway.core.records.decided import DecidedBody
    from gateway.core.records.record import Stage

    if mutations:
        return [(each, await _call_of(ledger, each)) for each in mutations]
    records = await ledger.records(RecordQuery(stage=Stage.DECIDED, limit=_MOST_RECORDS))
    found: list[tuple[str, RecordedCall | str]] = []
    for record in records:
        body = record.body
        if isinstance(body, DecidedBody) and body.decision.consent and body.decision.carried_out and not body.effects:
            call = await _call_of(ledger, record.mutation_id)
            found += [] if isinstance(call, str) else [(record.mutation_id, call)]
    return found


async def _call_of(ledger: "LedgerQueries", mutation: str) -> "RecordedCall | str":
    from gateway.core.ports import RecordQuery
    from gateway.core.records.decided import DecidedBody
    from gateway.core.records.settled import SettledBody

    bodies = [record.body for record in await ledger.records(RecordQuery(mutation_id=mutation))]
    decided = next((each for each in bodies if isinstance(each, DecidedBody)), None)
    if decided is None:
        return "The ledger has no such mutation."
    if decided.effects:
        return "Sentinel understood it."
    if not any(isinstance(each, SettledBody) and each.outcome == "applied" for each in bodies):
        return "It was not applied. Name the repeated call, not the one that was held."
    return decided.call


async def _learn_one(
    settings: "Settings", config: Path | None, stacks: "Stacks", mutation: str, call: "RecordedCall | str"
) -> dict[str, Any]:
    from gateway.effects.learning import propose
    from gateway.effects.proposals import Proposals

    if isinstance(call, str):
        return {"mutation": mutation, "operation": "", "proposal": None, "reason": call}
    found: dict[str, Any] = {"mutation": mutation, "operation": call.name, "proposal": None, "reason": ""}
    named = _named(stacks, call)
    count = sum(map(len, named.values()))
    if not count or count > _MOST_RESOURCES:
        how_many = "no resource" if not count else f"more than {_MOST_RESOURCES} resources"
        return {**found, "reason": f"It names {how_many} of its service in the state of a stack."}
    try:
        observed = [each for stack, addresses in named.items() for each in await _observed(config, stack, addresses)]
    except NotObserved as error:
        return {**found, "reason": str(error)}
    proposal = propose(call.service, call.operation, call.parameters, observed, mutation=mutation)
    if proposal is None:
        return {**found, "reason": "Not exactly one of the resources that it names differs from the state now."}
    return {**found, "proposal": Proposals(settings.data).add(proposal).id}


def _named(stacks: "Stacks", call: "RecordedCall") -> dict[str, list[str]]:
    """Stack → the addresses of its recorded resources that the call may concern."""
    from gateway.effects.learning import may_concern
    from gateway.terraform.address import type_of_named

    found: dict[str, list[str]] = {}
    for stack in stacks.all:
        for address, resource in stack.state.resources.items():
            if may_concern(call.service, call.parameters, type_of_named(address), resource.attributes):
                found.setdefault(stack.name, []).append(address)
    return found


async def _observed(config: Path | None, stack: str, addresses: Sequence[str]) -> "list[Observed]":
    """The resources as the state has them and as they are now, from the reconciler. Raises `NotObserved`.

    The gateway does not import the reconciler, so this is a process of its own; it is asked with names only, and leaves secrets out.
    """
    from gateway.effects.learning import Observed

    given = ["--config", str(config)] if config else []
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "reconciler", "observe", *given, "--", stack, *addresses,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    output, _ = await process.communicate()
    try:
        answer = json.loads(output)
        resources = answer["resources"] if process.returncode == 0 else None
        detail = "" if resources is not None else str(answer["detail"])
    except (ValueError, KeyError, TypeError):
        resources, detail = None, "it ended without an answer"
    if resources is None:
        raise NotObserved(f"What is live in {stack} could not be read: {detail.rstrip('.')}.")
    return [
        Observed(address=each["address"], resource_type=each["type"], before=each["before"], after=each["after"])
        for each in resources
    ]


# Showing ----------------------------------------------------------------------------------------------------------

_COLUMNS = ("id", "operation", "type", "does", "confidence", "named by", "attributes", "accepted by")


def _cells(stored: "StoredProposal") -> list[str]:
    row = stored.row
    return [
        stored.id,
        f"{stored.service}:{row['operation']}",
        row["type"],
        ", ".join(row["actions"]),
        row["confidence"],
        ", ".join(row.get("identity", {})),
        ", ".join(row.get("attributes", {})),
        stored.accepted_by,
    ]


def _to_json(stored: "StoredProposal") -> dict[str, Any]:
    return {
        "id": stored.id,
        "service": stored.service,
        "row": stored.row,
        "mutations": list(stored.mutations),
        "evidence": list(stored.evidence),
        "accepted_by": stored.accepted_by,
        "accepted_at": stored.accepted_at,
    }
