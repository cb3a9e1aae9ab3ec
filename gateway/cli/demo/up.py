"""`sentinel up`: starts gateway, reconciler, simulated AWS and example stack on one machine."""

import asyncio
import contextlib
import importlib.util
import os
import shlex
import shutil
import signal
import socket
import sys
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gateway.cli.aws_environment import aws_variables
from gateway.cli.client import UP_DIRECTORY
from gateway.cli.config import SettingOrigin, environment_variable, flatten, origins
from gateway.cli.demo.credentials import credentials_text
from gateway.cli.demo.demo_keys import demo_keys
from gateway.cli.demo.own_postgresql import has_postgresql, own_postgresql
from gateway.cli.demo.processes import ChildDied, Children
from gateway.cli.demo.stack import apply_stack, example, init_stack, prepare_stack
from gateway.cli.demo.workspace import (
    CannotStart,
    Workspace,
    WorkspaceOptions,
    open_workspace,
    successful_get,
    write_config,
    write_private,
)
from gateway.cli.output import OsCallFailed, console, fail, run, safe
from gateway.core.ports import Key
from gateway.core.waiting import waiting

if TYPE_CHECKING:
    from gateway.core.settings import Settings

_SHOWN = ("agent", "human", "pipeline")


def show_banner(workspace: Workspace, keys: Mapping[str, Key], *, region: str, applied: bool) -> None:
    """Print the export lines of each actor, those common to all actors, and commands to try next."""
    url = workspace.url
    console.print(f"\n[bold]Sentinel is ready.[/bold]  AWS endpoint and API: {url}   API description: {url}/v1/docs")
    console.print(
        f"For people: {url}/console (sign in with the human's SENTINEL_TOKEN)   For agents: {url}/mcp (`sentinel mcp` prints their settings)"
    )
    for name in _SHOWN:
        key = keys[name]
        console.print(f"\n[bold]{name}[/bold] ({key.actor})")
        console.print(f"  export AWS_ACCESS_KEY_ID={key.id}")
        console.print(f"  export AWS_SECRET_ACCESS_KEY={key.secret}")
        console.print(f"  export SENTINEL_TOKEN={key.id}.{key.secret}")
    common = aws_variables(url=url, key_id="", secret="", region=region)
    shown = [f"{name}={value}" for name, value in common.items() if value]
    console.print("\n[bold]for all actors[/bold]")
    console.print(f"  export {' '.join(shown)} SENTINEL_URL={url}")
    if path := _not_on_path():
        console.print(f"  export PATH={safe(shlex.quote(path))}:$PATH")
    _print_next_steps(workspace, applied=applied)
    console.print("\nCtrl-C ends everything. The next start resumes from there.\n")


def _print_next_steps(workspace: Workspace, *, applied: bool) -> None:
    default = workspace.root == UP_DIRECTORY.resolve()
    home_option = "" if default else f" --home {shlex.quote(str(workspace.root))}"
    where = "in this directory" if default else "with the variables above"
    console.print(f"\n[bold]what to try next[/bold] (in another shell, {where})")
    if not applied:
        console.print(
            f"{_init_line(workspace)}  sentinel apply --chdir {safe(shlex.quote(str(workspace.stack)))}\n"
            "                                 with the pipeline's variables: applies the stack through Sentinel"
        )
    if applied and workspace.own_stack is None and workspace.simulated_port:
        tour = "make tour    " if default and Path("Makefile").is_file() else f"sentinel tour{safe(home_option)}"
        console.print(f"  {tour:<30} a tour of all features, step by step")
    console.print("  sentinel records               requests, decisions and outcomes")
    if workspace.own_stack is None:
        console.print(
            "  sentinel session --as agent --intent availability --motivation incident -- aws autoscaling \\\n"
            "      set-desired-capacity --auto-scaling-group-name kafka-consumer-processor-asg --desired-capacity 6"
        )


def _init_line(workspace: Workspace) -> str:
    """The command that a stack needs before its first plan; empty if it was given already."""
    if (workspace.stack / ".terraform").is_dir():
        return ""
    return (
        f"  terraform -chdir={safe(shlex.quote(str(workspace.stack)))} init\n"
        "                                 first: nobody has initialised this stack yet\n"
    )


