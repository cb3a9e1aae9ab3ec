"""The Terraform stack of `sentinel up`: a copy of the example in its own git repository, or the user's stack in place, and its apply through the gateway."""

import asyncio
import os
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gateway.cli.aws_environment import aws_variables, with_aws_variables
from gateway.cli.demo.processes import end
from gateway.cli.demo.workspace import CannotStart, Workspace
from gateway.core.ports import Key
from gateway.core.settings import Settings
from gateway.terraform.provider_mirror import terraform_environment

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


async def init_stack(workspace: Workspace, settings: Settings, pipeline: Key) -> None:
    """Run `terraform init`, which needs no running gateway. Raises CannotStart as `apply_stack` does."""
    environment = _environment(workspace, settings, pipeline)
    await _terraform(workspace, [settings.reconcile.terraform, "init", "-no-color"], environment)


async def apply_stack(
    workspace: Workspace, settings: Settings, pipeline: Key, *, report: Callable[[str], None] = lambda _: None
) -> None:
    """Run `terraform apply` with the pipeline's key, after `init_stack`. The output goes to `terraform.log`.

    `report` is called with each line about a resource that is done. After success the stack is marked as applied, so that the
    next start does not undo changes that are live but not yet in code. Raises CannotStart with the end of Terraform's output if
    Terraform fails.
    """
    environment = _environment(workspace, settings, pipeline)
    apply = [settings.reconcile.terraform, "apply", "-auto-approve", "-no-color"]
    reporting = asyncio.ensure_future(_report(workspace, report))
    try:
        await _terraform(workspace, apply, environment)
    finally:
        reporting.cancel()
        await asyncio.gather(reporting, return_exceptions=True)
    workspace.applied.touch()


def _environment(workspace: Workspace, settings: Settings, pipeline: Key) -> Mapping[str, str]:
    region = settings.upstream.default_region
    variables = aws_variables(url=workspace.url, key_id=pipeline.id, secret=pipeline.secret, region=region)
    return environment_of_terraform(workspace.root, settings, variables)


def environment_of_terraform(root: Path, settings: Settings, variables: Mapping[str, str]) -> Mapping[str, str]:
    """The environment in which Terraform reaches AWS only through the gateway, with the key in these variables."""
    return terraform_environment(
        mirror=settings.reconcile.provider_mirror,
        workdir=root,
        base={**with_aws_variables(os.environ, variables), "AWS_EC2_METADATA_DISABLED": "true"},
    )


async def _report(workspace: Workspace, report: Callable[[str], None]) -> None:
    """Report what Terraform's log says is done, until cancelled."""
    path = workspace.root / "logs" / "terraform.log"
    reported = 0
    while True:
        await asyncio.sleep(_REPORT_SECONDS)
        try:
            done = [line for line in path.read_text(errors="replace").split("\n")[:-1] if _DONE in line]
        except OSError:
            continue  # not written yet
        for line in done[reported:]:
            report(line)
        reported = len(done)


async def _terraform(workspace: Workspace, command: Sequence[str], environment: Mapping[str, str]) -> None:
    log = workspace.root / "logs" / "terraform.log"
    log.parent.mkdir(exist_ok=True)
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *command,
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
        await end(process, signal.SIGINT)
    if process.returncode:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-_LAST_LINES:])
        raise CannotStart(
            f"terraform {command[1]} failed in {workspace.stack}; the next start tries again. Last lines of {log}:\n{tail}"
        )
