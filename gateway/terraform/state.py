"""Reads a Terraform state file: the recorded attributes of every resource, with secrets masked.

Source of the format: the state file, version 4, of Terraform 0.12 and later (`internal/states/statefile/version4.go`).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway.core.errors import CodeInvalid
from gateway.core.model.json import Json
from gateway.core.model.masking import PER_RUN, Masker, is_masked
from gateway.terraform.address import Address, parse_address, written_key
from gateway.terraform.secrets import masked

_VERSION = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One resource instance of the state."""

    address: str
    where: Address
    """The parsed address."""
    attributes: Mapping[str, Json]
    """By the names of the provider's schema. Secrets are masked, see `gateway.terraform.secrets`."""
    provider: str = ""
    """The provider configuration that manages it, e.g. `provider["registry.terraform.io/hashicorp/aws"].west`."""
    dependencies: tuple[str, ...] = ()
    """The blocks it depends on, directly or not, as addresses without any key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The resources of a state file."""

    serial: int = 0
    resources: Mapping[str, Recorded] = field(default_factory=dict)
    """Managed resources by address, without deposed objects, which Terraform is about to delete."""
    data: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """Attributes of data sources by address."""
    masker: Masker = field(default=PER_RUN, repr=False)
    """What masked the secrets in it."""


class StateLookup:
    """Recorded attributes by the names that expressions use: `aws_sqs_queue.orders.arn`, `data.aws_caller_identity.current.id`."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._by_module: Mapping[str, Mapping[str, dict[str, Any]]] | None = None

    def __call__(self, module: str, names: Iterable[str]) -> Mapping[str, Json]:
        """The recorded values of root names (`aws_sqs_queue`, `data`) in the module at an address, without names the state does not have."""
        if self._by_module is None:
            self._by_module = self._build()
        recorded = self._by_module.get(module, {})
        return {name: recorded[name] for name in names if name in recorded}

    def _build(self) -> Mapping[str, Mapping[str, dict[str, Any]]]:
        modules: dict[str, dict[str, dict[str, Any]]] = {}
        for resource in self._state.resources.values():
            roots = modules.setdefault(resource.where.module, {})
            _insert(roots.setdefault(resource.where.resource_type, {}), resource.where, resource.attributes)
        for address, attributes in self._state.data.items():
            where = parse_address(address)
            if where is not None:
                types = modules.setdefault(where.module, {}).setdefault("data", {})
                _insert(types.setdefault(where.resource_type, {}), where, attributes)
        return modules


def _insert(names: dict[str, Any], where: Address, attributes: Mapping[str, Json]) -> None:
    """Insert one instance under its name, or under its name and key if it has a key."""
    if where.key is None:
        names[where.name] = attributes
    else:
        names.setdefault(where.name, {})[str(where.key)] = attributes


def parse_state(source: bytes, name: str, masker: Masker = PER_RUN) -> State:
    """The state in `source`, the bytes of the file called `name`, with secrets masked. Raises `errors.CodeInvalid`."""
    try:
        document = json.loads(source)
    except json.JSONDecodeError as error:
        raise CodeInvalid(f"{name}:{error.lineno}: The state file is not JSON: {error.msg}.") from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise CodeInvalid(f"{name}:1: The state file is not JSON.") from error
    if not isinstance(document, dict) or document.get("version") != _VERSION:
        found = document.get("version") if isinstance(document, dict) else None
        raise CodeInvalid(
            f"{name}:1: The state has format version {found!r}, and Sentinel reads version {_VERSION} only. "
            "Run `terraform state pull` with Terraform 0.12 or later to bring it up to date."
        )
    try:
        return _state(document, masker)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise CodeInvalid(f"{name}:1: The state file is not a complete version 4 state: {error!r}.") from error


def _state(document: Mapping[str, Any], masker: Masker) -> State:
    resources: dict[str, Recorded] = {}
    data: dict[str, Mapping[str, Json]] = {}
    for block in document.get("resources") or []:
        for instance in block["instances"]:
            if "deposed" in instance:
                continue
            recorded = _recorded(block, instance, masker)
            if recorded.address in resources or recorded.address in data:
                raise ValueError(f"{recorded.address} is in it twice")
            if block["mode"] == "data":
                data[recorded.address] = recorded.attributes
            else:
                resources[recorded.address] = recorded
    return State(serial=int(document.get("serial") or 0), resources=resources, data=data, masker=masker)


def _recorded(block: Mapping[str, Any], instance: Mapping[str, Any], masker: Masker) -> Recorded:
    module = f"{block['module']}." if block.get("module") else ""
    mode = {"managed": "", "data": "data."}[block["mode"]]
    address = f"{module}{mode}{block['type']}.{block['name']}{written_key(instance.get('index_key'))}"
    where = parse_address(address)
    if where is None:
        raise ValueError(f"{address!r} is not an address")
    attributes = instance.get("attributes") or {}
    if not isinstance(attributes, dict):
        raise TypeError(f"the attributes of {address} are not an object")
    return Recorded(
        address=address,
        where=where,
        attributes=_with_masked_secrets(block["type"], attributes, instance.get("sensitive_attributes") or [], masker),
        provider=str(block.get("provider") or ""),
        dependencies=tuple(sorted(set(instance.get("dependencies") or []))),
    )


def _with_masked_secrets(
    resource_type: str, attributes: dict[str, Any], marked: Sequence[Any], masker: Masker
) -> Mapping[str, Json]:
    """The attributes with secrets masked, by `secrets.masked` and by the paths that the state marks."""
    known: dict[str, Any] = {
        name: masked(value, resource_type=resource_type, attribute=name, masker=masker)
        for name, value in attributes.items()
    }
    for path in marked:
        # Older versions of Terraform wrote a path of one step as that step, not as a list.
        _mask_at(known, [_step(step) for step in (path if isinstance(path, list) else [path])], masker)
    return known


def _step(step: Mapping[str, Any]) -> str | int:
    """One step of a path in `sensitive_attributes`: an attribute's name, or an index with its type."""
    value = step["value"]
    value = value["value"] if isinstance(value, dict) else value
    return int(value) if step.get("type") == "index" and not isinstance(value, str) else str(value)


def _mask_at(container: Any, path: list[str | int], masker: Masker) -> None:
    """Mask the value at the path. If the path leads nowhere (into a set, or to nothing), mask the nearest value above it."""
    head, rest = path[0], path[1:]
    try:
        inner = container[head]
    except (KeyError, IndexError, TypeError):
        return
    if is_masked(inner) or inner is None:
        return
    if rest and _has(inner, rest[0]):
        _mask_at(inner, rest, masker)
    else:
        container[head] = masker.mask(inner)


def _has(container: Any, step: str | int) -> bool:
    return (isinstance(container, dict) and step in container) or (
        isinstance(container, list) and isinstance(step, int) and 0 <= step < len(container)
    )
