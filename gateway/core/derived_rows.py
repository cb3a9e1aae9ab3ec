"""Rows of operations that nobody wrote by hand: which resource type an AWS operation concerns, read lazily from one file per service.

The files in `derived/` are generated and reviewed, one line per row. A hand-made row of `gateway.effects.registry` wins over every derived one.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from gateway.core.model.json import Json
from gateway.core.model.mutation import EffectAction

DIRECTORY = files(__package__) / "derived"
"""One `SERVICE.json` for each botocore service that has rows."""


class Origin(StrEnum):
    """The source that a row comes from."""

    TRACED = "traced"
    """The requests of the real Terraform provider."""
    MODEL = "model"
    """CloudFormation's handlers, or IAM's resource types."""
    LEARNED = "learned"
    """A call that was held, approved and applied, and read back; accepted by a person."""


class Confidence(StrEnum):
    """How much of a call a row explains."""

    ATTRIBUTES = "attributes"
    """The resource, and the attribute of every parameter that the row names, are certain."""
    RESOURCE = "resource"
    """The resource and the direction are certain. The call is understood as touching the resource as a whole."""
    TYPE = "type"
    """Only the resource type and the direction are certain. It says nothing about a call alone; a plan may explain the call."""


class ValueForm(StrEnum):
    """How the value of a parameter becomes the value of an attribute."""

    SAME = "same"
    TEXT = "text"
    """The number or boolean is text in one of the two."""
    CASE = "case"
    """Upper and lower case differ."""
    JSON = "json"
    """A JSON document, perhaps spelled in another way."""
    DATE = "date"
    BASE64 = "base64"
    """The attribute is text, and the parameter its bytes."""
    NEGATED = "negated"
    ARN = "arn"
    """The parameter is an ARN (or URL) that ends with the value of the attribute."""
    PART = "part"
    """The parameter is a part of the attribute, the id; the row's `id_form` says how the id is made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeSource:
    """The attribute that a parameter carries, and in which form."""

    attribute: str
    form: ValueForm = ValueForm.SAME


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedRow:
    """What one operation does to resources of one type. Parameters are dotted paths of botocore's model, without steps for list members."""

    service: str
    operation: str
    resource_type: str
    """A Terraform type (`aws_sqs_queue`); if Terraform has none, a CloudFormation type (`AWS::SQS::Queue`) or IAM's (`sqs:queue`)."""
    actions: frozenset[EffectAction]
    """CREATE with SET is an upsert. DELETE with SET: the operation removes the resource from a list, or changes the list."""
    origin: Origin
    confidence: Confidence
    identity: Mapping[str, AttributeSource] = field(default_factory=dict)
    """Parameters that identify the resource. Empty for a CREATE whose name AWS chooses."""
    id_form: str = ""
    """How the provider makes the id of the parameters, e.g. `{ApiId}:{StageName}`; only if one of them is known as a part of the id alone."""
    attributes: Mapping[str, AttributeSource] = field(default_factory=dict)
    removes: Mapping[str, str] = field(default_factory=dict)
    """Parameter → attribute whose old value it names, so that AWS removes it."""
    clears: frozenset[str] = frozenset()
    """Attributes that the operation takes away by itself, without a parameter that names them."""
    resets: frozenset[str] = frozenset()
    """Parameters that the provider leaves out to unset their attribute: a call without them may reset it. Of the others nothing is known."""
    constants: Mapping[str, Json] = field(default_factory=dict)
    """Parameters that had the same value in every call. They explain a call only with that value."""
    controls: frozenset[str] = frozenset()
    """Parameters that control how the call is made: idempotency tokens, dry runs."""
    unexplained: frozenset[str] = frozenset()
    """Parameters that were sent, and that no attribute explains."""


def derived_rows(service: str, operation: str, learned: Path | None = None) -> tuple[DerivedRow, ...]:
    """The rows of an operation, by botocore's names, in the order of their types. Empty if there is none.

    `learned` is the directory of accepted rows (`gateway.effects.learned_rows`), which are read as the shipped ones are.
    """
    shipped = tuple(_row(service, line) for line in _lines(service).get(operation, ()))
    if learned is None:
        return shipped
    own = (_row(service, line) for line in _lines(service, learned).get(operation, ()))
    return (*shipped, *(row for row in own if row.origin is Origin.LEARNED))


def services() -> tuple[str, ...]:
    """The botocore services that have derived rows, sorted."""
    return tuple(sorted(path.name.removesuffix(".json") for path in DIRECTORY.iterdir() if path.name.endswith(".json")))


