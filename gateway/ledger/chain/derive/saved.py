"""The derivation of the tables after some record, as bytes: so that it can go on from there when the records before are not at hand."""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from gateway.core.errors import LedgerBroken
from gateway.ledger.chain.derive.derivation import DerivedTable
from gateway.ledger.chain.derive.expected_table import SUM_BYTES, OneOf
from gateway.ledger.chain.derive.narrowed import FOLLOWED_EFFECT
from gateway.ledger.store.migrate import HEAD

_NOT_SAVED: Final = ("table", "handlers")
"""What a part makes itself for its session."""
_effect: Final = msgspec.json.Decoder(FOLLOWED_EFFECT).decode
_DICT, _LIST, _TUPLE, _SET, _ONE_OF, _EFFECT, _PLAIN = "dltsoep"


def saved(parts: Iterable[DerivedTable]) -> bytes:
    """What the parts know. The rows that are final are compared, as far as they are not, and leave only their sum."""
    content = {}
    for part in parts:
        part.table.compare_final()
        content[part.table.name] = {
            "rows": _packed(part.table.rows),
            "compared": part.table.compared,
            "sum": part.table.sum.to_bytes(SUM_BYTES, "big"),
            "own": {name: _packed(value) for name, value in vars(part).items() if name not in _NOT_SAVED},
        }
    return msgspec.msgpack.encode({"schema": HEAD, "tables": content})


def restore(parts: Iterable[DerivedTable], content: bytes) -> None:
    """Have new parts know what `saved` wrote. Raises `errors.LedgerBroken` if that was another version of Sentinel, whose tables differ."""
    found = msgspec.msgpack.decode(content)
    for part in parts:
        said = found["tables"].get(part.table.name)
        if said is None or set(said["own"]) != set(vars(part)) - set(_NOT_SAVED):
            raise LedgerBroken(
                f"The archive was made by a Sentinel with other tables ({found['schema']}; this one has {HEAD}), so what followed from the archived "
                "records can only be checked with their files. Name them with `--archive`."
            )
        part.table.rows = _unpacked(said["rows"])
        if part.table.seen is not None:
            part.table.seen.update(part.table.rows)
        part.table.go_on_from(said["compared"], int.from_bytes(said["sum"], "big"))
        for name, value in said["own"].items():
            there = getattr(part, name)
            if isinstance(there, dict):
                there.update(_unpacked(value))  # it may be a `defaultdict`
            else:
                setattr(part, name, _unpacked(value))


def _packed(value: Any) -> Any:
    """The value with its type, as msgpack has no sets, and lists for tuples."""
    match value:
        case dict():
            return [_DICT, [[_packed(key), _packed(each)] for key, each in value.items()]]
        case OneOf():
            return [_ONE_OF, [_packed(each) for each in value]]
        case set() | frozenset():
            return [_SET, [_packed(each) for each in value]]
        case tuple():
            return [_TUPLE, [_packed(each) for each in value]]
        case list():
            return [_LIST, [_packed(each) for each in value]]
        case msgspec.Struct():
            return [_EFFECT, msgspec.json.encode(value)]
        case _:
            return [_PLAIN, value]


def _unpacked(packed: Any) -> Any:
    kind, value = packed
    match kind:
        case "d":
            return {_unpacked(key): _unpacked(each) for key, each in value}
        case "o":
            return OneOf(_unpacked(each) for each in value)
        case "s":
            return {_unpacked(each) for each in value}
        case "t":
            return tuple(_unpacked(each) for each in value)
        case "l":
            return [_unpacked(each) for each in value]
        case "e":
            return _effect(value)
        case _:
            return value
