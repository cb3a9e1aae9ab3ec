"""Applies the stack of `sentinel up` with Terraform, through the gateway."""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence

from gateway.cli.environment import aws_variables, with_aws_variables
from gateway.cli.local.processes import end
from gateway.cli.local.workspace import CannotStart, Workspace
from gateway.ports import Key
from gateway.settings import Settings
from gateway.terraform.provider_mirror import terraform_environment

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
    return terraform_environment(
        mirror=settings.reconcile.provider_mirror,
        workdir=workspace.root,
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
