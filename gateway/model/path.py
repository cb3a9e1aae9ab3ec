"""Attribute paths as effects and contracts write them: dotted, a block of which there is one only without its index."""

from collections.abc import Mapping

from gateway.model.json import Json


def value_at(attributes: Json, path: str) -> Json:
    """The value at a dotted path, None where there is none. A nested block of which there may be one only counts as its content."""
    value = attributes
    for step in path.split("."):
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if not isinstance(value, Mapping) or step not in value:
            return None
        value = value[step]
    return value


def covers(path: str, other: str) -> bool:
    """Whether `other` is the attribute at `path` or a part of it."""
    return other == path or other.startswith(f"{path}.")