def _not_on_path() -> str:
    """The directory of the `sentinel` command if it is in a virtual environment that is not activated, else empty."""
    directory = str(Path(sys.executable).parent)
    in_virtual_environment = sys.prefix != sys.base_prefix
    if (
        not in_virtual_environment
        or os.environ.get("VIRTUAL_ENV") == sys.prefix
        or shutil.which("sentinel", path=directory) is None
    ):
        return ""
    return directory


_READY_SECONDS = 60.0
_ANSWER_SECONDS = 2.0
"""A probe runs in a thread, and Ctrl-C waits for its end."""
_MOST_NAMED = 3
_BACKLOG = 128
_APPLYING = "Applying the stack with Terraform, through the gateway (about half a minute)"
_MAX_PORT = 65535
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpOptions:
    """Options that are not saved in the workspace."""

    policies: Path | None
    apply: bool | None
    """None: apply only the example on the simulated AWS, and only until it was applied completely once."""
    observe: bool = False


Port = Annotated[
    int | None,
    typer.Option(min=1, max=_MAX_PORT, help="Port of the gateway. Default: that of the last start, initially 8484."),
]
AwsPort = Annotated[
    int | None,
    typer.Option(
        min=1, max=_MAX_PORT, help="Port of the simulated AWS. Default: that of the last start, initially 8485."
    ),
]
RealAws = Annotated[
    bool,
    typer.Option(
        "--aws",
        help="Use the real AWS, with boto3's default credentials, instead of the simulated one. Changes are then real.",
    ),
]
OwnStack = Annotated[
    Path | None,
    typer.Option(
        help="Your own Terraform root module, in git. It is used in place, not copied; changes are written back "
        "to the branch `sentinel/NAME` of its repository. Default: a copy of the example.",
        exists=True,
        file_okay=False,
        resolve_path=True,
    ),
]
Policies = Annotated[
    Path | None,
    typer.Option(
        help="Directory of the policies. Default: those shipped with Sentinel.",
        exists=True,
        file_okay=False,
        resolve_path=True,
    ),
]
Fresh = Annotated[
    bool,
    typer.Option(
        "--fresh",
        help="Start over: delete the ledger, the example stack and the simulated AWS of the last start. Its ports are kept.",
    ),
]
Home = Annotated[Path, typer.Option(help="Directory for all files of this `sentinel up`.")]
Observe = Annotated[
    bool,
    typer.Option(
        "--observe",
        help="Refuse and hold nothing: every call is sent, and `sentinel observe report` says what enforcing would have done.",
    ),
]
Postgres = Annotated[
    bool,
    typer.Option(
        "--postgres",
        help="Keep the ledger in a PostgreSQL of its own, in the home: its programs must be installed. Later starts keep to it.",
    ),
]
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
    observe: Observe = False,
    postgres: Postgres = False,
) -> None:
    """Start gateway, reconciler, simulated AWS and the example stack, and keep them running until Ctrl-C.

    Exit code 0 after Ctrl-C, 1 if it cannot start or if one of its processes ends; then the others are ended too.
    """
    workspace_options = WorkspaceOptions(port=port, simulated_port=aws_port, real=real, stack=stack, fresh=fresh)
    try:
        with (
            open_workspace(home.resolve(), workspace_options) as chosen,
            _with_ledger(chosen, postgres=postgres) as workspace,
        ):
            run(
                _run_until_interrupted(workspace, UpOptions(policies=policies, apply=apply, observe=observe)),
                speaks=True,
            )
    except CannotStart as error:
        fail(error, as_json=False)
    except OSError as error:
        fail(OsCallFailed(error), as_json=False)


@contextlib.contextmanager
def _with_ledger(workspace: Workspace, *, postgres: bool) -> Iterator[Workspace]:
    """The workspace with its ledger: in a PostgreSQL of its own, which runs while the block lasts, if that is asked for or was before."""
    if not postgres and not has_postgresql(workspace.root):
        yield workspace
        return
    if not has_postgresql(workspace.root) and (workspace.root / "data" / "ledger.db").exists():
        raise CannotStart(
            "The ledger of the last start is in SQLite. Say --fresh as well to start over, or choose another --home."
        )
    with own_postgresql(workspace.root) as url:
        console.print("[green]✓[/green] PostgreSQL of its own, on a Unix socket")
        yield replace(workspace, ledger=url)


