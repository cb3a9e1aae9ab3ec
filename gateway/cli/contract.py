"""`sentinel contract check` and `init`: whether the contracts of a stack say what they seem to, and a draft of one."""

import json
import sys
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.client import call_api, identity
from gateway.cli.config import config_file
from gateway.cli.options import As, Config, Json, time_of
from gateway.cli.output import answer, console, fail, safe, show_json
from gateway.core.errors import CodeInvalid, SentinelError
from gateway.core.records.record import Stage
from gateway.core.settings.stacks import StackSettings

if TYPE_CHECKING:
    from gateway.terraform.origins import CodeOrigin
    from gateway.terraform.stack import Stack

_PAGE = 1000
"""Records in one answer."""

contract_app = typer.Typer(
    add_completion=False, help="Check and draft contracts (`*.sentinel.hcl`).", no_args_is_help=True
)


@contract_app.callback()
def contract() -> None:
    """Check and draft contracts."""


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


async def _drafted(path: Path, name: str, owner: str, since: str | None, actor: str | None) -> dict[str, Any]:
    """Raises `errors.CodeInvalid`, and what `call_api` raises."""
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


def _stacks(path: Path | None, config: Path | None) -> Sequence[StackSettings]:
    """Raises `errors.SettingsInvalid`."""
    from gateway.core.settings import read_settings

    file = None if path is not None else config_file(config)
    configured = read_settings(file).stacks if file is not None else ()
    return configured or (StackSettings(name="checked", path=path or Path()),)


def _checked(source: StackSettings, ref: str) -> dict[str, Any]:
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


def _origin(source: StackSettings, ref: str) -> "CodeOrigin":
    """Where the code is read: on disk, or at a branch or commit. Raises `errors.CodeInvalid` if there is none."""
    from gateway.terraform.origins import WorkingTree, code_origin

    tree = WorkingTree(root=source.path, workspace=source.workspace)
    return code_origin(source.path, ref, source.workspace) if ref else tree


def _loaded(source: StackSettings, origin: "CodeOrigin") -> "Stack":
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
