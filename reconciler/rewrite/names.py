"""Names in new code: labels of resources, and variables of modules."""

import re
from collections.abc import Iterator, Mapping, Sequence
from os.path import commonprefix

from gateway.core.model.json import Json
from gateway.terraform.config.module import Module, ResourceInstance
from reconciler.model import Wanted

_NAMES = ("name", "bucket", "function_name", "identifier", "id")
_RESERVED = frozenset({"source", "version", "providers", "count", "for_each", "lifecycle", "depends_on", "locals"})
_GENERIC = frozenset({"name", "description", "tags", "type", "enabled", "value", "policy", "status", "mode", "id"})
"""Attributes that many resources have, so that their name alone says little."""
_NAMELESS = frozenset({"this", "main", "default", "self"})


def names_of(attributes: Mapping[str, Json]) -> Iterator[str]:
    """What people call a resource with these attributes."""
    yield from dict.fromkeys(str(attributes[key]) for key in _NAMES if isinstance(attributes.get(key), str))


def shared_beginning(name: str, *others: str) -> str:
    """The longest beginning that a name shares with another, up to a separator."""
    found = max((commonprefix([name, other]) for other in others), key=len, default="")  # noqa: RUF071  names, not paths
    return found[: max(found.rfind(separator) for separator in "-/_.:") + 1]


def label_of(name: str) -> str:
    """A name as a label: `AmazonS3ReadOnly` is `amazon_s3_read_only`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"[^A-Za-z0-9]+", "_", words).strip("_").lower()


def variable_name(levels: Sequence[Module], wanted: Wanted, instance: ResourceInstance, like: str = "") -> str:
    """A name that no variable of any of the modules has, `like` if that is free."""
    words = [_snake(step) for step in wanted.path.steps if not step.isdecimal()]
    base = words[-1]
    kind, name = instance.resource_type, _snake(instance.name)
    if name in _NAMELESS:
        name = kind.rpartition("_")[2]
    longer = [f"{words[-2]}_{base}"] if len(words) > 1 else []
    shared = sum(each.startswith(f"{kind}.") for each in instance.module.source.resources) > 1
    candidates = [f"{name}_{base}", *longer] if shared or base in _GENERIC else [base, *longer, f"{name}_{base}"]
    candidates = [*([like, f"{name}_{like}"] if like else []), *candidates]
    candidates += [f"{name}_{base}_{number}" for number in range(2, 100)]
    taken = {each for level in levels for each in level.source.variables} | _RESERVED
    return next(each for each in candidates if each not in taken)


def _snake(text: str) -> str:
    """`maxReceiveCount` as `max_receive_count`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)
    return re.sub(r"\W+", "_", spaced).strip("_").lower() or "value"
