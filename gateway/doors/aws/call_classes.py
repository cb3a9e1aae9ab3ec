"""What each AWS operation may do: READ, MUTATION, CREDENTIAL, SECRET, EXECUTE or CRYPTO, out of one generated table.

`generate_classes` makes the table and says by what rule. An operation that is not in it (a newer botocore) is a MUTATION.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from gateway.model.mutation import CallClass

SHIPPED = Path(__file__).with_name("classes.json")


class CallClassTable:
    """The table, in memory."""

    def __init__(self, table: Mapping[str, Mapping[str, CallClass]]) -> None:
        self._table = table

    def of(self, service: str, operation: str) -> CallClass:
        """The class of an operation, by botocore's names. Unknown is MUTATION."""
        return self._table.get(service, {}).get(operation, CallClass.MUTATION)


def load(path: Path = SHIPPED) -> CallClassTable:
    """The table, read from the shipped file (about 10 ms)."""
    services = json.loads(path.read_bytes())["services"]
    return CallClassTable(
        {
            service: {name: CallClass(call_class) for call_class, names in groups.items() for name in names}
            for service, groups in services.items()
        }
    )


@lru_cache(maxsize=1)
def shipped() -> CallClassTable:
    """The shipped table, read once per process; it never changes."""
    return load()


def class_of(service: str, operation: str) -> CallClass:
    """The class of an operation, by botocore's names, for callers without a table at hand (the JSON API)."""
    return shipped().of(service, operation)
