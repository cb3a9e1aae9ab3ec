"""A verified record with its decoded body, as the derived tables read it."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias


class DecodedRecord(NamedTuple):
    """One record."""

    seq: int
    at: str
    mutation_id: str
    actor: str
    stack: str
    text: str
    """Its body as JSON text."""
    body: Any
    """Its body as one of the types in `bodies.BODIES`, by its stage."""


Handlers: TypeAlias = Mapping[str, Callable[[DecodedRecord], None]]
"""What a table does about a record, by the record's stage."""
