"""The resources of a state file as a provider needs them to read them again: attributes, schema version and private data."""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.core.model.json import Json
from gateway.terraform.address import written_key
from reconciler.errors import PluginUnavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResource:
    """One managed instance of a state."""

    address: str
    resource_type: str
    provider: str
    """As the state names it: `provider["registry.terraform.io/hashicorp/aws"]`."""
    schema_version: int
    attributes: Mapping[str, Json]
    private: bytes
    sensitive: frozenset[str] = frozenset()
    """The attributes of which the state marks any part as sensitive, because the code or the provider does."""


def read_stored(state: Path, targets: Sequence[str]) -> tuple[StoredResource, ...]:
    """The instances at or below the targets, which are addresses as for `-target`.

    Raises `errors.PluginUnavailable` if the state is no local file of format 4.
    """
    return tuple(each for each in _of_file(state) if any(_covers(target, each.address) for target in targets))


def identities_in(state: Path) -> frozenset[tuple[str, str]]:
    """The managed resources of a state: type and id, and type and ARN. Raises `errors.PluginUnavailable` as `read_stored`."""
    return frozenset(
        (each.resource_type, value)
        for each in _of_file(state)
        for name in ("id", "arn")
        if isinstance(value := each.attributes.get(name), str) and value
    )


def _of_file(state: Path) -> Iterator[StoredResource]:
    try:
        document: dict[str, Any] = json.loads(state.read_bytes())
    except (OSError, ValueError) as error:
        raise PluginUnavailable.because(f"{state.name} is no state file that can be read.") from error
    if document.get("version") != 4:  # noqa: PLR2004  the format of Terraform since 0.12
        raise PluginUnavailable.because(f"{state.name} has another format than version 4.")
    return _instances(document)


def _instances(document: Mapping[str, Any]) -> Iterator[StoredResource]:
    for block in document.get("resources", []):
        if block.get("mode") != "managed":
            continue
        module = f"{block['module']}." if block.get("module") else ""
        for instance in block.get("instances", []):
            if instance.get("deposed"):
                continue
            yield StoredResource(
                address=f"{module}{block['type']}.{block['name']}{written_key(instance.get('index_key'))}",
                resource_type=block["type"],
                provider=block.get("provider", ""),
                schema_version=int(instance.get("schema_version", 0)),
                attributes=instance.get("attributes") or {},
                private=base64.b64decode(instance.get("private") or ""),
                sensitive=frozenset(path[0]["value"] for path in instance.get("sensitive_attributes") or [] if path),
            )


def _covers(target: str, address: str) -> bool:
    return address == target or address.startswith((f"{target}.", f"{target}["))