def operations_of(service: str) -> tuple[str, ...]:
    """The operations of a botocore service that have derived rows, sorted."""
    return tuple(sorted(_lines(service)))


@lru_cache(maxsize=64)
def types_of_service(service: str) -> frozenset[str]:
    """Terraform's types that operations of a botocore service concern."""
    lines = (line for group in _lines(service).values() for line in group)
    return frozenset(match[1].decode() for line in lines if (match := _TYPE.search(line)) is not None)


@lru_cache(maxsize=64)
def _lines(service: str, directory: Path | Traversable | None = None) -> Mapping[str, tuple[bytes, ...]]:
    """Operation → its rows as they stand in the file. A row is parsed when it is asked for, so that a large file costs its bytes only."""
    if not service.replace("-", "").isalnum():
        return {}
    path = (directory or DIRECTORY) / f"{service}.json"
    if not path.is_file():
        return {}
    found: dict[str, list[bytes]] = {}
    for line in path.read_bytes().splitlines():
        if line.startswith(_ROW):
            name = line[len(_ROW) : line.index(b'"', len(_ROW))].decode()
            found.setdefault(name, []).append(line.rstrip(b","))
    return {name: tuple(lines) for name, lines in found.items()}


_TYPE = re.compile(rb'"type": "(aws_[^"]+)"')
_ROW = b'{"operation": "'
"""The start of each line that has a row."""


def row_to_json(row: DerivedRow) -> dict[str, Json]:
    """The JSON form of a row, without what is empty; its file names the service."""
    found: dict[str, Json] = {
        "operation": row.operation,
        "type": row.resource_type,
        "actions": [action.value for action in sorted(row.actions)],
        "origin": row.origin.value,
        "confidence": row.confidence.value,
        "identity": {name: _source_to_json(source) for name, source in sorted(row.identity.items())},
        "id_form": row.id_form,
        "attributes": {name: _source_to_json(source) for name, source in sorted(row.attributes.items())},
        "removes": dict(sorted(row.removes.items())),
        "clears": [*sorted(row.clears)],
        "resets": [*sorted(row.resets)],
        "constants": dict(sorted(row.constants.items())),
        "controls": [*sorted(row.controls)],
        "unexplained": [*sorted(row.unexplained)],
    }
    return {name: value for name, value in found.items() if value not in ({}, [], "")}


def file_text(service: str, sources: Mapping[str, str], rows: tuple[DerivedRow, ...]) -> str:
    """The text of a service's file: a line per row, sorted by operation and type. `sources` are the versions that the rows come from."""
    ordered = sorted(rows, key=lambda row: (row.operation, row.resource_type))
    lines = ",\n".join(json.dumps(row_to_json(row), ensure_ascii=False) for row in ordered)
    head = f'"service": {json.dumps(service)},\n"sources": {json.dumps(dict(sorted(sources.items())))},\n'
    return f'{{\n{head}"rows": [\n{lines}\n]\n}}\n'


def rows_of_text(service: str, text: bytes) -> tuple[DerivedRow, ...]:
    """All rows of the text that `file_text` made for a service."""
    return tuple(_row(service, line.rstrip(b",")) for line in text.splitlines() if line.startswith(_ROW))


def _source_to_json(source: AttributeSource) -> Json:
    return source.attribute if source.form is ValueForm.SAME else [source.attribute, source.form.value]


@lru_cache(maxsize=512)
def _row(service: str, line: bytes) -> DerivedRow:
    entry = json.loads(line)
    return DerivedRow(
        service=service,
        operation=entry["operation"],
        resource_type=entry["type"],
        actions=frozenset(map(EffectAction, entry["actions"])),
        origin=Origin(entry["origin"]),
        confidence=Confidence(entry["confidence"]),
        identity={name: _source(value) for name, value in entry.get("identity", {}).items()},
        id_form=entry.get("id_form", ""),
        attributes={name: _source(value) for name, value in entry.get("attributes", {}).items()},
        removes=entry.get("removes", {}),
        clears=frozenset(entry.get("clears", ())),
        resets=frozenset(entry.get("resets", ())),
        constants=entry.get("constants", {}),
        controls=frozenset(entry.get("controls", ())),
        unexplained=frozenset(entry.get("unexplained", ())),
    )


def _source(value: str | list[str]) -> AttributeSource:
    if isinstance(value, str):
        return AttributeSource(attribute=value)
    return AttributeSource(attribute=value[0], form=ValueForm(value[1]))
