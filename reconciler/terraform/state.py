"""A stack's state: the values that it records, a copy without some resources to plan against, and whether an apply has its lock."""

import asyncio
import fcntl
import json
import os
import secrets
import socket
import struct
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import structlog

from gateway.core.errors import CodeInvalid
from gateway.core.model.json import Json, canonical
from gateway.core.model.masking import MEMBER
from gateway.terraform.address import Address, parse_address
from gateway.terraform.secrets import may_hold_secret
from gateway.terraform.state import parse_state
from reconciler.errors import TerraformFailed
from reconciler.terraform.cli import Terraform

log = structlog.get_logger()
_PREFIX = "scratch-state-"
_OVERRIDE = "sentinel_scratch_override.tf"
_LOCAL = 'terraform {{\n  backend "local" {{\n    path = {path}\n  }}\n}}\n'
_STALE_LOCK: Final = 900.0
_FLOCK: Final = "hhqqi4x"
"""`struct flock` of Linux: type, whence, start, length, process."""


def recorded_values(source: bytes, name: str) -> dict[str, Mapping[str, Json]]:
    """The attributes in a state by address, without those that are or may hold a secret. Raises `gateway.core.errors.CodeInvalid`."""
    if not source.strip():
        return {}
    state = parse_state(source, name)
    found = {address: (each.where.resource_type, each.attributes) for address, each in state.resources.items()}
    found |= {address: ("", attributes) for address, attributes in state.data.items()}
    return {
        address: {
            name: value
            for name, value in attributes.items()
            if not may_hold_secret(kind, name) and MEMBER.encode() not in canonical(value)
        }
        for address, (kind, attributes) in found.items()
    }


async def read_recorded(terraform: Terraform, root: Path, state: Path | None) -> Mapping[str, Mapping[str, Json]]:
    """As `recorded_values`, of a state file or of the backend of the code in `root`; nothing if it cannot be read, which is logged.

    Raises `errors.TerraformMissing`, `errors.CodeRefused`.
    """
    try:
        if state is None:
            return recorded_values(await terraform.pulled_state(root), "The state")
        return await asyncio.to_thread(_in_file, state)
    except (CodeInvalid, OSError, TerraformFailed) as error:
        log.warning("state_not_read", reason=str(error))
        return {}


def _in_file(state: Path) -> Mapping[str, Mapping[str, Json]]:
    return recorded_values(state.read_bytes() if state.is_file() else b"", state.name)


async def state_without(terraform: Terraform, root: Path, state: Path | None, addresses: Collection[str]) -> Path:
    """A file with the stack's state without the resources at the addresses, which only we can read. The caller removes it.

    Raises `errors.TerraformFailed`.
    """
    content = await terraform.pulled_state(root) if state is None else await asyncio.to_thread(state.read_bytes)
    terraform.workdir.mkdir(parents=True, exist_ok=True)
    _remove_left_behind(terraform.workdir)
    file = (terraform.workdir / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(8)}").absolute()
    file.touch(mode=0o600)
    try:
        file.write_text(json.dumps(state_document_without(json.loads(content), addresses)))
    except (ValueError, KeyError, TypeError) as error:
        file.unlink()
        raise TerraformFailed.saying("state pull", "The state is not one that Sentinel can read.") from error
    return file


def _remove_left_behind(workdir: Path) -> None:
    """Remove the states that a process left behind which was killed: they may hold secrets."""
    own = f"{_PREFIX}{os.getpid()}-"
    for file in workdir.glob(f"{_PREFIX}*"):
        if not file.name.startswith(own):
            file.unlink(missing_ok=True)


def state_document_without(state: Mapping[str, Any], addresses: Collection[str]) -> dict[str, Any]:
    """A state in format 4 without the instances at the addresses."""
    gone = [parsed for address in addresses if (parsed := parse_address(address)) is not None]
    kept = []
    for resource in state["resources"]:
        instances = [each for each in resource["instances"] if not any(_is(parsed, resource, each) for parsed in gone)]
        kept += [{**resource, "instances": instances}] if instances else []
    return {**state, "resources": kept}


def _is(address: Address, resource: Mapping[str, Any], instance: Mapping[str, Any]) -> bool:
    return (
        resource.get("mode") == "managed"
        and (resource["type"], resource["name"]) == (address.resource_type, address.name)
        and resource.get("module", "") == address.module
        and instance.get("index_key") == address.key
    )


@contextmanager
def planning_against(terraform: Terraform, root: Path, scratch: Path, *, is_file: bool) -> Iterator[Terraform]:
    """Terraform for plans of the code in `root` against a scratch state; the file is removed afterwards.

    With `is_file` the stack's state is a file, which a plan can name. Else, for the duration, an override makes the code's backend that
    file, with plug-in data of its own.
    """
    override = root / _OVERRIDE
    try:
        if is_file:
            yield terraform
        else:
            override.write_text(_LOCAL.format(path=json.dumps(str(scratch))))
            yield replace(
                terraform, workdir=terraform.workdir / "scratch", shared_data=None, backend_config={}, workspace=""
            )
    finally:
        override.unlink(missing_ok=True)
        for each in (scratch, scratch.with_name(f"{scratch.name}.backup")):
            each.unlink(missing_ok=True)


def terraform_is_applying(state: Path | None) -> bool:
    """Whether a terraform process holds the lock on the state file, so that code, state and live values still change.

    The local backend locks the file itself, and says who in `.NAME.lock.info` beside it, which stays behind if that process is killed. What
    another machine locked may not show here: then it counts for 15 minutes.
    """
    if state is None:
        return False
    info = state.parent / f".{state.name}.lock.info"
    try:
        age = time.time() - info.stat().st_mtime
        who = json.loads(info.read_bytes()).get("Who", "")
    except (OSError, ValueError, AttributeError):
        # Terraform writes it after it has the lock, and removes it before it gives the lock back.
        age, who = (0.0, "") if info.exists() else (_STALE_LOCK, "")
    locked = _is_locked(state)
    here = locked is not None and str(who).rpartition("@")[2] == socket.gethostname()
    return bool(locked) or (age < _STALE_LOCK and not here)


def _is_locked(state: Path) -> bool | None:
    """Whether a process of this machine has the lock on the file; None if that cannot be told."""
    if sys.platform != "linux" or not state.is_file():
        return None
    try:
        with state.open("rb") as file:
            found = fcntl.fcntl(file, fcntl.F_GETLK, struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
    except OSError:
        return None
    return bool(struct.unpack(_FLOCK, found)[0] != fcntl.F_UNLCK)
