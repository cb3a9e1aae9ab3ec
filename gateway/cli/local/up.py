"""`sentinel up`: everything on one machine, on embedded defaults, ready to try."""

import asyncio
import contextlib
import importlib.util
import shutil
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.identity import UP_DIRECTORY
from gateway.cli.local.apply import apply_stack
from gateway.cli.local.assets import example
from gateway.cli.local.banner import show_banner
from gateway.cli.local.checkout import lay_out
from gateway.cli.local.credentials import credentials_text
from gateway.cli.local.demo_keys import demo_keys
from gateway.cli.local.processes import ChildDied, Children
from gateway.cli.local.workspace import (
    CannotStart,
    Workspace,
    WorkspaceOptions,
    open_workspace,
    write_config,
    write_private,
)
from gateway.cli.output import OsCallFailed, console, fail, run, safe
from gateway.cli.settings import SettingOrigin, flat, origins, variable
from gateway.ports import Key
from gateway.settings import Settings, read_settings

_READY_SECONDS = 60.0
_MAX_PORT = 65535
_STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpOptions:
    """What to do in a workplace."""

    policies: Path | None
    apply: bool | None
    """None: only the example on the simulated AWS, and only until it was applied as a whole."""


Port = Annotated[
    int | None,
    typer.Option(min=1, max=_MAX_PORT, help="Port of the gateway. Default: that of last time, at first 8484."),
]
AwsPort = Annotated[
    int | None,
    typer.Option(min=1, max=_MAX_PORT, help="Port of the simulated AWS. Default: that of last time, at first 8485."),
]
RealAws = Annotated[
    bool,
    typer.Option(
        "--aws",
        help="The real AWS, with boto3's default credentials, instead of a simulated one. Changes are real then.",
    ),
]
OwnStack = Annotated[
    Path | None,
    typer.Option(
        help="Your own Terraform root module, in git: guarded where it is, not copied; changes are written back "
        "to the branch `sentinel/NAME` of its repository. Default: a copy of the example.",
        exists=True,
        file_okay=False,
        resolve_path=True,
    ),
]
Policies = Annotated[
    Path | None,
    typer.Option(
        help="Directory of policies. Default: the ones that come with Sentinel.",
        exists=True,
        file_okay=False,
        resolve_path=True,
    ),
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Begin anew: forget ledger, example stack and simulated AWS of last time.")
]
Home = Annotated[Path, typer.Option(help="Where everything is kept.")]
Apply = Annotated[
    bool | None,
    typer.Option(
        "--apply/--no-apply",
        help="Apply the stack with Terraform, through the gateway. "
        "Default: only the example on the simulated AWS, once; never your own stack or the real AWS.",
    ),
]


def up(
    *,
    port: Port = None,
    aws_port: AwsPort = None,
    real: RealAws = False,
    stack: OwnStack = None,
    policies: Policies = None,
    fresh: Fresh = False,
    home: Home = UP_DIRECTORY,
    apply: Apply = None,
) -> None:
    """Start gateway, reconciler, simulated AWS and the example stack, and keep them running until Ctrl-C.

    Exit code 0 after Ctrl-C, 1 where it cannot start or a part of it ends; then the rest is ended too.
    """
    wanted = WorkspaceOptions(port=port, simulated_port=aws_port, real=real, stack=stack, fresh=fresh)
    try:
        with open_workspace(home.resolve(), wanted) as place:
            run(_until_interrupted(place, UpOptions(policies=policies, apply=apply)))
    except CannotStart as error:
        fail(error, as_json=False)
    except OSError as error:
        fail(OsCallFailed(error), as_json=False)


async def _until_interrupted(place: Workspace, plan: UpOptions) -> None:
    stop = asyncio.Event()
    for number in _STOPS:
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with Children(place.root / "logs") as children:
        work = asyncio.ensure_future(_run(place, plan, children))
        stopped = asyncio.ensure_future(stop.wait())
        waiting = {work, stopped, asyncio.ensure_future(children.watch())}
        try:
            while not stopped.done():
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        console.print("\nEnding what was started. `sentinel up` goes on where it was.")


