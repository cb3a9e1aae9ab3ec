"""What a program invents afresh for each attempt of the same change: idempotency tokens, and names that Terraform's provider generates."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from gateway.core.model.json import is_list

_GENERATED: Final = re.compile(r"([0-9]{18}[0-9a-f]{8})\Z")
"""The end of a name that the provider generates: the time to a tenth of a millisecond, and a counter."""
_SUFFIX: Final = 26
UNPREFIXED: Final = "terraform-"
"""The beginning of a generated name for which the code states no prefix."""


def generated_prefix(text: str) -> str | None:
    """What a name that the provider generated begins with; None for any other text."""
    end = text[-_SUFFIX:]
    return text[:-_SUFFIX] if len(end) == _SUFFIX and _GENERATED.match(end) else None


def without(parameters: Mapping[str, object], paths: Iterable[str]) -> Mapping[str, object]:
    """The parameters without the members at these dotted paths, of two steps at most."""
    left = parameters
    for path in paths:
        first, _, second = path.partition(".")
        value = left.get(first)
        if not second:
            left = {name: item for name, item in left.items() if name != first}
        elif isinstance(value, Mapping):
            left = {**left, first: {name: item for name, item in value.items() if name != second}}
    return left


def texts_at(parameters: Mapping[str, object], paths: Iterable[str]) -> frozenset[str]:
    """The texts at these dotted paths, of two steps at most."""
    found: set[str] = set()
    for path in paths:
        first, _, second = path.partition(".")
        value = parameters.get(first)
        if second:
            value = value.get(second) if isinstance(value, Mapping) else None
        if isinstance(value, str) and value:
            found.add(value)
    return frozenset(found)


def renamed(value: object, names: Mapping[str, str]) -> object:
    """The value with each text that is a key of `names` replaced; keys of maps stay as they are."""
    if not names:
        return value
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, Mapping):
        return {name: renamed(item, names) for name, item in value.items()}
    return [renamed(item, names) for item in value] if is_list(value) and not isinstance(value, bytes) else value
