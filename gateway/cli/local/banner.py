"""What `sentinel up` prints when it is ready: endpoint, credentials and commands to try next."""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from gateway.cli.environment import aws_variables
from gateway.cli.identity import UP_DIRECTORY
from gateway.cli.local.workspace import Workspace
from gateway.cli.output import console, safe
from gateway.ports import Key

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
            f"  terraform -chdir={safe(shlex.quote(str(workspace.stack)))} apply\n"
            "                                 with the pipeline's variables: applies the stack through Sentinel"
        )
    if applied and workspace.own_stack is None and workspace.simulated_port:
        tour = "make tour    " if default and Path("Makefile").is_file() else f"sentinel tour{safe(home_option)}"
        console.print(f"  {tour:<31}a tour of all features, step by step")
    console.print("  sentinel records               requests, decisions and outcomes")
    if workspace.own_stack is None:
        console.print(
            "  sentinel session --as agent --intent availability --motivation incident -- aws autoscaling \\\n"
            "      set-desired-capacity --auto-scaling-group-name kafka-consumer-processor-asg --desired-capacity 6"
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
