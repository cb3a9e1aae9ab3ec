"""Applies the stack of `sentinel up` with Terraform, through the gateway."""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence

from gateway.cli.environment import aws_variables, with_aws_variables
from gateway.cli.local.processes import end
from gateway.cli.local.workspace import CannotStart, Workspace
from gateway.ports import Key
from gateway.settings import Settings
from gateway.terraform.provider_mirror import terraform_environment

_LAST_LINES = 40


async def apply_stack(workspace: Workspace, settings: Settings, pipeline: Key) -> None:
    """Run `terraform init` and `apply` with the pipeline's key. The output goes to `terraform.log`.

    After success the stack is marked as applied, so that the next start does not undo changes that are live but not yet in
    code. Raises CannotStart with the end of Terraform's output if Terraform fails.
    """
    region = settings.upstream.default_region
    variables = aws_variables(url=workspace.url, key_id=pipeline.id, secret=pipeline.secret, region=region)
    environment = terraform_environment(
        mirror=settings.reconcile.provider_mirror,
        workdir=workspace.root,
        base={**with_aws_variables(os.environ, variables), "AWS_EC2_METADATA_DISABLED": "true"},
    )
    executable = settings.reconcile.terraform
    await _terraform(workspace, [executable, "init", "-no-color"], environment)
    await _terraform(workspace, [executable, "apply", "-auto-approve", "-no-color"], environment)
    workspace.applied.touch()


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
