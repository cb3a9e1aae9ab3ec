"""Reads a Terraform state file: what Terraform last knew about every resource, secrets taken out.

Source of the format: the state file, version 4, of Terraform 0.12 and later (`internal/states/statefile/version4.go`).
"""

import functools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gateway.errors import CodeInvalid
from gateway.model.json import Json, digest
from gateway.terraform.address import Address, parse_address, written_key

_VERSION = 4
_SECRET_NAME = re.compile(
    r"(.*_)?(password|passwd|secret|secret_key|secret_string|secret_binary|private_key|private_key_pem|auth_token"
    r"|access_token|client_secret|ses_smtp_password_v4|encrypted_secret|plaintext)"
)
"""Attributes that are secret by their name. The state marks secrets itself, but older versions of Terraform only those the code marks."""
_SECRET_ATTRIBUTES = {
    "aws_ssm_parameter": {"value"},
    "random_password": {"result", "bcrypt_hash"},
    "aws_iam_access_key": {"secret"},
    "aws_secretsmanager_secret_version": {"secret_string", "secret_binary"},
    "tls_private_key": {"private_key_pem", "private_key_openssh", "private_key_pem_pkcs8"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One resource instance as the state knows it."""

    address: str
    where: Address
    """The address, read apart."""
    attributes: Mapping[str, Json]
    """As the provider's schema names them. A secret is `{"sha256": digest of its JSON}`."""
    provider: str = ""
    """The provider configuration that manages it, e.g. `provider["registry.terraform.io/hashicorp/aws"].west`."""
    dependencies: tuple[str, ...] = ()
    """Blocks it depends on, directly or not, as addresses without any key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A state file's resources."""

    serial: int = 0
    resources: Mapping[str, Recorded] = field(default_factory=dict)
    """Managed resources by address. Deposed objects are left out: they are on their way out."""
    data: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """Attributes of data sources by address."""


class Roots:
    """What expressions may say about resources of the state: `aws_sqs_queue.orders.arn`, `data.aws_caller_identity.current.id`."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._by_module: Mapping[str, Mapping[str, dict[str, Any]]] | None = None

    def __call__(self, module: str, names: Iterable[str]) -> Mapping[str, Json]:
        """For a module's address and root names (`aws_sqs_queue`, `data`): what the state knows of each; absent where nothing."""
        if self._by_module is None:
            self._by_module = self._built()
        known = self._by_module.get(module, {})
        return {name: known[name] for name in names if name in known}

    def _built(self) -> Mapping[str, Mapping[str, dict[str, Any]]]:
        modules: dict[str, dict[str, dict[str, Any]]] = {}
        for resource in self._state.resources.values():
            roots = modules.setdefault(resource.where.module, {})
            _place(roots.setdefault(resource.where.resource_type, {}), resource.where, resource.attributes)
        for address, attributes in self._state.data.items():
            where = parse_address(address)
            if where is not None:
                types = modules.setdefault(where.module, {}).setdefault("data", {})
                _place(types.setdefault(where.resource_type, {}), where, attributes)
        return modules


def _place(names: dict[str, Any], where: Address, attributes: Mapping[str, Json]) -> None:
    """Put one instance under its name: alone, or by its key."""
    if where.key is None:
        names[where.name] = attributes
    else:
        names.setdefault(where.name, {})[str(where.key)] = attributes


def read_state(path: Path) -> State:
    """The state in the file; an empty one where there is no file yet. Raises `errors.CodeInvalid` with file and, where known, line."""
    try:
        source = path.read_bytes()
    except FileNotFoundError:
        return State()
    except OSError as error:
        raise CodeInvalid(f"The state file {path.name} cannot be read: {error.strerror}.") from error
    return parse_state(source, path.name)


def parse_state(source: bytes, name: str) -> State:
    """The state in `source`, the bytes of the file called `name`. Raises `errors.CodeInvalid`."""
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
        return _state(document)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise CodeInvalid(f"{name}:1: The state file is not a whole version 4 state: {error!r}.") from error


def _state(document: Mapping[str, Any]) -> State:
    resources: dict[str, Recorded] = {}
    data: dict[str, Mapping[str, Json]] = {}
    for block in document.get("resources") or []:
        for instance in block["instances"]:
            if "deposed" in instance:
                continue
            recorded = _recorded(block, instance)
            if recorded.address in resources or recorded.address in data:
                raise ValueError(f"{recorded.address} stands in it twice")
            if block["mode"] == "data":
                data[recorded.address] = recorded.attributes
            else:
                resources[recorded.address] = recorded
    return State(serial=int(document.get("serial") or 0), resources=resources, data=data)


def _recorded(block: Mapping[str, Any], instance: Mapping[str, Any]) -> Recorded:
    module = f"{block['module']}." if block.get("module") else ""
    mode = {"managed": "", "data": "data."}[block["mode"]]
    address = f"{module}{mode}{block['type']}.{block['name']}{written_key(instance.get('index_key'))}"
    where = parse_address(address)
    if where is None:
        raise ValueError(f"{address!r} is no address")
    attributes = instance.get("attributes") or {}
    if not isinstance(attributes, dict):
        raise TypeError(f"the attributes of {address} are no object")
    return Recorded(
        address=address,
        where=where,
        attributes=_without_secrets(block["type"], attributes, instance.get("sensitive_attributes") or []),
        provider=str(block.get("provider") or ""),
        dependencies=tuple(sorted(set(instance.get("dependencies") or []))),
    )


def _without_secrets(resource_type: str, attributes: dict[str, Any], marked: Sequence[Any]) -> Mapping[str, Json]:
    named = _SECRET_ATTRIBUTES.get(resource_type, set())
    for attribute, value in attributes.items():
        if value and isinstance(value, str) and (attribute in named or _is_secret(attribute)):
            attributes[attribute] = {"sha256": digest(value)}
    for path in marked:
        # Older versions wrote one step, not a list of them, where the path was short.
        _hide(attributes, [_step(step) for step in (path if isinstance(path, list) else [path])])
    return attributes


def masked_like(value: Json, *, resource_type: str, attribute: str, recorded: Json) -> Json:
    """A value out of the code with its secrets as digests: what the state hides at the same place, and what is secret by its name.

    `attribute` is the value's path and `recorded` what the state has there.
    """
    named = {attribute.partition(".")[0]} & _SECRET_ATTRIBUTES.get(resource_type, set())
    if value is not None and (_is_hidden(recorded) or named or _is_secret(attribute.rpartition(".")[2])):
        return {"sha256": digest(value)}
    return _hidden_alike(value, recorded)


def _hidden_alike(value: Json, recorded: Json) -> Json:
    if _is_hidden(recorded) and value is not None:
        return {"sha256": digest(value)}
    if isinstance(value, Mapping) and isinstance(recorded, Mapping):
        return {key: _hidden_alike(item, recorded.get(key)) for key, item in value.items()}
    if isinstance(value, list) and isinstance(recorded, list):
        beside: list[Json] = [*recorded, *[None] * len(value)]
        return [_hidden_alike(item, other) for item, other in zip(value, beside, strict=False)]
    return value


@functools.lru_cache(maxsize=16384)
def _is_secret(attribute: str) -> bool:
    return _SECRET_NAME.fullmatch(attribute) is not None


def _step(step: Mapping[str, Any]) -> str | int:
    """One step of a path in `sensitive_attributes`: an attribute's name, or an index with its type."""
    value = step["value"]
    value = value["value"] if isinstance(value, dict) else value
    return int(value) if step.get("type") == "index" and not isinstance(value, str) else str(value)


def _hide(container: Any, path: list[str | int]) -> None:
    """Replace what is at the path by its digest. A path that leads nowhere (into a set, or to nothing) hides the nearest thing above."""
    head, rest = path[0], path[1:]
    try:
        inner = container[head]
    except (KeyError, IndexError, TypeError):
        return
    if _is_hidden(inner) or inner is None:
        return
    if rest and _reaches(inner, rest[0]):
        _hide(inner, rest)
    else:
        container[head] = {"sha256": digest(inner)}


def _reaches(container: Any, step: str | int) -> bool:
    return (isinstance(container, dict) and step in container) or (
        isinstance(container, list) and isinstance(step, int) and 0 <= step < len(container)
    )


def _is_hidden(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"sha256"}