async def _run_until_interrupted(workspace: Workspace, options: UpOptions) -> None:
    stop = asyncio.Event()
    for number in _STOP_SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with Children(workspace.root / "logs") as children:
        work = asyncio.ensure_future(_run(workspace, options, children))
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
        console.print("\nEnding all processes. The next `sentinel up` resumes from here.")


async def _run(workspace: Workspace, options: UpOptions, children: Children) -> None:
    """Start everything in order and print the progress; returns while the children keep running."""
    if workspace.simulated_port and importlib.util.find_spec("moto") is None:
        raise CannotStart(
            "The simulated AWS is not installed. Run `pip install 'sentinel-gateway[simulation]'`, or use the real AWS with --aws."
        )
    console.print(f"Starting Sentinel in {safe(str(workspace.root))}")
    # What needs nothing of the others starts first, so that the parts load side by side.
    await _start_simulated(workspace, children)
    with _saying("Preparing the stack"):
        await prepare_stack(workspace, example())
        settings, keys = await _write_settings(workspace, options)
    # Each wait ends with a line, because the next one counts from its own start: so none is silent for twice as long.
    console.print(f"[green]✓[/green] stack in {safe(str(workspace.stack))}")
    await _start_gateway(workspace, children)
    has_terraform = shutil.which(settings.reconcile.terraform) is not None
    applies = has_terraform and _is_to_apply(workspace, options)
    if applies:
        await _wait_and_apply(workspace, settings, keys["pipeline"])
    else:
        await _wait_for_simulated(workspace)
        await _wait_for_gateway(workspace)
    if has_terraform:
        if not applies:
            _print_not_applied(workspace, options)
        await children.start("reconciler", ["reconciler", "serve", "--config", str(workspace.config)])
        console.print("[green]✓[/green] reconciler")
    else:
        console.print(
            f"[yellow]! {safe(settings.reconcile.terraform)} is not on PATH: the stack is not applied and changes are not "
            "written back. Everything else works. Install Terraform 1.5 or newer and start again.[/yellow]"
        )
    show_banner(workspace, keys, region=settings.upstream.default_region, applied=workspace.applied.exists())


async def _write_settings(workspace: Workspace, options: UpOptions) -> "tuple[Settings, Mapping[str, Key]]":
    """Write settings and credentials. Raises CannotStart if the environment overrides a setting that this command writes."""
    from gateway.cli.keys import open_keyring
    from gateway.core.settings import read_settings

    write_config(workspace, reconciler=None, policies=options.policies, observe=options.observe)
    async with open_keyring(read_settings(workspace.config)) as keyring:
        keys = await demo_keys(keyring)
    write_config(workspace, reconciler=keys["reconciler"], policies=options.policies, observe=options.observe)
    settings = read_settings(workspace.config)
    _check_environment(settings, workspace)
    client_keys = {name: key for name, key in keys.items() if name != "reconciler"}
    write_private(workspace.credentials, credentials_text(workspace.url, settings.upstream.default_region, client_keys))
    return settings, keys


def _check_environment(settings: "Settings", workspace: Workspace) -> None:
    import tomllib

    written = flatten(tomllib.loads(workspace.config.read_text(encoding="utf-8")))
    origin_of = origins(settings, workspace.config)
    overriding = [environment_variable(name) for name in written if origin_of.get(name) is SettingOrigin.ENVIRONMENT]
    if overriding:
        raise CannotStart(
            f"`sentinel up` sets this itself: unset {', '.join(overriding)}, or run `sentinel serve` with your own settings."
        )


async def _start_simulated(workspace: Workspace, children: Children) -> None:
    """Start the simulated AWS, as `_start_gateway` does, or warn that there is none. Its command line names its port."""
    if not workspace.simulated_port:
        console.print(
            "[yellow]! Real AWS: changes that Sentinel allows are made to real infrastructure, with the credentials that boto3 finds.[/yellow]"
        )
        return
    with socket.create_server(("127.0.0.1", workspace.simulated_port), backlog=_BACKLOG) as listener:
        descriptor, port = listener.fileno(), str(workspace.simulated_port)
        arguments = ["gateway.cli.demo.simulated_aws", port, str(workspace.root / "aws.journal"), str(descriptor)]
        await children.start("simulated-aws", arguments, descriptors=[descriptor])


