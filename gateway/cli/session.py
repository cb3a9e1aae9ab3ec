"""`sentinel session` and `sentinel credentials`: temporary keys that carry a motive, for unmodified AWS clients."""

import os
import shlex
import sys
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn

import typer

from gateway.cli.aws_environment import aws_variables, conflicting_variables, with_aws_variables
from gateway.cli.client import CliIdentity, call_api, identity
from gateway.cli.options import As, Evidence, Json, motive_body
from gateway.cli.output import error_console, fail, run, safe, show_json
from gateway.core.errors import Malformed
from gateway.core.model.motive import Intent, Motivation

_NO_SUCH_COMMAND, _CANNOT_RUN = 127, 126
"""The exit codes of a POSIX shell for these errors (Shell Command Language 2.8.2)."""


def session(
    command: Annotated[
        list[str] | None, typer.Argument(help="A command and its arguments, after `--`.", metavar="-- COMMAND")
    ] = None,
    *,
    intent: Annotated[Intent, typer.Option(help="The goal of the changes in this session.")],
    motivation: Annotated[Motivation, typer.Option(help="Why now.")],
    why: Annotated[str, typer.Option(help="Free text.")] = "",
    evidence: Evidence = None,
    lasts: Annotated[str, typer.Option("--lasts", "--for", help="How long the session is valid, at most 12h.")] = "1h",
    wanted_for: Annotated[
        str, typer.Option(help="How long the changes are wanted, e.g. 1h. Default: until superseded.")
    ] = "",
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Run a command with AWS keys that carry a motive. The command needs no change, and its exit code is passed through.

    Without a command, print export lines for the shell: `eval "$(sentinel session --intent … --motivation …)"`.
    """
    if as_json and command:
        fail(Malformed("--json prints the session and runs no command. Leave out the command or --json."), as_json=True)
    motive = motive_body(intent, motivation, evidence, as_json=as_json, text=why, wanted_for=wanted_for)
    caller, session_key = run(_open_session(actor, {"motive": motive, "lasts": lasts}), as_json=as_json)
    variables = _variables(caller, session_key)
    if as_json:
        show_json({**session_key, "environment": variables})
    elif command:
        _replace_process(command, with_aws_variables(os.environ, variables))
    else:
        print_export_lines(variables)


def credentials(
    *,
    role: Annotated[
        str, typer.Option(help="A role of the gateway's settings. Default: the key's own rights, without what decides.")
    ] = "",
    name: Annotated[str, typer.Option(help="The session's name, which records show.")] = "sentinel",
    intent: Annotated[Intent | None, typer.Option(help="The goal of the changes.")] = None,
    motivation: Annotated[Motivation | None, typer.Option(help="Why now.")] = None,
    why: Annotated[str, typer.Option(help="Free text.")] = "",
    evidence: Evidence = None,
    lasts: Annotated[str, typer.Option(help="How long the key is valid, at most 12h. SDKs fetch the next one.")] = "1h",
    wanted_for: Annotated[str, typer.Option(help="How long the changes are wanted, e.g. 1h.")] = "",
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Print a temporary key as AWS's SDKs read it from a `credential_process`: one JSON document, whether or not --json is given.

    In ~/.aws/config: `credential_process = sentinel credentials --role deployer`, beside `endpoint_url`.
    """
    more = {name: text for name, text in (("text", why), ("wanted_for", wanted_for)) if text}
    motive = motive_body(intent, motivation, evidence, as_json=as_json, **more)
    body = {"role": role, "name": name, "motive": motive, "lasts": lasts}
    key = run(_fetch(actor, body), as_json=as_json)
    show_json(
        {
            "Version": 1,
            "AccessKeyId": key["access_key_id"],
            "SecretAccessKey": key["secret_access_key"],
            "SessionToken": key["session_token"],
            "Expiration": key["expires_at"],
        }
    )


async def _fetch(actor: str | None, body: dict[str, Any]) -> dict[str, Any]:
    caller = identity(actor, default="agent")
    return await call_api(caller, "POST", "/credentials", member="access_key_id", body=body)


async def _open_session(actor: str | None, body: dict[str, Any]) -> tuple[CliIdentity, dict[str, Any]]:
    caller = identity(actor, default="agent")
    return caller, await call_api(caller, "POST", "/sessions", member="access_key_id", body=body)


def _variables(caller: CliIdentity, session_key: dict[str, Any]) -> dict[str, str]:
    key_id, secret = session_key["access_key_id"], session_key["secret_access_key"]
    own = {name: os.environ[name] for name in ("AWS_REGION", "AWS_DEFAULT_REGION") if os.environ.get(name)}
    region = next(
        iter(own.values()), caller.region
    )  # boto3 reads only AWS_DEFAULT_REGION, other SDKs prefer AWS_REGION
    return {
        **aws_variables(url=caller.url, key_id=key_id, secret=secret, region=region),
        **own,
        "SENTINEL_URL": caller.url,
        "SENTINEL_TOKEN": f"{key_id}.{secret}",
    }


def print_export_lines(variables: dict[str, str]) -> None:
    """Print `unset` and `export` lines and nothing else, because a shell evaluates them."""
    for name in conflicting_variables(os.environ):
        typer.echo(f"unset {name}")
    for name, value in variables.items():
        typer.echo(f"export {name}={shlex.quote(value)}")


def _replace_process(command: Sequence[str], environment: dict[str, str]) -> NoReturn:
    """Replace this process by the command (exec), so that exit code, signals and terminal are the command's own."""
    sys.stdout.flush()
    try:
        os.execvpe(command[0], list(command), environment)  # noqa: S606  the user's own command, and no shell
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        message = (
            f"There is no command {command[0]!r} on this machine."
            if missing
            else f"{command[0]!r} cannot run: {error}."
        )
        error_console.print(f"[red]{safe(message)}[/red]")
        raise typer.Exit(_NO_SUCH_COMMAND if missing else _CANNOT_RUN) from error
