"""`sentinel key`: issue, renew, list and revoke the keys that callers authenticate with. Opens the ledger directly, so it reads the gateway's settings."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from gateway.cli.config import config_file, require_ledger, settings_or_exit, sqlite_file
from gateway.cli.options import Config, Json
from gateway.cli.output import answer, console, log_to_stderr, run, show_json, show_table
from gateway.core.errors import Malformed
from gateway.core.http.motive_syntax import duration
from gateway.core.model.caller import ActorKind
from gateway.core.model.motive import Intent, Motivation, Motive, motive_to_json
from gateway.core.times import SystemClock, utc_text

if TYPE_CHECKING:
    from gateway.core.ports import Key, KeyRing, Revoked
    from gateway.core.settings import Settings
    from gateway.ledger.keyring import SqlKeyRing
    from gateway.ledger.store.rows import KeyRow

key_app = typer.Typer(add_completion=False, no_args_is_help=True, help="Issue, renew, list and revoke keys.")

T = TypeVar("T")


@asynccontextmanager
async def open_keyring(settings: "Settings") -> AsyncIterator["SqlKeyRing"]:
    """The keyring of the ledger in these settings. Raises what `opened_sealed` raises."""
    log_to_stderr()
    from gateway.ledger.keyring import SqlKeyRing
    from gateway.ledger.ledger_keys import master_key_of
    from gateway.ledger.running_ledger import RunningLedger, opened_sealed

    async with opened_sealed(RunningLedger, settings) as ledger:
        yield SqlKeyRing(ledger, master=master_key_of(settings), clock=SystemClock())


@key_app.command("create")
def create(
    actor: Annotated[str, typer.Argument(help="Name of the actor, e.g. agent-scaler.")],
    *,
    kind: Annotated[ActorKind, typer.Option(help="Kind of actor.")] = ActorKind.AGENT,
    role: Annotated[
        list[str] | None,
        typer.Option(
            help="A role: `approver` may approve held calls, `operator` stop and resume changes, `break-glass` pass a hold at once; the reconciler's own key has `reconciler`; `metrics` may read /metrics; others are for your policies. May be repeated."
        ),
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

    async def work() -> "Key":
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
    _show_new(run(work(), as_json=as_json), as_json=as_json)


def _show_new(key: "Key", *, as_json: bool) -> None:
    """Print a key with its secret, which is shown only here."""
    if as_json:
        show_json(
            {
                "access_key_id": key.id,
                "secret_access_key": key.secret,
                "actor": key.actor,
                "expires_at": _time(key.expires_at),
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
    from gateway.core.settings.roles import ACTOR_NAME

    for name in names:
        if not ACTOR_NAME.fullmatch(name):
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
    keys = answer(_listed(settings_or_exit(config_file(config), as_json=as_json)), as_json=as_json)["keys"]
    rows = [
        [
            key["id"],
            key["actor"],
            key["kind"],
            ", ".join(key["roles"]),
            _motive_text(key),
            key["expires_at"] or "",
            "revoked" if key["revoked"] else "",
        ]
        for key in keys
    ]
    show_table("Keys", ["id", "actor", "kind", "roles", "motive", "expires", "state"], rows)


def _motive_text(key: Mapping[str, Any]) -> str:
    motive = key["motive"]
    return f"{motive['intent']}/{motive['motivation']}" + (" only" if key["motive_only"] else "") if motive else ""


async def _listed(settings: "Settings") -> dict[str, Any]:
    """Every key, newest first, under `keys`. Raises `errors.LedgerUnavailable`, `errors.NotFound`."""
    require_ledger(settings)
    if (file := sqlite_file(settings)) is not None:
        from gateway.ledger.ask.listed_keys import listed_keys

        if (rows := listed_keys(file)) is not None:
            return {"keys": [_row_to_json(row) for row in rows]}

    async def work(keyring: "SqlKeyRing") -> dict[str, Any]:
        return {"keys": [_key_to_json(key) for key in await keyring.all()]}

    return await _with_keyring(settings, work)


@key_app.command("renew")
def renew(
    key_id: Annotated[str, typer.Argument(help="The key's id, SNT…")],
    *,
    lasts: Annotated[str, typer.Option(help="How long the new key is valid, e.g. 90d.")] = "90d",
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Issue a key like this one, with a new id, secret and end. The old one works until its own end, or `sentinel key revoke --keep-approvals`."""

    async def work(keyring: "KeyRing") -> "Key":
        old = await keyring.find(key_id)
        if old is None or old.is_session or old.revoked:
            raise Malformed(
                f"{key_id[:64]!r} is no standing key that can be renewed: it was never issued, was revoked, or is a session's. "
                "`sentinel key list` shows the keys, and `sentinel key create` makes one. No key was made."
            )
        return await keyring.issue(
            actor=old.actor,
            kind=old.kind,
            roles=old.roles,
            on_behalf_of=old.on_behalf_of,
            motive=old.motive,
            motive_only=old.motive_only,
            lasts=duration(lasts),
        )

    key = run(_with_keyring(settings_or_exit(config_file(config), as_json=as_json), work), as_json=as_json)
    _show_new(key, as_json=as_json)


@key_app.command("revoke")
def revoke(
    key_id: Annotated[str, typer.Argument(help="The key's id, SNT…")],
    *,
    keep_approvals: Annotated[
        bool,
        typer.Option(
            "--keep-approvals",
            help="What was approved with it stays approved, for instance after `sentinel key renew`.",
        ),
    ] = False,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Revoke a key permanently, with its sessions and the approvals given with it that nobody has used. It takes effect within a second, also
    in running gateways.
    """

    async def work(keyring: "KeyRing") -> "Revoked":
        return await keyring.revoke(key_id, distrust=not keep_approvals)

    ended = run(_with_keyring(settings_or_exit(config_file(config), as_json=as_json), work), as_json=as_json)
    if as_json:
        show_json({"revoked": key_id, "sessions": list(ended.sessions), "approvals": list(ended.approvals)})
        return
    console.print(f"Revoked {key_id}.")
    if ended.approvals:
        console.print(
            f"Withdrew {len(ended.approvals)} unused approvals; what they approved waits again (`sentinel holds`)."
        )


async def _with_keyring(
    settings: "Settings", work: Callable[["SqlKeyRing"], Awaitable[T]], *, create: bool = False
) -> T:
    if not create:
        require_ledger(settings)
    async with open_keyring(settings) as keyring:
        return await work(keyring)


def _key_to_json(key: "Key") -> dict[str, Any]:
    return {
        "id": key.id,
        "actor": key.actor,
        "kind": key.kind.value,
        "roles": list(key.roles),
        "on_behalf_of": key.on_behalf_of,
        "motive": motive_to_json(key.motive),
        "motive_only": key.motive_only,
        "expires_at": _time(key.expires_at),
        "revoked": key.revoked,
    }


def _row_to_json(row: "KeyRow") -> dict[str, Any]:
    return {
        "id": row.id,
        "actor": row.actor,
        "kind": row.kind,
        "roles": json.loads(row.roles),
        "on_behalf_of": row.on_behalf_of,
        "motive": json.loads(row.motive) if row.motive else None,
        "motive_only": bool(row.motive_only),
        "expires_at": _time(datetime.fromisoformat(row.expires_at)) if row.expires_at else None,
        "revoked": row.revoked_at is not None,
    }


def _time(at: datetime | None) -> str | None:
    return None if at is None else utc_text(at)
