"""What the state records of resources and data sources, without secrets: what code refers to is known by it before anything is planned."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import structlog

from gateway.errors import CodeInvalid
from gateway.model.json import Json, canonical
from gateway.model.masking import MEMBER
from gateway.terraform.secrets import may_hold_secret
from gateway.terraform.state import parse_state
from reconciler.errors import TerraformFailed
from reconciler.terraform.cli import Terraform

log = structlog.get_logger()


def recorded_values(source: bytes, name: str) -> dict[str, Mapping[str, Json]]:
    """The attributes in a state by address, without those that are or may hold a secret. Raises `gateway.errors.CodeInvalid`."""
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
