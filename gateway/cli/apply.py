"""`sentinel apply`: plans with Terraform, has the plan judged as one change, and applies it in the session of that plan."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from gateway.cli.aws_environment import with_aws_variables
from gateway.cli.client import CliIdentity, identity
from gateway.cli.options import As, Evidence, Json, motive_body
from gateway.cli.output import error_console, fail, run, safe, show_json
from gateway.cli.plan_check import BROKEN, print_report
from gateway.cli.plan_session import (
    PlanRequest,
    ask,
    ask_until_decided,
    end,
    next_step,
    session_variables,
    standing_variables,
)
from gateway.core.errors import SentinelError
from gateway.core.model.motive import Intent, Motivation
from gateway.core.model.plan import Plan

_FOR_APPLY: Final = ("-parallelism", "-lock", "-lock-timeout", "-no-color", "-compact-warnings", "-input")
"""Options of `terraform plan` that `terraform apply` of its plan takes too."""
_LOCK_TIMEOUT: Final = "-lock-timeout=5m"
"""The reconciler has the state's lock for a moment when the state follows what was merged. Terraform would give up at once."""
_STANDARD_ERROR: Final = 2
_SIGNALLED: Final = 128
"""What a shell adds to the number of the signal that ended a command."""


class NotApplied(SentinelError):
    """Terraform cannot run, or a command of it failed and said why itself."""

    code = "not_applied"


@dataclass(frozen=True, slots=True, kw_only=True)
class TerraformCommand:
    """Terraform in a directory."""

    executable: str
    directory: Path

    def run(self, environment: Mapping[str, str], *arguments: str, quiet: bool = False) -> int:
        """Run a command whose output the user sees, on standard error if `quiet`; its exit code.

        A signal to end us ends Terraform, which saves its state first.
        """
        with self._process(environment, arguments, _STANDARD_ERROR if quiet else None) as process, _handing_on(process):
            code = process.wait()
        return _SIGNALLED - code if code < 0 else code

    def read(self, environment: Mapping[str, str], *arguments: str) -> bytes:
        """The output of a command. Raises `NotApplied`."""
        with self._process(environment, arguments, subprocess.PIPE) as process, _handing_on(process):
            output, _ = process.communicate()
        if process.returncode != 0:
            raise NotApplied(f"`terraform {arguments[0]}` failed, so nothing was applied.")
        return bytes(output)

    def _process(
        self, environment: Mapping[str, str], arguments: Sequence[str], output: int | None
    ) -> "subprocess.Popen[bytes]":
        command = [self.executable, *arguments]
        try:
            return subprocess.Popen(command, cwd=self.directory, env=dict(environment), stdout=output)
        except OSError as error:
            raise NotApplied(f"{self.executable} cannot run: {error.strerror}. Nothing was applied.") from error


@contextmanager
def _handing_on(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    """Hand on signals to end us, and outlive Terraform: a terminal sends an interrupt to both by itself."""

    def hand_on(number: int, _frame: object) -> None:
        process.send_signal(number)

    handlers: dict[signal.Signals, Any] = {
        signal.SIGINT: signal.SIG_IGN,
        signal.SIGTERM: hand_on,
        signal.SIGHUP: hand_on,
    }
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def apply(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            help="A saved plan; else Terraform plans first. After `--`: options of Terraform.",
            metavar="[PLAN] [-- TERRAFORM OPTIONS]",
        ),
    ] = None,
    *,
    stack: Annotated[str, typer.Option(help="The stack that it is of. Default: the gateway's only one.")] = "",
    chdir: Annotated[Path, typer.Option(help="The directory of the code.")] = Path(),
    terraform: Annotated[str, typer.Option(help="The command of Terraform.")] = "terraform",
    lasts: Annotated[str, typer.Option("--lasts", "--for", help="How long the apply may last, at most 12h.")] = "1h",
    wait: Annotated[bool, typer.Option(help="While the plan is held, wait for a person instead of ending.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask at a terminal before the plan is applied.")] = False,
    intent: Annotated[Intent | None, typer.Option(help="The goal. Default: the motive of the key.")] = None,
    motivation: Annotated[Motivation | None, typer.Option(help="Why now.")] = None,
    evidence: Evidence = None,
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Apply a Terraform plan through Sentinel: the plan is judged as one change, and every call of the apply by the plan.

    Exit code: Terraform's own. 2: the plan is held or denied, and nothing was applied. 1: it could not be judged.
    """
    saved, options = _saved_plan(arguments or [])
    motive = motive_body(intent, motivation, evidence, as_json=as_json)
    try:
        caller = identity(actor, default="pipeline")
        with tempfile.TemporaryDirectory(prefix="sentinel-apply-") as directory:
            work = _Apply(
                terraform=TerraformCommand(executable=terraform, directory=chdir),
                caller=caller,
                options=with_patience(options),
                plan_file=Path(saved).absolute() if saved else Path(directory) / "plan.bin",
            )
            if not saved:
                work.plan(as_json=as_json)
            request = PlanRequest(plan=work.changes(), stack=stack, motive=motive, lasts=lasts)
            _confirm(request.plan, needed=not (saved or yes or as_json))
            code = work.apply(request, wait=wait, as_json=as_json)
    except SentinelError as error:
        fail(error, as_json=as_json)
    raise typer.Exit(code)


def _saved_plan(arguments: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The saved plan, empty if none is named, and Terraform's options."""
    first = arguments[:1]
    if first and not first[0].startswith("-"):
        return first[0], tuple(arguments[1:])
    return "", tuple(arguments)


