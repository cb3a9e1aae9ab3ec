"""`sentinel key`: issue, list and revoke the keys that callers authenticate with. Opens the ledger directly, so it reads the gateway's settings."""

import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

import typer

from gateway.cli.options import Config, Json
from gateway.cli.output import console, run, show_json, show_table
from gateway.cli.settings import config_file, require_ledger, settings_or_exit
from gateway.doors.motive import duration
from gateway.doors.serialize import time_to_json
from gateway.errors import Malformed
from gateway.model.caller import ActorKind
from gateway.model.motive import Intent, Motivation, Motive, motive_to_json
from gateway.ports import Key, KeyRing
from gateway.settings import Settings

key_app = typer.Typer(no_args_is_help=True, help="Issue, list and revoke keys.")

T = TypeVar("T")

_ACTOR = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@/+-]{0,99}")


@key_app.command("create")
def create(
    actor: Annotated[str, typer.Argument(help="Name of the actor, e.g. agent-scaler.")],
    *,
    kind: Annotated[ActorKind, typer.Option(help="Kind of actor.")] = ActorKind.AGENT,
    role: Annotated[
        list[str] | None,
        typer.Option(help="A role for policies; `approver` may approve held calls. May be repeated."),
    ] = None,
    on_behalf_of: Annotated[str, typer.Option(help="The actor this one acts for.")] = "",
    intent: Annotated[
        Intent | None, typer.Option(help="Default motive: the goal of everything done with this key.")
    ] = None,
    motivation: Annotated[Motivation | None, typer.Option(help="Default motive: why.")] = None,
    only: Annotated[
        bool,
        typer.Option("--only", help="The default motive is the only one: no call and no session may state another."),
    ] = False,
    lasts: Annotated[str, typer.Option(help="How long the key is valid, e.g. 90d.")] = "90d",
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Issue a key. The secret is shown only here, once: as export lines for a shell, or as JSON with --json."""

    async def work() -> Key:
        _check_names(actor, *([on_behalf_of] if on_behalf_of else []), *(role or ()))
        arguments: dict[str, Any] = {
            "actor": actor,
            "kind": kind,
            "roles": tuple(role or ()),
            "on_behalf_of": on_behalf_of,
            "motive": _default_motive(intent, motivation, only=only),
            "motive_only": only,
            "lasts": duration(lasts),
        }
        return await _with_keyring(settings, lambda keyring: keyring.issue(**arguments), create=True)

    settings = settings_or_exit(config_file(config), as_json=as_json)
    key = run(work(), as_json=as_json)
    if as_json:
        show_json(
            {
                "access_key_id": key.id,
                "secret_access_key": key.secret,
                "actor": key.actor,
                "expires_at": time_to_json(key.expires_at),
            }
        )
        return
    for name, value in (
        ("AWS_ACCESS_KEY_ID", key.id),
        ("AWS_SECRET_ACCESS_KEY", key.secret),
        ("SENTINEL_TOKEN", f"{key.id}.{key.secret}"),
    ):
        typer.echo(f"export {name}={value}")


def _check_names(*names: str) -> None:
    """Raise `errors.Malformed` unless every name is plain: names are shown in records, commits and terminals."""
    for name in names:
        if not _ACTOR.fullmatch(name):
            raise Malformed(
                f"{name[:100]!r} is not a valid name for an actor or a role: use up to 100 letters, digits and . _ - @ / +, "
                "starting with a letter or digit."
            )


def _default_motive(intent: Intent | None, motivation: Motivation | None, *, only: bool) -> Motive | None:
    if intent and motivation:
        return Motive(intent=intent, motivation=motivation)
    if intent or motivation:
        raise Malformed("A default motive needs both --intent and --motivation.")
    if only:
        raise Malformed("--only says that the key's motive is the only one, so it needs --intent and --motivation.")
    return None


@key_app.command("list")
def list_keys(*, config: Config = None, as_json: Json = False) -> None:
    """List every key, without secrets."""

    async def work(keyring: KeyRing) -> list[Key]:
        return list(await keyring.all())

    keys = run(_with_keyring(settings_or_exit(config_file(config), as_json=as_json), work), as_json=as_json)
    if as_json:
        show_json({"keys": [_key_to_json(key) for key in keys]})
        return
    rows = [
        [
            key.id,
            key.actor,
            key.kind.value,
            ", ".join(key.roles),
            _motive_text(key),
            time_to_json(key.expires_at) or "",
            "revoked" if key.revoked else "",
        ]
        for key in keys
    ]
    show_table("Keys", ["id", "actor", "kind", "roles", "motive", "expires", "state"], rows)


def _motive_text(key: Key) -> str:
    if key.motive is None:
        return ""
    return f"{key.motive.intent}/{key.motive.motivation}" + (" only" if key.motive_only else "")


@key_app.command("revoke")
def revoke(
    key_id: Annotated[str, typer.Argument(help="The key's id, SNT…")], *, config: Config = None, as_json: Json = False
) -> None:
    """Revoke a key permanently. It takes effect within a second, also in running gateways."""

    async def work(keyring: KeyRing) -> None:
        await keyring.revoke(key_id)

    run(_with_keyring(settings_or_exit(config_file(config), as_json=as_json), work), as_json=as_json)
    if as_json:
        show_json({"revoked": key_id})
    else:
        console.print(f"Revoked {key_id}.")


async def _with_keyring(settings: Settings, work: Callable[[KeyRing], Awaitable[T]], *, create: bool = False) -> T:
    from gateway.cli.open_keyring import open_keyring

    if not create:
        require_ledger(settings)
    async with open_keyring(settings) as keyring:
        return await work(keyring)


def _key_to_json(key: Key) -> dict[str, Any]:
    return {
        "id": key.id,
        "actor": key.actor,
        "kind": key.kind.value,
        "roles": list(key.roles),
        "on_behalf_of": key.on_behalf_of,
        "motive": motive_to_json(key.motive),
        "motive_only": key.motive_only,
        "expires_at": time_to_json(key.expires_at),
        "revoked": key.revoked,
    }
