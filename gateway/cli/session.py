"""`sentinel session`: temporary keys that carry a motive, for AWS clients that know nothing of Sentinel."""

import os
import shlex
import sys
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn

import typer

from gateway.cli.client import ask
from gateway.cli.environment import aws_variables, overriding, pointed
from gateway.cli.identity import CliIdentity, identity
from gateway.cli.output import complaints, fail, run, safe, show_json
from gateway.errors import Malformed
from gateway.model.motive import Intent, Motivation

_NO_SUCH_COMMAND, _CANNOT_RUN = 127, 126
"""Exit codes of a shell in these cases (POSIX, Shell Command Language 2.8.2)."""


def session(
    command: Annotated[
        list[str] | None, typer.Argument(help="A command and its arguments, after `--`.", metavar="-- COMMAND")
    ] = None,
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
    as_json: Annotated[bool, typer.Option("--json", help="Print the session as one JSON document.")] = False,
) -> None:
    """Run a command with AWS keys that carry a motive; its exit code is passed through. The command itself needs no change.

    Without a command, print export lines for a shell: `eval "$(sentinel session --intent … --motivation …)"`.
    """
    if as_json and command:
        fail(Malformed("--json prints the session and runs nothing: leave out the command, or --json."), as_json=True)
    motive = {
        "intent": intent.value,
        "motivation": motivation.value,
        "text": why,
        "evidence": evidence or [],
        "wanted_for": wanted_for,
    }
    who, given = run(_opened(actor, {"motive": motive, "lasts": lasts}), as_json=as_json)
    variables = _variables(who, given)
    if as_json:
        show_json({**given, "environment": variables})
    elif command:
        _become(command, pointed(os.environ, variables))
    else:
        _print_lines(variables)


async def _opened(actor: str, body: dict[str, Any]) -> tuple[CliIdentity, dict[str, Any]]:
    who = identity(actor)
    return who, await ask(who, "POST", "/sessions", holds="access_key_id", body=body)


def _variables(who: CliIdentity, given: dict[str, Any]) -> dict[str, str]:
    key_id, secret = given["access_key_id"], given["secret_access_key"]
    own = {name: os.environ[name] for name in ("AWS_REGION", "AWS_DEFAULT_REGION") if os.environ.get(name)}
    region = next(iter(own.values()), who.region)  # boto3 reads only the second, others prefer the first
    return {
        **aws_variables(url=who.url, key_id=key_id, secret=secret, region=region),
        **own,
        "SENTINEL_URL": who.url,
        "SENTINEL_TOKEN": f"{key_id}.{secret}",
    }


def _print_lines(variables: dict[str, str]) -> None:
    """Only what a shell may evaluate."""
    for name in overriding(os.environ):
        typer.echo(f"unset {name}")
    for name, value in variables.items():
        typer.echo(f"export {name}={shlex.quote(value)}")


def _become(command: Sequence[str], environment: dict[str, str]) -> NoReturn:
    """Turn this process into the command, so that its exit code, signals and terminal are its own."""
    sys.stdout.flush()
    try:
        os.execvpe(command[0], list(command), environment)  # noqa: S606  the user's own command, and no shell
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        told = (
            f"There is no command {command[0]!r} on this machine."
            if missing
            else f"{command[0]!r} cannot run: {error}."
        )
        complaints.print(f"[red]{safe(told)}[/red]")
        raise typer.Exit(_NO_SUCH_COMMAND if missing else _CANNOT_RUN) from error
