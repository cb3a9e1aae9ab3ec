"""The class of each AWS operation (READ, MUTATION, CREDENTIAL, SECRET, EXECUTE, CRYPTO or DATA), read from one generated table.

`gateway.aws.models.generate_call_classes` writes the table and explains the rules. An operation that is not in it (of a newer botocore) is a MUTATION.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import msgspec

from gateway.aws.models.lazy_entries import LazyEntries
from gateway.core.model.mutation import Call, CallClass
from gateway.effects.partiql_statements import statements_of

SHIPPED = Path(__file__).with_name("classes.json")


class CallClassTable:
    """The table of classes, in memory."""

    def __init__(self, table: Mapping[str, Mapping[str, CallClass]]) -> None:
        self._table = table

    def of(self, service: str, operation: str) -> CallClass:
        """The class of an operation, by botocore's names. MUTATION if the table does not list it."""
        return self._table.get(service, {}).get(operation, CallClass.MUTATION)

    def mutating(self) -> Mapping[str, tuple[str, ...]]:
        """Service → its operations of the class MUTATION, both sorted."""
        found = {
            service: tuple(sorted(name for name, kind in table.items() if kind is CallClass.MUTATION))
            for service, table in sorted(self._table.items())
        }
        return {service: operations for service, operations in found.items() if operations}


class _Table(msgspec.Struct):
    services: dict[str, msgspec.Raw]


_groups = msgspec.json.Decoder(dict[CallClass, tuple[str, ...]])


def load(path: Path = SHIPPED) -> CallClassTable:
    """The table, read from the shipped file; a service when a call first names it."""
    return CallClassTable(LazyEntries(msgspec.json.decode(path.read_bytes(), type=_Table).services, _classes))


def _classes(_service: str, text: msgspec.Raw) -> Mapping[str, CallClass]:
    return {name: call_class for call_class, names in _groups.decode(text).items() for name in names}


@lru_cache(maxsize=1)
def shipped() -> CallClassTable:
    """The shipped table, read once per process; it never changes."""
    return load()


def class_of_call(call: Call, by_operation: CallClass) -> CallClass:
    """READ if every statement only reads, DATA if all are understood, else the class of the operation."""
    statements = statements_of(call) if by_operation is CallClass.EXECUTE else ()
    if not statements:
        return by_operation
    return CallClass.READ if all(statement.reads for statement in statements) else CallClass.DATA
