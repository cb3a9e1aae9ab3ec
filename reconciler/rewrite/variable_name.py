"""Names a new variable of a module: by the attribute that it sets, with the resource's name where that alone would not say enough."""

import re
from collections.abc import Sequence

from gateway.terraform.config.instance import ResourceInstance
from gateway.terraform.config.module import Module
from reconciler.model import Wanted

_RESERVED = frozenset({"source", "version", "providers", "count", "for_each", "lifecycle", "depends_on", "locals"})
_GENERIC = frozenset({"name", "description", "tags", "type", "enabled", "value", "policy", "status", "mode", "id"})
"""Attributes that many resources have, so that their name alone says little."""
_NAMELESS = frozenset({"this", "main", "default", "self"})


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
