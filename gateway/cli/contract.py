"""`sentinel contract check`: whether the contracts of a stack say what they seem to, for continuous integration."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from gateway.cli.config import config_file
from gateway.cli.options import Config, Json
from gateway.cli.output import console, fail, safe, show_json
from gateway.core.errors import CodeInvalid, SentinelError
from gateway.core.settings.stacks import StackSettings

contract_app = typer.Typer(add_completion=False, help="Check contracts (`*.sentinel.hcl`).", no_args_is_help=True)


@contract_app.callback()
def contract() -> None:
    """Check contracts."""


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


def _stacks(path: Path | None, config: Path | None) -> Sequence[StackSettings]:
    """Raises `errors.SettingsInvalid`."""
    from gateway.core.settings import read_settings

    file = None if path is not None else config_file(config)
    configured = read_settings(file).stacks if file is not None else ()
    return configured or (StackSettings(name="checked", path=path or Path()),)


def _checked(source: StackSettings, ref: str) -> dict[str, Any]:
    """The mistakes in one stack's contracts, as sentences with file and line."""
    from gateway.terraform.origins import WorkingTree, code_origin
    from gateway.terraform.stack import stack_of
    from gateway.terraform.state import State, parse_state

    root = source.path
    found: dict[str, Any] = {"stack": source.name, "path": str(root), "ref": ref, "mistakes": []}
    origin = code_origin(root, ref, source.workspace) if ref else WorkingTree(root=root, workspace=source.workspace)
    try:
        code, _ = origin.load()
        file = source.state or root / "terraform.tfstate"
        state = parse_state(file.read_bytes(), file.name) if file.is_file() else State()
        stack = stack_of(source, source.region, code, state, "")
    except CodeInvalid as error:
        return {**found, "mistakes": [str(error)]}
    missing = [each.sentence for each in stack.missing_targets]
    told = {sentence.partition(": ")[0] for sentence in missing}
    return {**found, "mistakes": [*missing, *(each for each in stack.warnings if each.partition(": ")[0] not in told)]}


def _show(checked: dict[str, Any]) -> None:
    where = f"{checked['path']} at {checked['ref']}" if checked["ref"] else checked["path"]
    if not checked["mistakes"]:
        console.print(safe(f"{checked['stack']} ({where}): the contracts are right."))
    for mistake in checked["mistakes"]:
        console.print(safe(f"{checked['stack']}: {mistake}"))
