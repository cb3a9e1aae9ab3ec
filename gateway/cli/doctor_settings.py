"""Ways round the gate, and mistakes, that the settings and the files of this host show."""

from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

from gateway.cli.doctor_finding import Opening
from gateway.core.model.verdict import Mode
from gateway.core.settings import Settings, StackSettings
from gateway.identity.master_key import FILE_NAME as MASTER_KEY
from gateway.ledger.ledger_keys import checkpoint_path
from gateway.ledger.store.database import sqlite_file
from gateway.line.own_handles import databases_of

_OTHERS = 0o077


def settings_openings(settings: Settings) -> Iterator[Opening]:
    """The openings that the settings show. Raises `errors.SettingsInvalid` for an unsupported URL of the ledger."""
    yield from _ledger(settings)
    yield from _identity(settings)
    for stack in settings.stacks:
        yield from _stack(stack)
    if not settings.stacks:
        yield Opening(
            code="no_stack",
            what="No stack is set, so every resource counts as not declared.",
            close="Add [[stacks]] with the name and path of each.",
        )


def _ledger(settings: Settings) -> Iterator[Opening]:
    file = sqlite_file(settings.ledger_url)
    checkpoint = checkpoint_path(settings)
    if file is not None and _device(file) == _device(checkpoint):
        yield Opening(
            code="checkpoint_beside_ledger",
            what=f"The checkpoint {checkpoint} is on the same disk as the ledger {file}: who can cut the ledger off can take the checkpoint with it.",
            close="Set `checkpoints` to a file on another disk or host.",
        )
    key = settings.data / MASTER_KEY
    if file is not None and not settings.master_key.get_secret_value() and _device(key) == _device(file):
        yield Opening(
            code="master_key_beside_ledger",
            what=f"The master key {key} is on the same disk as the ledger: who has the disk can write records that verify.",
            close="Take it from a secret store: set SENTINEL_MASTER_KEY, and remove the file.",
        )
    for secret in (key, file):
        if secret is not None and secret.is_file() and secret.stat().st_mode & _OTHERS:
            yield Opening(
                code="readable_by_others",
                what=f"{secret} can be read by other users of this host.",
                close=f"chmod 600 {secret}",
            )


def _device(path: Path) -> int | None:
    """The disk that a file is on, or will be on; None if it cannot be told."""
    for each in (path, *path.absolute().parents):
        try:
            return each.stat().st_dev
        except OSError:
            continue
    return None


def _identity(settings: Settings) -> Iterator[Opening]:
    if settings.upstream.simulated:
        return
    if not settings.reconcile.gateway_identity:
        yield Opening(
            code="own_identity_unknown",
            what="The settings do not say with which role the gateway sends, so calls that change this role are judged as any other.",
            close="Set `reconcile.gateway_identity` to its ARN.",
        )
    if databases_of(settings.ledger_url, settings.ledger_databases)[1]:
        yield Opening(
            code="own_database_unknown",
            what="The host of the ledger does not say which database of RDS it is, so calls that change it are judged as any other.",
            close="Set `ledger_databases` to its identifiers.",
        )
    if not _is_loopback(settings.server.host) and not settings.server.public_url.startswith("https://"):
        yield Opening(
            code="plain_http",
            what=f"The gateway listens on {settings.server.host}, and no https URL is set: keys of sessions may travel in clear.",
            close="Put TLS in front, and set `server.public_url` to its https URL.",
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _stack(stack: StackSettings) -> Iterator[Opening]:
    if stack.mode is Mode.OBSERVE:
        yield Opening(
            code="stack_observes",
            what=f"The stack {stack.name} observes: what would be refused or held is sent.",
            close="Set its `mode` to `enforce` once `sentinel observe report` shows nothing that you miss.",
        )
    if not any((each / ".git").exists() for each in (stack.path.absolute(), *stack.path.absolute().parents)):
        yield Opening(
            code="stack_without_git",
            what=f"The stack {stack.name} ({stack.path}) is not in a git checkout: anyone who can write there can widen its contracts.",
            close="Point `path` to a checkout that has the protected branch.",
        )
    elif not stack.protected_branch:
        yield Opening(
            code="no_protected_branch",
            what=f"The stack {stack.name} names no `protected_branch`: the upstream of what is checked out holds its contracts.",
            close='Set `protected_branch`, e.g. "origin/main", and let only reviewed changes into it.',
        )
    state = stack.state or stack.path / "terraform.tfstate"
    if state.is_file() and state.stat().st_mode & _OTHERS:
        yield Opening(
            code="state_readable",
            what=f"The state of the stack {stack.name} ({state}) can be read by other users of this host; states hold secrets.",
            close=f"chmod 600 {state}, or keep it in an encrypted bucket.",
        )
