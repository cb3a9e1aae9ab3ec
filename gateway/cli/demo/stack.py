"""The Terraform stack of `sentinel up`: a copy of the example in its own git repository, or the user's stack in place, and its apply through the gateway."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gateway.cli.aws_environment import aws_variables, with_aws_variables
from gateway.cli.demo.processes import TERRAFORM_SECONDS, end
from gateway.cli.demo.workspace import CannotStart, Workspace
from gateway.cli.plan_session import HELD
from gateway.core.ports import Key
from gateway.terraform.provider_mirror import terraform_environment

if TYPE_CHECKING:
    from gateway.core.settings import Settings

_PACKAGE = Path(__file__).resolve().parents[2]


def example() -> Path:
    """The directory of the example stack."""
    packed = _PACKAGE / "_assets" / "example"
    return packed if packed.is_dir() else _PACKAGE.parent / "deploy" / "example"


_GIT_OPTIONS = (
    *("-c", "user.name=Sentinel", "-c", "user.email=sentinel@localhost"),
    *("-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "-c", "core.autocrlf=false"),
)


async def prepare_stack(workspace: Workspace, example: Path) -> None:
    """Copy the example if the user gave no stack, and check that the stack is in git with at least one commit.

    The user's own stack is only read. Raises CannotStart unless the stack is Terraform code in git.
    """
    if workspace.own_stack is None and not workspace.stack.exists():
        await _copy(example, workspace.stack)
    if not workspace.stack.is_dir() or not any(workspace.stack.glob("*.tf")):
        raise CannotStart(f"There is no Terraform code (*.tf) in {workspace.stack}. {_remedy(workspace)}")
    if not await _has_commit(workspace):
        raise CannotStart(
            f"{workspace.stack} is not in a git repository with a commit, and Sentinel writes changes back as commits on a branch. {_remedy(workspace)}"
        )


def _remedy(workspace: Workspace) -> str:
    return (
        "Name the root module of your stack with --stack, committed to git."
        if workspace.own_stack
        else "Something else changed this copy of the example. Start over with --fresh."
    )


async def _copy(example: Path, stack: Path) -> None:
    """Copy the example and commit it, under a temporary name that is then renamed, so that the stack is never incomplete."""
    partial = stack.with_name("stack.partial")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(example, partial, ignore=shutil.ignore_patterns(".terraform*", "*.tfstate*"))
    (partial / ".gitignore").write_text(".terraform*\n*.tfstate*\n")
    for arguments in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "--all"),
        ("commit", "--quiet", "-m", "The stack as it was declared"),
    ):
        code, message = await _git(partial, *arguments)
        if code:
            raise CannotStart(f"git {arguments[0]} failed: {message}")
    partial.rename(stack)


async def _has_commit(workspace: Workspace) -> bool:
    """Whether the stack's repository has a commit. The copy must have its own repository; one in a parent directory does not count."""
    if workspace.own_stack is None and not (workspace.stack / ".git").exists():
        return False
    code, _ = await _git(workspace.stack, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    return code == 0


async def _git(directory: Path, *arguments: str) -> tuple[int, str]:
    """Run git; returns exit code and standard error. GIT_* variables are removed, because they could name another repository."""
    try:
        process = await asyncio.create_subprocess_exec(
            *("git", *_GIT_OPTIONS, "-C", str(directory), *arguments),
            env={name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
    except FileNotFoundError as error:
        raise CannotStart("git is not on PATH, and Sentinel writes changes back as git commits.") from error
    _, stderr = await process.communicate()
    return process.returncode or 0, stderr.decode(errors="replace").strip()


_LAST_LINES = 40
_REPORT_SECONDS = 0.5
_DONE = " complete after "
"""What Terraform says of a resource that is created, changed, destroyed or read."""
_BEGUN = ("Creating...", "Modifying...", "Destroying...", "Reading...", "Still ")


async def init_stack(workspace: Workspace, settings: "Settings", pipeline: Key) -> None:
    """Run `terraform init`, which needs no running gateway. Raises CannotStart as `apply_stack` does."""
    environment = _environment(workspace, settings, pipeline)
    command = [settings.reconcile.terraform, "init", "-no-color"]
    await _terraform(workspace, _Command(name="terraform init", arguments=command), environment)


class Progress(Protocol):
    """Hears how far an apply is."""

    def done(self, line: str) -> None:
        """Terraform says this of a resource that is done, or Sentinel of a plan that waits for a person."""

    def at_work(self, addresses: Sequence[str]) -> None:
        """Terraform is at these resources now."""


async def apply_stack(
    workspace: Workspace, settings: "Settings", pipeline: Key, *, progress: Progress | None = None
) -> None:
    """Apply the stack with the pipeline's key, after `init_stack`: the example by `terraform apply`, whose calls tables explain, and the user's
    own stack by `sentinel apply`, whose plan explains them. The output goes to `terraform.log`.

    `progress` hears of each resource, and of a plan that waits for a person. After success the stack is marked as applied, so that the
    next start does not undo changes that are live but not yet in code. Raises CannotStart with the end of Terraform's output if
    Terraform fails.
    """
    environment = dict(_environment(workspace, settings, pipeline))
    apply = _Command(
        name="terraform apply", arguments=[settings.reconcile.terraform, "apply", "-auto-approve", "-no-color"]
    )
    if workspace.own_stack is not None:
        apply = _apply_of_plan(settings)
        environment |= {"SENTINEL_URL": workspace.url, "SENTINEL_TOKEN": f"{pipeline.id}.{pipeline.secret}"}
    reporting = asyncio.ensure_future(_report(workspace, progress)) if progress is not None else None
    try:
        await _terraform(workspace, apply, environment)
    finally:
        if reporting is not None:
            reporting.cancel()
            await asyncio.gather(reporting, return_exceptions=True)
    workspace.applied.touch()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Command:
    """A program that is run in the stack's directory."""

    name: str
    """As messages name it."""
    arguments: Sequence[str]
    ends_by: signal.Signals = signal.SIGINT
    """Ends it once what it is at is saved."""


def _apply_of_plan(settings: "Settings") -> _Command:
    """`sentinel apply`, which waits while the plan is held. It hands a SIGTERM on to Terraform, and leaves an interrupt to the terminal."""
    options = ["--yes", "--wait", "--terraform", settings.reconcile.terraform]
    arguments = [sys.executable, "-P", "-m", "gateway", "apply", *options, "--", "-no-color"]
    return _Command(name="sentinel apply", arguments=arguments, ends_by=signal.SIGTERM)


def _environment(workspace: Workspace, settings: "Settings", pipeline: Key) -> Mapping[str, str]:
    region = settings.upstream.default_region
    variables = aws_variables(url=workspace.url, key_id=pipeline.id, secret=pipeline.secret, region=region)
    return environment_of_terraform(workspace.root, settings, variables)


def environment_of_terraform(root: Path, settings: "Settings", variables: Mapping[str, str]) -> Mapping[str, str]:
    """The environment in which Terraform reaches AWS only through the gateway, with the key in these variables."""
    return terraform_environment(
        mirror=settings.reconcile.provider_mirror,
        workdir=root,
        base={**with_aws_variables(os.environ, variables), "AWS_EC2_METADATA_DISABLED": "true"},
    )


async def _report(workspace: Workspace, progress: Progress) -> None:
    """Report what Terraform's log says, until cancelled."""
    path = workspace.root / "logs" / "terraform.log"
    reported = 0
    while True:
        await asyncio.sleep(_REPORT_SECONDS)
        try:
            lines = path.read_text(errors="replace").split("\n")[:-1]
        except OSError:
            continue  # not written yet
        done = [line for line in lines if _DONE in line or line.startswith(HELD)]
        for line in done[reported:]:
            progress.done(line)
        reported = len(done)
        progress.at_work(at_work(lines))


def at_work(lines: Sequence[str]) -> tuple[str, ...]:
    """The addresses that Terraform has begun with and not finished, by the lines of its output."""
    begun: dict[str, None] = {}
    for line in lines:
        address, _, said = line.partition(": ")
        if said.startswith(_BEGUN):
            begun[address] = None
        elif _DONE.strip() in said:
            begun.pop(address, None)
    return tuple(begun)


async def _terraform(workspace: Workspace, command: _Command, environment: Mapping[str, str]) -> None:
    log = workspace.root / "logs" / "terraform.log"
    log.parent.mkdir(exist_ok=True)
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *command.arguments,
            cwd=workspace.stack,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # so that Ctrl-C is not sent to Terraform too: after a second signal it would not save its state
        )
    try:
        await process.wait()
    finally:
        await end(process, command.ends_by, TERRAFORM_SECONDS)
    if process.returncode:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-_LAST_LINES:])
        raise CannotStart(
            f"{command.name} failed in {workspace.stack}; the next start tries again. Last lines of {log}:\n{tail}"
        )
