"""`sentinel up`: everything on one machine, on embedded defaults, ready to try."""

import asyncio
import json
import os
import shutil
import signal
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from gateway.cli.assets import example
from gateway.cli.identity import UP_DIRECTORY
from gateway.cli.output import console, run
from gateway.cli.processes import ChildDied, Children
from gateway.cli.workplace import CannotStart, Workplace, lay_out, open_workplace, write_config, write_private
from gateway.model.caller import ActorKind
from gateway.model.motive import Intent, Motivation, Motive
from gateway.ports import Key
from gateway.settings import Settings
from gateway.terraform.mirror import terraform_environment

_READY_SECONDS = 60.0
_KEYS: dict[str, tuple[str, ActorKind, tuple[str, ...], Motive | None]] = {
    "agent": ("agent-scaler", ActorKind.AGENT, (), None),
    "human": ("you", ActorKind.HUMAN, ("approver", "operator"), None),
    "pipeline": ("terraform", ActorKind.PIPELINE, (), Motive(intent=Intent.CONSISTENCY, motivation=Motivation.ROUTINE)),
    "optimizer": ("agent-optimizer", ActorKind.AGENT, (), None),  # the other agent of the tour
    "reconciler": ("reconciler", ActorKind.SERVICE, (), None),
}


def up(
    *,
    port: Annotated[int, typer.Option(help="Port of the gateway; default 8484, or the one of last time.")] = 0,
    aws_port: Annotated[
        int, typer.Option(help="Port of the simulated AWS; default 8485, or the one of last time.")
    ] = 0,
    real: Annotated[
        bool, typer.Option("--aws", help="The real AWS, with boto3's default credentials, instead of a simulated one.")
    ] = False,
    stack: Annotated[Path | None, typer.Option(help="Terraform stack to guard; default the example.")] = None,
    policies: Annotated[
        Path | None, typer.Option(help="Directory of policies; default the ones that come with Sentinel.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin anew: forget ledger, stack and simulated AWS of last time.")
    ] = False,
    home: Annotated[Path, typer.Option(help="Where everything is kept.")] = UP_DIRECTORY,
    no_apply: Annotated[bool, typer.Option("--no-apply", help="Do not apply the stack.")] = False,
) -> None:
    """Start gateway, reconciler, simulated AWS and the example stack, and keep them running until Ctrl-C."""
    try:
        place = open_workplace(home.resolve(), port=port, simulated_port=aws_port, real=real, fresh=fresh)
    except CannotStart as error:
        console.print(f"[red]{escape(str(error))}[/red]")
        raise typer.Exit(1) from error
    run(_until_interrupted(place, stack or example(), policies, apply=not no_apply))