async def _run(place: Workspace, plan: UpOptions, children: Children) -> None:
    """Start everything in order, and say so; then all is left to the children."""
    if place.simulated_port and importlib.util.find_spec("moto") is None:
        raise CannotStart(
            "The simulated AWS is not installed: `pip install 'sentinel-gateway[simulation]'`, or use the real one with --aws."
        )
    with console.status("Laying out the stack"):
        await lay_out(place, example())
        settings, keys = await _furnish(place, plan)
    if place.simulated_port:
        await _start_simulated(place, children)
    else:
        console.print(
            "[yellow]! The real AWS: what Sentinel lets through changes real infrastructure, with the credentials that boto3 finds.[/yellow]"
        )
    with console.status("Starting the gateway"):
        await children.start("gateway", ["gateway", "serve", "--config", str(place.config)])
        await _ready(f"{place.url}/readyz", place)
    console.print(f"[green]✓[/green] gateway on {place.url}")
    applied = place.applied.exists()
    if shutil.which(settings.reconcile.terraform) is None:
        console.print(
            f"[yellow]! {safe(settings.reconcile.terraform)} is not on PATH: the stack is not applied and changes are not "
            "written back. All else works. Install Terraform 1.5 or newer and start again.[/yellow]"
        )
    else:
        applied = await _apply(place, plan, settings, keys["pipeline"])
        await children.start("reconciler", ["reconciler", "serve", "--config", str(place.config)])
        console.print("[green]✓[/green] reconciler")
    show_banner(place, keys, region=settings.upstream.default_region, applied=applied)


async def _furnish(place: Workspace, plan: UpOptions) -> tuple[Settings, Mapping[str, Key]]:
    """Write settings and credentials. Raises CannotStart where the environment overrules what this command lays down."""
    from gateway.cli.open_keyring import open_ring

    write_config(place, reconciler=None, policies=plan.policies)
    async with open_ring(read_settings(place.config)) as ring:
        keys = await demo_keys(ring)
    write_config(place, reconciler=keys["reconciler"], policies=plan.policies)
    settings = read_settings(place.config)
    _check_environment(settings, place)
    shown = {name: key for name, key in keys.items() if name != "reconciler"}
    write_private(place.credentials, credentials_text(place.url, settings.upstream.default_region, shown))
    return settings, keys


def _check_environment(settings: Settings, place: Workspace) -> None:
    laid = flat(_document(place.config))
    where = origins(settings, place.config)
    overruled = [variable(name) for name in laid if where.get(name) is SettingOrigin.ENVIRONMENT]
    if overruled:
        raise CannotStart(
            f"`sentinel up` decides this itself: unset {', '.join(overruled)}, or run `sentinel serve` with settings of your own."
        )


def _document(path: Path) -> object:
    import tomllib

    return tomllib.loads(path.read_text(encoding="utf-8"))


async def _start_simulated(place: Workspace, children: Children) -> None:
    with console.status("Starting the simulated AWS"):
        arguments = ["gateway.cli.local.simulated_aws", str(place.simulated_port), str(place.root / "aws.journal")]
        await children.start("simulated-aws", arguments)
        await _ready(f"{place.simulated_url}/_ready", place)
    console.print(f"[green]✓[/green] simulated AWS on {place.simulated_url}")


async def _ready(url: str, place: Workspace) -> None:
    """Wait until a process answers 200; that one ends meanwhile is noticed elsewhere. Raises ChildDied after a while."""
    import aiohttp

    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_READY_SECONDS), aiohttp.ClientSession() as session:
            while True:
                with contextlib.suppress(aiohttp.ClientError):  # not listening yet
                    async with session.get(url) as reply:
                        if reply.status == 200:  # noqa: PLR2004
                            return
                await asyncio.sleep(0.05)
    raise ChildDied(f"Nothing answered at {url} within {_READY_SECONDS:.0f} seconds; see {place.root / 'logs'}.")


async def _apply(place: Workspace, plan: UpOptions, settings: Settings, pipeline: Key) -> bool:
    """Apply the stack where that is wanted; whether it is applied."""
    ours = place.own_stack is None and place.simulated_port > 0
    if plan.apply is None and place.applied.exists():
        console.print("[green]✓[/green] stack was applied before")
        return True
    if not (ours if plan.apply is None else plan.apply):
        console.print(
            "[yellow]![/yellow] the stack is not applied; `sentinel up --apply` does that, through the gateway"
        )
        return place.applied.exists()
    with console.status("Applying the stack with Terraform, through the gateway (about half a minute)"):
        await apply_stack(place, settings, pipeline)
    console.print("[green]✓[/green] stack applied by Terraform, through the gateway, with the pipeline's key")
    return True
