"""Applies the stack of a `sentinel up` with real Terraform, through the gateway."""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence

from gateway.cli.environment import aws_variables, pointed
from gateway.cli.local.processes import end
from gateway.cli.local.workspace import CannotStart, Workspace
from gateway.ports import Key
from gateway.settings import Settings
from gateway.terraform.provider_mirror import terraform_environment

_LAST_LINES = 40


async def apply_stack(place: Workspace, settings: Settings, pipeline: Key) -> None:
    """`terraform init` and `apply` with the pipeline's key; the whole output goes to `terraform.log`.

    What was applied as a whole is marked so: afterwards live may lawfully differ from code. Raises CannotStart with the end
    of Terraform's output where it fails.
    """
    region = settings.upstream.default_region
    variables = aws_variables(url=place.url, key_id=pipeline.id, secret=pipeline.secret, region=region)
    environment = terraform_environment(
        mirror=settings.reconcile.provider_mirror,
        workdir=place.root,
        base={**pointed(os.environ, variables), "AWS_EC2_METADATA_DISABLED": "true"},
    )
    executable = settings.reconcile.terraform
    await _terraform(place, [executable, "init", "-no-color"], environment)
    await _terraform(place, [executable, "apply", "-auto-approve", "-no-color"], environment)
    place.applied.touch()


async def _terraform(place: Workspace, command: Sequence[str], environment: Mapping[str, str]) -> None:
    log = place.root / "logs" / "terraform.log"
    log.parent.mkdir(exist_ok=True)
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=place.stack,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C reaches only us: a second signal would make Terraform drop its state
        )
    try:
        await process.wait()
    finally:
        await end(process, signal.SIGINT)
    if process.returncode:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-_LAST_LINES:])
        raise CannotStart(
            f"terraform {command[1]} failed in {place.stack}; the next start tries again. The end of {log}:\n{tail}"
        )
