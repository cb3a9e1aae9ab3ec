"""`sentinel session`: temporary keys that carry a motive, for AWS clients that know nothing of Sentinel."""

import os
import shlex
import subprocess
from typing import Annotated, Any

import typer

from gateway.cli.client import ask
from gateway.cli.identity import Identity, identity
from gateway.cli.output import console, run, show_json
from gateway.model.motive import Intent, Motivation

_OWN = ("AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SECURITY_TOKEN")
"""Variables that would make a client use other credentials than the session's."""


def session(
    context: typer.Context,
    *,
    intent: Annotated[Intent, typer.Option(help="The goal of what is done in this session.")],
    motivation: Annotated[Motivation, typer.Option(help="Why now.")],
    why: Annotated[str, typer.Option(help="Free words.")] = "",
    evidence: Annotated[list[str] | None, typer.Option(help="An alert, a CVE, a ticket. May be given often.")] = None,
    lasts: Annotated[str, typer.Option("--for", help="How long the session is good for, at most 12h.")] = "1h",
    wanted_for: Annotated[
        str, typer.Option(help="How long the changes themselves are wanted; default until something else is.")
    ] = "",
    actor: Annotated[str, typer.Option("--as", help="Whose credentials of a running `sentinel up` to use.")] = "agent",
    as_json: Annotated[bool, typer.Option("--json", help="Print the session as JSON.")] = False,
) -> None:
    """Run a command with keys that carry a motive: `sentinel session --intent … --motivation … -- COMMAND`.

    Without a command, print export lines: `eval "$(sentinel session …)"`.
    """
    motive = {
        "intent": intent.value,
        "motivation": motivation.value,
        "text": why,
        "evidence": evidence or [],
        "wanted_for": wanted_for,
    }
    who, given = run(_opened(actor, {"motive": motive, "lasts": lasts}), as_json=as_json)
    exports = _exports(who, given)
    if as_json:
        show_json({**given, "environment": exports})
    elif context.args:
        raise typer.Exit(_run(context.args, exports))
    else:
        for name in _OWN:
            console.print(f"unset {name}")
        for name, value in exports.items():
            console.print(f"export {name}={shlex.quote(value)}")


async def _opened(actor: str, body: dict[str, Any]) -> tuple[Identity, dict[str, Any]]:
    who = identity(actor=actor)
    return who, await ask(who, "POST", "/sessions", body=body)


def _exports(who: Identity, given: dict[str, Any]) -> dict[str, str]:
    return {
        "AWS_ACCESS_KEY_ID": given["access_key_id"],
        "AWS_SECRET_ACCESS_KEY": given["secret_access_key"],
        "AWS_ENDPOINT_URL": who.url,
        "SENTINEL_URL": who.url,
        "SENTINEL_TOKEN": f"{given['access_key_id']}.{given['secret_access_key']}",
    }


def _run(command: list[str], exports: dict[str, str]) -> int:
    """Run the user's own command with the session in its environment; its exit code, 127 where there is no such command."""
    environment = {name: value for name, value in os.environ.items() if name not in _OWN}
    try:
        return subprocess.run(command, env={**environment, **exports}, check=False).returncode
    except FileNotFoundError:
        console.print(f"There is no command {command[0]!r} on this machine.")
        return 127