def _confirm(plan: Plan, *, needed: bool) -> None:
    if needed and plan.changes and sys.stdin.isatty():
        typer.confirm("Apply these changes?", abort=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Apply:
    """One run of the command."""

    terraform: TerraformCommand
    caller: CliIdentity
    options: tuple[str, ...]
    plan_file: Path

    @property
    def _reading(self) -> dict[str, str]:
        return with_aws_variables(os.environ, standing_variables(self.caller))

    def plan(self, *, as_json: bool) -> None:
        """Have Terraform plan into the file. Raises `NotApplied`."""
        arguments = ("plan", f"-out={self.plan_file}", *self.options)
        if self.terraform.run(self._reading, *arguments, quiet=as_json) != 0:
            raise NotApplied("`terraform plan` failed, so nothing was applied.")

    def changes(self) -> Plan:
        """The plan without its secrets. Raises `NotApplied`, `errors.Malformed`."""
        from gateway.plans.document import read_plan

        source = self.terraform.read(self._reading, "show", "-json", str(self.plan_file))
        return read_plan(source, mark_key=self.caller.mark_key)

    def apply(self, request: PlanRequest, *, wait: bool, as_json: bool) -> int:
        """Open the session, apply, and end the session whatever happens; the exit code."""
        report = run((ask_until_decided if wait else ask)(self.caller, request), as_json=as_json)
        if report["session"] is None:
            _show_refusal(report, as_json=as_json)
            return BROKEN
        _warn(report)
        variables = session_variables(self.caller, report)
        environment = with_aws_variables(os.environ, variables)
        inside = CliIdentity(url=self.caller.url, token=variables["SENTINEL_TOKEN"])
        code: int | None = None
        try:
            options = _options_of_apply(self.options)
            code = self.terraform.run(environment, "apply", *options, str(self.plan_file), quiet=as_json)
        finally:
            self._end(inside, report["mutation"], code)
        if as_json:
            show_json({"plan": report["plan"], "mutation": report["mutation"], "exit_code": code})
        return code

    def _end(self, inside: CliIdentity, plan: str, code: int | None) -> None:
        """End the session. If that fails, it ends at its time limit: Terraform's own result is what counts."""
        import asyncio

        try:
            asyncio.run(end(inside, plan, code))
        except (SentinelError, OSError) as error:
            error_console.print(f"[yellow]The session of {plan} ends by itself: {safe(str(error))}[/yellow]")


def with_patience(options: Sequence[str]) -> tuple[str, ...]:
    """The options, with a time to wait for the state's lock unless they say something about it."""
    says = any(each.removeprefix("-").startswith(("-lock", "lock")) for each in options)
    return tuple(options) if says else (*options, _LOCK_TIMEOUT)


def _options_of_apply(options: Sequence[str]) -> list[str]:
    return [each for each in options if each.removeprefix("-").partition("=")[0] in {name[1:] for name in _FOR_APPLY}]


def _warn(report: Mapping[str, Any]) -> None:
    """Say before the apply at which changes it will be held."""
    from gateway.plans.report import not_understood_notes

    unknown = [each for each in report["not_understood"] if not each["with_plan"]]
    for note in not_understood_notes({"not_understood": unknown}):
        error_console.print(f"[yellow]{safe(note)}[/yellow]")


def _show_refusal(report: Mapping[str, Any], *, as_json: bool) -> None:
    """The report, and how to go on."""
    if as_json:
        show_json(report)
        return
    print_report(report)
    error_console.print(safe(next_step(report)))
