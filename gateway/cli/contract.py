"""`sentinel contract`: whether contracts say what they seem to, what they say of a resource, what an edit would do, and a draft of one."""

import json
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.client import call_api, identity
from gateway.cli.config import config_file
from gateway.cli.options import As, Config, Json, time_of
from gateway.cli.output import answer, console, fail, run, safe, show_json
from gateway.cli.policy_replay import ReplayFormat, ReplayOptions, replayed, show_replay
from gateway.core.errors import CodeInvalid, SentinelError
from gateway.core.records.record import Stage

if TYPE_CHECKING:
    from gateway.core.settings.stacks import StackSettings
    from gateway.terraform.origins import CodeOrigin
    from gateway.terraform.stack import Stack

_PAGE = 1000
"""Records in one answer."""
_MOST_NAMED = 10

contract_app = typer.Typer(
    add_completion=False, help="Check, explain, replay and draft contracts (`*.sentinel.hcl`).", no_args_is_help=True
)


@contract_app.callback()
def contract() -> None:
    """Check, explain, replay and draft contracts."""


@contract_app.command("check")
def check_command(
    path: Annotated[
        Path | None,
        typer.Argument(
            help="A stack's directory, as it is on disk. Default: the stacks of the settings, else this directory."
        ),
    ] = None,
    *,
    ref: Annotated[str, typer.Option(help="The branch or commit to check, instead of the files on disk.")] = "",
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Check the contracts of stacks: misspelt names, types and resources that no stack has, conditions without effect.

    A resource that only a remote state records counts as one that the stack does not have. Exit code 0: no mistake. 1: there are mistakes.
    """
    try:
        found = [_checked(source, ref) for source in _stacks(path, config)]
    except SentinelError as error:
        fail(error, as_json=as_json)
    mistakes = any(each["mistakes"] for each in found)
    if as_json:
        show_json({"stacks": found})
    else:
        for each in found:
            _show(each)
    raise typer.Exit(1 if mistakes else 0)


@contract_app.command("init")
def init_command(
    path: Annotated[Path, typer.Argument(help="The stack's directory.")] = Path(),
    *,
    name: Annotated[str, typer.Option(help="Name of the contract. Default: that of the directory.")] = "",
    owner: Annotated[str, typer.Option(help="The team that owns the resources.")] = "",
    since: Annotated[str, typer.Option(help="From when on the gateway's records are read, as in `30d`.")] = "30d",
    offline: Annotated[bool, typer.Option("--offline", help="Ask no gateway what was changed.")] = False,
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Print a draft of a contract, from code and state, and from what was changed lately through the gateway and past it.

    What was changed is proposed for agents, numbers and few texts within the values that were seen. What stores data is protected from deletion.
    """
    drafted = answer(_drafted(path.resolve(), name, owner, None if offline else since, actor), as_json=as_json)
    sys.stdout.write(drafted["contract"])


@contract_app.command("explain")
def explain_command(
    address: Annotated[str, typer.Argument(help="The resource, e.g. `aws_autoscaling_group.workers`.")],
    path: Annotated[Path, typer.Argument(help="The stack's directory, as it is on disk.")] = Path(),
    *,
    ref: Annotated[str, typer.Option(help="The branch or commit to explain, instead of the files on disk.")] = "",
    as_json: Json = False,
) -> None:
    """Explain what the contracts say of a resource: who may do what with it, and each bound as it is evaluated for the recorded state.

    It reads the code and a local state, and asks no gateway. `sentinel context` shows the same of a running gateway, with live values.
    """
    from gateway.core.settings.stacks import StackSettings

    try:
        explained = _explained(StackSettings(name="checked", path=path), ref, address)
    except SentinelError as error:
        fail(error, as_json=as_json)
    if as_json:
        show_json(explained)
        return
    for line in _explanation(explained):
        console.print(safe(line))


@contract_app.command("replay")
def replay_command(
    contracts: Annotated[
        str, typer.Argument(help="The stack's directory with the edited contracts, or a branch, tag or commit.")
    ] = ".",
    *,
    stack: Annotated[str, typer.Option(help="The stack that they are of; only its decisions are replayed.")] = "",
    since: Annotated[str, typer.Option(help="From when on: an age (`7d`) or a time. Default: everything.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="At most so many decisions, the newest. Default: all.")] = 2**62,
    output: Annotated[ReplayFormat, typer.Option("--format", help="How to print the report.")] = ReplayFormat.TEXT,
    stack_root: Annotated[
        str, typer.Option(help="Path of the stack in its repository, for the places of contracts in SARIF.")
    ] = "",
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Judge every recorded change by edited contracts again, under the policies in force: `sentinel policy replay --contracts`.

    Exit code 0: every verdict would be the same. 2: some would be others. 1: nothing was replayed.
    """
    as_json = as_json or output in (ReplayFormat.JSON, ReplayFormat.SARIF)
    wanted = ReplayOptions(policies=None, contracts=contracts, since=since, stack=stack, limit=limit)
    show_replay(run(replayed(None, actor, wanted), as_json=as_json), output, roots=("", stack_root), as_json=as_json)


def _explained(source: "StackSettings", ref: str, address: str) -> dict[str, Any]:
    """What the contracts say of the resource. Raises `errors.CodeInvalid`, `errors.NotFound`."""
    from gateway.core.errors import NotFound
    from gateway.terraform.contracts.bounds import CONDITION

    stack = _loaded(source, _origin(source, ref))
    if not stack.knows(address):
        near = get_close_matches(address, list(dict.fromkeys(stack.addresses)), n=3)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise NotFound(f"Neither the code nor the state in {source.path} has {address[:200]}.{hint}")
    found, recorded = stack.contract(address), stack.recorded(address)
    known = recorded or {}
    bounds = [
        {"attribute": each.attribute, "name": each.name, "limit": each.limit, "source": each.source, "unknown": each.unknown, "message": each.message}
        for each in found.evaluate(known, known)
    ]  # fmt: skip
    return {
        "address": address,
        "declared": stack.code.source_of(address),
        "recorded": recorded is not None,
        "owner": found.owner,
        "source": found.source,
        "blocks": [
            {"source": each.source, "allow_delete": each.allow_delete, "allow_invoke": sorted(each.allow_invoke)}
            for each in found.grants
        ],
        "managed_by_agent": found.managed_by_agent,
        "mutable": list(found.mutable),
        "immutable": list(found.immutable),
        "critical": found.critical,
        "prevent_delete": found.prevent_delete,
        "bounds": [each for each in bounds if each["name"] != CONDITION],
        "conditions": [each for each in bounds if each["name"] == CONDITION],
        "dependants": [each.address for each in stack.dependants(address)],
    }


def _explanation(found: dict[str, Any]) -> Iterator[str]:
    """The same in sentences."""
    from gateway.terraform.contracts.bounds import shown

    address, blocks = found["address"], [each["source"] for each in found["blocks"]]
    yield f"{address} ({found['declared'] or 'only in the state'}):"
    yield f"  Contract blocks: {', '.join(blocks)}." if blocks else "  No contract names it."
    if found["owner"]:
        yield f"  Its owner is {found['owner']}."
    if not found["managed_by_agent"]:
        why = (
            f"the block at {found['source']} does not say managed_by_agent"
            if blocks
            else "no contract says managed_by_agent"
        )
        yield f"  Agents may not touch it: {why}."
    else:
        bounded = [each["attribute"] for each in found["bounds"]]
        names = list(dict.fromkeys((*bounded, *found["mutable"])))
        yield f"  Agents may set {', '.join(names)}." if names else "  Agents may set nothing."
        deletes = all(each["allow_delete"] for each in found["blocks"])
        granted = set[str].intersection(*(set(each["allow_invoke"]) for each in found["blocks"]))
        yield f"  Agents may {'' if deletes else 'not '}delete it, and may invoke {', '.join(sorted(granted)) or 'nothing'}."
    for each in found["bounds"]:
        limit = f"cannot be evaluated: {each['unknown']}" if each["unknown"] else f"is {shown(each['limit'])}"
        yield f"  {each['name']} of {each['attribute']} {limit} ({each['source']})."
    for each in found["conditions"]:
        state = each["unknown"] or ("holds now" if each["limit"] is True else "does not hold now")
        yield f"  A condition {state} ({each['source']}){': ' + each['message'] if each['message'] else ''}"
    for name in found["immutable"]:
        yield f"  Nobody sets {name} by a call."
    if found["prevent_delete"]:
        yield "  Nobody deletes it."
    if found["critical"]:
        yield "  It is critical: an agent's unbounded change of what it depends on is held."
    if found["dependants"]:
        yield f"  {len(found['dependants'])} resources depend on it: {', '.join(found['dependants'][:_MOST_NAMED])}{' …' if len(found['dependants']) > _MOST_NAMED else ''}"
    if not found["recorded"]:
        yield "  No state records it, so the bounds are evaluated for what the code declares."


async def _drafted(path: Path, name: str, owner: str, since: str | None, actor: str | None) -> dict[str, Any]:
    """Raises `errors.CodeInvalid`, and what `call_api` raises."""
    from gateway.core.settings.stacks import StackSettings
    from gateway.policy.bundle import SHIPPED, read_bundle
    from gateway.policy.sources import shipped
    from gateway.terraform.contracts.draft import draft_contract, seen_changes

    source = StackSettings(name=name or path.name, path=path)
    stack = _loaded(source, _origin(source, ""))
    bodies = [] if since is None else [body async for body in _recorded(actor, time_of(since))]
    stores = json.loads(read_bundle(shipped() / SHIPPED).data)["data"]["data_loss"]["stores"]
    changes = seen_changes(bodies)
    text = draft_contract(name or path.name, owner, stack.addresses, changes, stores)
    return {"contract": text, "changes": len(changes)}


async def _recorded(actor: str | None, since: datetime | None) -> AsyncIterator[dict[str, Any]]:
    """The bodies of decisions and of drift since then."""
    caller = identity(actor, default="human")
    start = {"since": since.isoformat()} if since else {}
    for stage in (Stage.DECIDED, Stage.DRIFTED):
        before = 0
        while True:
            query = {"stage": stage.value, "limit": str(_PAGE), "before_seq": str(before), **start}
            page = (await call_api(caller, "GET", "/records", member="records", query=query))["records"]
            for record in page:
                yield record["body"]
            if len(page) < _PAGE:
                break
            before = page[-1]["seq"]


def _stacks(path: Path | None, config: Path | None) -> "Sequence[StackSettings]":
    """Raises `errors.SettingsInvalid`."""
    from gateway.core.settings import StackSettings, read_settings

    file = None if path is not None else config_file(config)
    configured = read_settings(file).stacks if file is not None else ()
    return configured or (StackSettings(name="checked", path=path or Path()),)


def _checked(source: "StackSettings", ref: str) -> dict[str, Any]:
    """The mistakes in one stack's contracts, as sentences with file and line."""
    root = source.path
    found: dict[str, Any] = {"stack": source.name, "path": str(root), "ref": ref, "mistakes": []}
    origin = _origin(source, ref)
    try:
        stack = _loaded(source, origin)
    except CodeInvalid as error:
        return {**found, "mistakes": [str(error)]}
    missing = [each.sentence for each in stack.missing_targets]
    told = {sentence.partition(": ")[0] for sentence in missing}
    return {**found, "mistakes": [*missing, *(each for each in stack.warnings if each.partition(": ")[0] not in told)]}


def _origin(source: "StackSettings", ref: str) -> "CodeOrigin":
    """Where the code is read: on disk, or at a branch or commit. Raises `errors.CodeInvalid` if there is none."""
    from gateway.terraform.origins import WorkingTree, code_origin

    tree = WorkingTree(root=source.path, workspace=source.workspace)
    return code_origin(source.path, ref, source.workspace) if ref else tree


def _loaded(source: "StackSettings", origin: "CodeOrigin") -> "Stack":
    """The stack with the code of the origin. Raises `errors.CodeInvalid`."""
    from gateway.terraform.stack import stack_of
    from gateway.terraform.state import State, parse_state

    code, _ = origin.load()
    file = source.state or source.path / "terraform.tfstate"
    state = parse_state(file.read_bytes(), file.name) if file.is_file() else State()
    return stack_of(source, source.region, code, state, "")


def _show(checked: dict[str, Any]) -> None:
    where = f"{checked['path']} at {checked['ref']}" if checked["ref"] else checked["path"]
    if not checked["mistakes"]:
        console.print(safe(f"{checked['stack']} ({where}): the contracts are right."))
    for mistake in checked["mistakes"]:
        console.print(safe(f"{checked['stack']}: {mistake}"))
