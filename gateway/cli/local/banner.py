"""What `sentinel up` says once all is ready: endpoint, credentials, and what to try next."""

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


def show_banner(place: Workspace, keys: Mapping[str, Key], *, region: str, applied: bool) -> None:
    """Print it all: lines to paste into a shell, for each actor and for all of them."""
    url = place.url
    console.print(f"\n[bold]Sentinel is ready.[/bold]  AWS endpoint and API: {url}   API description: {url}/v1/docs")
    for name in _SHOWN:
        key = keys[name]
        console.print(f"\n[bold]{name}[/bold] ({key.actor})")
        console.print(f"  export AWS_ACCESS_KEY_ID={key.id}")
        console.print(f"  export AWS_SECRET_ACCESS_KEY={key.secret}")
        console.print(f"  export SENTINEL_TOKEN={key.id}.{key.secret}")
    everybody = aws_variables(url=url, key_id="", secret="", region=region)
    shown = [f"{name}={value}" for name, value in everybody.items() if value]
    console.print("\n[bold]for each of them[/bold]")
    console.print(f"  export {' '.join(shown)} SENTINEL_URL={url}")
    if path := _not_on_path():
        console.print(f"  export PATH={safe(shlex.quote(path))}:$PATH")
    _say_what_next(place, applied=applied)
    console.print("\nCtrl-C ends everything; started again, it goes on where it was.\n")


def _say_what_next(place: Workspace, *, applied: bool) -> None:
    usual = place.root == UP_DIRECTORY.resolve()
    home = "" if usual else f" --home {shlex.quote(str(place.root))}"
    where = "in this directory" if usual else "with the variables above"
    console.print(f"\n[bold]what to try next[/bold] (in another shell, {where})")
    if not applied:
        console.print(
            f"  terraform -chdir={safe(shlex.quote(str(place.stack)))} apply\n"
            "                                 with the pipeline's variables: applies the stack through Sentinel"
        )
    if applied and place.own_stack is None and place.simulated_port:
        tour = "make tour    " if usual and Path("Makefile").is_file() else f"sentinel tour{safe(home)}"
        console.print(f"  {tour:<31}the whole story, step by step")
    console.print("  sentinel records               what was asked and decided")
    if place.own_stack is None:
        console.print(
            "  sentinel session --as agent --intent availability --motivation incident -- aws autoscaling \\\n"
            "      set-desired-capacity --auto-scaling-group-name kafka-consumer-processor-asg --desired-capacity 6"
        )


def _not_on_path() -> str:
    """The directory of the `sentinel` command where the user's own shell would not find it: an environment not activated."""
    directory = str(Path(sys.executable).parent)
    inside = sys.prefix != sys.base_prefix
    if not inside or os.environ.get("VIRTUAL_ENV") == sys.prefix or shutil.which("sentinel", path=directory) is None:
        return ""
    return directory