async def _until_interrupted(place: Workplace, source: Path, policies: Path | None, *, apply: bool) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with Children(place.root / "logs") as children:
        work = asyncio.ensure_future(_run(place, source, policies, children, apply=apply))
        stopped = asyncio.ensure_future(stop.wait())
        done, _ = await asyncio.wait({work, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if work not in done:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            console.print("\nEnding what was started. `sentinel up` goes on where it was.")
        else:
            stopped.cancel()
            await work


async def _run(place: Workplace, source: Path, policies: Path | None, children: Children, *, apply: bool) -> None:
    with console.status("Laying out the stack"):
        await lay_out(place, source)
        keys = await _keys(place)
        write_config(place, reconciler=keys["reconciler"], policies=policies)
        write_private(place.credentials, _credentials(place, keys))
    if place.simulated_port:
        with console.status("Starting the simulated AWS"):
            await children.start(
                "simulated-aws", ["gateway.cli.simulated", str(place.simulated_port), str(place.root / "aws.journal")]
            )
            await _ready(f"{place.simulated_url}/_ready", children)
        console.print(f"[green]✓[/green] simulated AWS on {place.simulated_url}")
    with console.status("Starting the gateway"):
        await children.start("gateway", ["gateway", "serve", "--config", str(place.config)])
        await _ready(f"{place.url}/readyz", children)
    console.print(f"[green]✓[/green] gateway on {place.url}")
    if shutil.which("terraform") is None:
        console.print(
            "[yellow]![/yellow] terraform is not on PATH: the stack is not applied and changes are not written back. All else works."
        )
    else:
        if apply:
            await _apply(place, keys["pipeline"], children)
        await children.start("reconciler", ["reconciler", "serve", "--config", str(place.config)])
        console.print("[green]✓[/green] reconciler")
    _say_ready(place, keys)
    await children.watch()


async def _keys(place: Workplace) -> dict[str, Key]:
    """The ready-made keys: those of last time, issued at the first start."""
    from gateway.cli.ring import open_ring

    async with open_ring(Settings(data=place.root / "data")) as ring:
        known = {
            key.actor: key for key in reversed(await ring.all()) if not key.revoked and not key.id.startswith("SNTS")
        }
        return {
            name: known.get(actor)
            or await ring.issue(actor=actor, kind=kind, roles=roles, motive=motive, lasts=timedelta(days=90))
            for name, (actor, kind, roles, motive) in _KEYS.items()
        }


def _credentials(place: Workplace, keys: dict[str, Key]) -> str:
    shown = {
        name: {"id": key.id, "secret": key.secret, "actor": key.actor}
        for name, key in keys.items()
        if name != "reconciler"
    }
    return json.dumps({"url": place.url, "keys": shown}, indent=2) + "\n"


async def _ready(url: str, children: Children) -> None:
    """Wait until a process answers 200; a process that ends meanwhile, or one that takes too long, is an error."""
    import aiohttp

    loop = asyncio.get_running_loop()
    deadline = loop.time() + _READY_SECONDS
    async with aiohttp.ClientSession() as session:
        while loop.time() < deadline:
            children.check()
            try:
                async with session.get(url) as reply:
                    if reply.status == 200:  # noqa: PLR2004
                        return
            except aiohttp.ClientError:
                pass  # not listening yet; the deadline and the check above end this
            await asyncio.sleep(0.05)
    raise ChildDied(
        f"Nothing answered at {url} within {_READY_SECONDS:.0f} seconds; the logs are beside the settings file."
    )


async def _apply(place: Workplace, pipeline: Key, children: Children) -> None:
    """Apply the stack with real Terraform through the gateway, unless it was applied before: then live may lawfully differ from code."""
    if (place.stack / "terraform.tfstate").is_file():
        console.print("[green]✓[/green] stack was applied before")
        return
    environment = terraform_environment(
        mirror=None, workdir=place.root, base={**os.environ, **aws_environment(place, pipeline)}
    )
    with console.status("Applying the stack with Terraform, through the gateway (about half a minute)"):
        for arguments in (["init", "-no-color"], ["apply", "-auto-approve", "-no-color"]):
            await _terraform(place, arguments, environment, children)
    console.print("[green]✓[/green] stack applied by Terraform, through the gateway, with the pipeline's key")


async def _terraform(
    place: Workplace, arguments: Sequence[str], environment: dict[str, str], children: Children
) -> None:
    process = await asyncio.create_subprocess_exec(
        "terraform",
        *arguments,
        cwd=place.stack,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
    children.check()
    if process.returncode:
        tail = "\n".join(output.decode(errors="replace").splitlines()[-25:])
        raise CannotStart(f"terraform {arguments[0]} failed:\n{tail}")


def aws_environment(place: Workplace, key: Key) -> dict[str, str]:
    """The variables that point any AWS client at the gateway, with a key."""
    return {
        "AWS_ENDPOINT_URL": place.url,
        "AWS_ACCESS_KEY_ID": key.id,
        "AWS_SECRET_ACCESS_KEY": key.secret,
        "AWS_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def _say_ready(place: Workplace, keys: dict[str, Key]) -> None:
    console.print(
        f"\n[bold]Sentinel is ready.[/bold]  AWS endpoint and API: {place.url}   API description: {place.url}/v1/docs"
    )
    for name in ("agent", "human", "pipeline"):
        key = keys[name]
        console.print(f"\n[bold]{name}[/bold] ({key.actor})")
        for variable, value in aws_environment(place, key).items():
            if variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
                console.print(f"  export {variable}={value}")
        console.print(f"  export SENTINEL_TOKEN={key.id}.{key.secret}")
    console.print("\n[bold]for each of them[/bold]")
    console.print(f"  export AWS_ENDPOINT_URL={place.url} AWS_REGION=us-east-1 SENTINEL_URL={place.url}")
    console.print("\n[bold]what to try next[/bold] (in another shell, in this directory)")
    console.print("  make tour                      the whole story, step by step")
    console.print("  sentinel records               what was asked and decided")
    console.print(
        "  sentinel session --as agent --intent availability --motivation incident -- aws autoscaling \\\n      set-desired-capacity --auto-scaling-group-name kafka-consumer-processor-asg --desired-capacity 6"
    )
    console.print("\nCtrl-C ends everything; started again, it goes on where it was.\n")
