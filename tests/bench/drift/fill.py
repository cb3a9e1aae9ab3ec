"""Fills the placeholders of kinds with values of the scenario, of the state and of earlier replies."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jmespath

_WHOLE = re.compile(r"\$(?!\$)([^\s${}]+)")
_INSIDE = re.compile(r"\$\{([^}]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """Where placeholders find their values."""

    state: Mapping[str, Mapping[str, Any]]
    """Attributes in the state, by address."""
    on: str = ""
    own: Mapping[str, Any] = field(default_factory=dict)
    """The scenario's own values, which come before the attributes of the resource `on`."""
    replies: Sequence[Any] = ()

    def find(self, name: str) -> Any:
        """The value that a placeholder names. Raises KeyError."""
        if name.startswith("@"):
            index, _, path = name[1:].partition(".")
            return jmespath.search(path, self.replies[int(index)])
        if "#" in name:
            address, _, attribute = name.partition("#")
            return self.state[address][attribute]
        if name in self.own:
            return fill(self.own[name], self)
        return self.state[self.on][name]


def fill(value: Any, values: Values) -> Any:
    """`value` with all placeholders replaced, in keys too. Raises KeyError if one has no value."""
    match value:
        case str():
            return _text(value, values)
        case Mapping():
            return {fill(key, values): fill(item, values) for key, item in value.items()}
        case list():
            return [fill(item, values) for item in value]
    return value


def _text(text: str, values: Values) -> Any:
    if whole := _WHOLE.fullmatch(text):
        return values.find(whole[1])
    return _INSIDE.sub(lambda match: _plain(values.find(match[1])), text).replace("$$", "$")


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
