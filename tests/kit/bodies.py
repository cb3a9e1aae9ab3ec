"""Records and parts of them for tests that care about a few members only: the others are empty, zero, false or null."""

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from gateway.core.model.json import canonical_text
from gateway.core.records.codec import BODIES, decode_tolerantly
from gateway.core.records.record import Body, Record, Stage, UnreadableBody
from gateway.core.records.write_backs import ReconciledBody

_Part = TypeVar("_Part", bound=msgspec.Struct)


def sample_record(*, stage: Stage, body: Mapping[str, Any] | None = None, **fields: Any) -> Record:
    """A record of this stage with these members of its body."""
    return Record(body=sample_body(stage, body or {}), **fields)


def sample_body(stage: Stage, members: Mapping[str, Any]) -> Body:
    """A body of this stage with these members."""
    return msgspec.convert(_filled(_shape(BODIES[stage]), members), BODIES[stage])


def unreadable(stage: Stage, members: Mapping[str, Any]) -> Body:
    """The body with these members as the ledger reads it where they do not fit the stage's type."""
    body = decode_tolerantly(stage.value, canonical_text(members))
    assert isinstance(body, UnreadableBody)
    return body


def written_back(members: Mapping[str, Any]) -> ReconciledBody:
    """The body of RECONCILED with these members."""
    return sample_part(ReconciledBody, members)


def sample_part(kind: type[_Part], members: Mapping[str, Any]) -> _Part:
    """A part of a body with these members."""
    return msgspec.convert(_filled(_shape(kind), members), kind)


@cache
def _shape(kind: type[msgspec.Struct]) -> inspect.Type:
    """What msgspec knows of a type. Asking takes a hundred times as long as filling it."""
    return inspect.type_info(kind)


def _filled(kind: inspect.Type, given: Any) -> Any:
    match kind:
        case inspect.StructType(fields=fields) | inspect.DataclassType(fields=fields) if isinstance(given, Mapping):
            known = {field.encode_name: field for field in fields}
            told = {name: _filled(known[name].type, value) for name, value in given.items() if name in known}
            return {name: _empty(field.type) for name, field in known.items() if field.required} | told
        case inspect.VarTupleType(item_type=item) if isinstance(given, list | tuple):
            return [_filled(item, each) for each in given]
        case inspect.UnionType(types=kinds) if given is not None:
            return next((_filled(each, given) for each in kinds if not isinstance(each, inspect.NoneType)), given)
    return given


def _empty(kind: inspect.Type) -> Any:
    match kind:
        case inspect.StructType() | inspect.DataclassType():
            return _filled(kind, {})
        case inspect.EnumType(cls=members):
            return next(iter(members)).value
        case inspect.VarTupleType():
            return []
        case inspect.DictType():
            return {}
        case inspect.StrType():
            return ""
        case inspect.BoolType():
            return False
        case inspect.IntType() | inspect.FloatType():
            return 0
    return None
