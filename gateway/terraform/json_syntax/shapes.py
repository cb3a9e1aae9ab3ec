"""Says which names in JSON code are blocks, and how the strings of the others are read: the code itself does not.

The rules are those of Terraform's own blocks (language documentation, "JSON Configuration Syntax"), and of the blocks of the
AWS provider, which ship with Sentinel, and of other providers whose own schema was asked. Of any other resource each argument is taken
for a value.
"""

import functools
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.resources import files
from typing import Any

_FILE = "blocks_aws_5.json.gz"
"""`[kind, type, {name: {name: …}}]`, the nested blocks of each type. `gateway.aws.models.generate_schema` writes it."""
_SHIPPED = ("aws_", "aws")
"""How the types begin, and the provider is called, whose nested blocks ship."""
_LEARNED: dict[tuple[str, str], Mapping[str, Any]] = {}
"""The nested blocks that providers said, for this process: a type has the same ones wherever it stands."""


class StringForm(StrEnum):
    """How Terraform reads the strings of an argument."""

    TEMPLATE = "template"
    """As a template: `${…}` is an expression."""
    LITERAL = "literal"
    """As they are."""
    CODE = "code"
    """As code: a reference or a type."""


@dataclass(frozen=True, slots=True)
class JsonBlockShape:
    """A kind of block: how many labels it has, and what is inside."""

    labels: int
    inside: "JsonBodyShape"


@dataclass(frozen=True, slots=True)
class JsonBodyShape:
    """What may stand in a body."""

    blocks: Mapping[str, JsonBlockShape] = field(default_factory=dict)
    forms: Mapping[str, StringForm] = field(default_factory=dict)
    """The form of arguments by name, of those that are not `other`."""
    other: StringForm = StringForm.TEMPLATE

    def form(self, name: str) -> StringForm:
        """How the strings of an argument are read."""
        return self.forms.get(name, self.other)


_LITERAL, _CODE = StringForm.LITERAL, StringForm.CODE
_VALUES = JsonBodyShape()
_TEXTS = JsonBodyShape(other=_LITERAL)
_CHECKED = JsonBlockShape(0, _VALUES)
_LIFECYCLE = JsonBodyShape(
    {"precondition": _CHECKED, "postcondition": _CHECKED}, {"ignore_changes": _CODE, "replace_triggered_by": _CODE}
)
_CONNECTION = JsonBlockShape(0, _VALUES)
_PROVISIONER = JsonBlockShape(1, JsonBodyShape({"connection": _CONNECTION}, {"when": _CODE, "on_failure": _CODE}))
_OF_RESOURCES = {
    "lifecycle": JsonBlockShape(0, _LIFECYCLE),
    "connection": _CONNECTION,
    "provisioner": _PROVISIONER,
}
_DYNAMIC = JsonBlockShape(1, _VALUES)
_TERRAFORM = JsonBodyShape(
    {
        "backend": JsonBlockShape(1, _TEXTS),
        "cloud": JsonBlockShape(0, JsonBodyShape({"workspaces": JsonBlockShape(0, _TEXTS)}, other=_LITERAL)),
        "required_providers": JsonBlockShape(0, _TEXTS),
        "provider_meta": JsonBlockShape(1, _VALUES),
    },
    other=_LITERAL,
)
_TYPED = ("resource", "data", "ephemeral")

VARIABLE_VALUES = _TEXTS
"""The body of a file with values of variables."""

FILE = JsonBodyShape(
    {
        "terraform": JsonBlockShape(0, _TERRAFORM),
        "provider": JsonBlockShape(1, _VALUES),
        "variable": JsonBlockShape(
            1,
            JsonBodyShape({"validation": _CHECKED}, {"type": _CODE, "default": _LITERAL, "description": _LITERAL}),
        ),
        "locals": JsonBlockShape(0, _VALUES),
        "output": JsonBlockShape(
            1, JsonBodyShape({"precondition": _CHECKED}, {"depends_on": _CODE, "description": _LITERAL})
        ),
        "module": JsonBlockShape(
            1, JsonBodyShape({}, {"source": _LITERAL, "version": _LITERAL, "depends_on": _CODE, "providers": _CODE})
        ),
        **{kind: JsonBlockShape(2, _VALUES) for kind in _TYPED},
        "moved": JsonBlockShape(0, JsonBodyShape({}, {"from": _CODE, "to": _CODE})),
        "import": JsonBlockShape(0, JsonBodyShape({}, {"to": _CODE, "provider": _CODE})),
        "removed": JsonBlockShape(
            0,
            JsonBodyShape(
                {"lifecycle": _CHECKED, "connection": _CONNECTION, "provisioner": _PROVISIONER}, {"from": _CODE}
            ),
        ),
        "check": JsonBlockShape(1, JsonBodyShape({"data": JsonBlockShape(2, _VALUES), "assert": _CHECKED})),
    }
)
"""The body of a file of code."""


def body_of(header: tuple[str, ...], around: JsonBodyShape) -> JsonBodyShape:
    """What is inside a block with this header that stands in the body `around`."""
    kind, *labels = header
    if kind == "dynamic":
        made = around.blocks.get(labels[0], _CHECKED).inside
        return JsonBodyShape({"content": JsonBlockShape(0, made)}, {"iterator": _CODE})
    if kind == "provider" and around is FILE:
        return _nested(kind, labels[0])
    return _typed(kind, labels[0]) if kind in _TYPED and labels else around.blocks[kind].inside


@functools.lru_cache(maxsize=512)
def _typed(kind: str, name: str) -> JsonBodyShape:
    """The body of a resource or data source of a type."""
    blocks = {"dynamic": _DYNAMIC, **_nested(kind, name).blocks, **_OF_RESOURCES}
    return JsonBodyShape(blocks, {"depends_on": _CODE, "provider": _CODE})


def learn(blocks: Mapping[tuple[str, str], Mapping[str, Any]]) -> None:
    """Take in the nested blocks, as `{name: {name: …}}`, by kind and type, of types that do not ship with Sentinel."""
    _LEARNED.update(blocks)
    _typed.cache_clear()


def is_known(kind: str, name: str) -> bool:
    """Whether the nested blocks of a type are known."""
    return name.startswith(_SHIPPED) or (kind, name) in _LEARNED


def _nested(kind: str, name: str) -> JsonBodyShape:
    if not name.startswith(_SHIPPED) and (kind, name) in _LEARNED:
        return _shape(_LEARNED[kind, name])
    line = _lines().get((kind, name))
    return _shape({} if line is None else json.loads(line)[2])


def _shape(tree: Mapping[str, Any]) -> JsonBodyShape:
    """A body with these nested blocks, each of which a `dynamic` block may make too."""
    blocks = {name: JsonBlockShape(0, _shape(inner)) for name, inner in tree.items()}
    return JsonBodyShape({**blocks, "dynamic": _DYNAMIC} if blocks else {})


@functools.cache
def _lines() -> Mapping[tuple[str, str], bytes]:
    """The lines of the file by kind and type, not parsed yet: most stacks have few types."""
    packed = (files(__package__) / _FILE).read_bytes()
    found: dict[tuple[str, str], bytes] = {}
    for line in gzip.decompress(packed).splitlines():
        _, kind, _, name, _ = line.split(b'"', 4)
        found[kind.decode(), name.decode()] = line
    return found