async def _start_gateway(workspace: Workspace, children: Children) -> None:
    """Start the gateway on a socket that listens already: requests that come before it is ready wait for it."""
    with socket.create_server(("127.0.0.1", workspace.port), backlog=_BACKLOG) as listener:
        descriptor = listener.fileno()
        arguments = ["gateway", "serve", "--config", str(workspace.config), "--fd", str(descriptor)]
        await children.start("gateway", arguments, descriptors=[descriptor])


async def _wait_and_apply(workspace: Workspace, settings: "Settings", pipeline: Key) -> None:
    """Wait for the parts and apply the stack. Terraform loads while the parts do: its first calls wait for them on their sockets."""
    progress = _Progress()
    applied = asyncio.ensure_future(_init_and_apply(workspace, settings, pipeline, progress))
    try:
        await _wait_for_simulated(workspace)
        await _wait_for_gateway(workspace)
        await progress.show(applied)
    finally:
        applied.cancel()
        await asyncio.gather(applied, return_exceptions=True)
    console.print("[green]✓[/green] stack applied by Terraform, through the gateway, with the pipeline's key")


async def _init_and_apply(workspace: Workspace, settings: "Settings", pipeline: Key, progress: "_Progress") -> None:
    await init_stack(workspace, settings, pipeline)
    await apply_stack(workspace, settings, pipeline, progress=progress)


class _Progress:
    """Shows what Terraform has done, and says what it is at and since when: it may try a call again for minutes."""

    def __init__(self) -> None:
        self._at_work: Sequence[str] = ()

    def done(self, line: str) -> None:
        """Show that a resource is done."""
        console.print(f"  {safe(line)}")

    def at_work(self, addresses: Sequence[str]) -> None:
        """Terraform is at these resources now."""
        self._at_work = addresses

    def _now(self) -> str:
        return f"at {', '.join(self._at_work[:_MOST_NAMED])}" if self._at_work else ""

    async def show(self, applied: Awaitable[None]) -> None:
        """Show what is reported until Terraform has applied the stack. Raises what it raises."""
        console.print(_APPLYING)
        with waiting("  Terraform works", sys.stdout, now=self._now):
            await applied


@contextlib.contextmanager
def _saying(what: str) -> Iterator[None]:
    """Say what is done now: at once on a terminal, else when it takes longer."""
    with console.status(what) if console.is_terminal else waiting(what, sys.stdout):
        yield


async def _wait_for_simulated(workspace: Workspace) -> None:
    if workspace.simulated_port:
        with _saying("Starting the simulated AWS"):
            await _wait_until_ready(f"{workspace.simulated_url}/_ready", workspace)
        console.print(f"[green]✓[/green] simulated AWS on {workspace.simulated_url}")


async def _wait_for_gateway(workspace: Workspace) -> None:
    with _saying("Starting the gateway"):
        await _wait_until_ready(f"{workspace.url}/readyz", workspace)
    console.print(f"[green]✓[/green] gateway on {workspace.url}")


async def _wait_until_ready(url: str, workspace: Workspace) -> None:
    """Wait until `url` returns 200; raises ChildDied after 60 seconds. (`Children.watch` notices a process that ends before.)"""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_READY_SECONDS):
            while True:
                if await asyncio.to_thread(successful_get, url, seconds=_ANSWER_SECONDS):
                    return
                await asyncio.sleep(0.05)
    raise ChildDied(f"No response from {url} within {_READY_SECONDS:.0f} seconds; see {workspace.root / 'logs'}.")


def _is_to_apply(workspace: Workspace, options: UpOptions) -> bool:
    """Whether the stack is applied at this start: as the options say, by default only the example, and only once."""
    if options.apply is not None:
        return options.apply
    is_example = workspace.own_stack is None and workspace.simulated_port > 0
    return is_example and not workspace.applied.exists()


def _print_not_applied(workspace: Workspace, options: UpOptions) -> None:
    if options.apply is None and workspace.applied.exists():
        console.print("[green]✓[/green] stack was already applied")
    else:
        console.print(
            "[yellow]![/yellow] the stack is not applied; `sentinel up --apply` does that, through the gateway"
        )
