"""The parameters and replies that AWS marks as sensitive, read from one generated table.

`gateway.aws.models.generate_sensitive_members` writes the table from botocore's models, which the core does not import.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

SHIPPED: Final = Path(__file__).with_name("sensitive_members.json")

SHOWN: Final[Mapping[str, frozenset[str]]] = {
    "athena": frozenset({"QueryString", "ExecutionParameters"}),
    "lambda": frozenset({"Payload"}),
    "s3": frozenset({"KMSKeyId", "KMSMasterKeyID", "SSEKMSEncryptionContext", "SSEKMSKeyId"}),
    "ssm": frozenset({"Parameters"}),
    "stepfunctions": frozenset({"definition", "input"}),
}
"""Parameters that are marked and that an approver must see: they say what would run, or with which key. In them, only secrets of a known form
are masked."""


def sensitive_parameters(service: str, operation: str) -> frozenset[str]:
    """The names of the parameters of an operation, at any depth, that AWS marks as sensitive; without those in `SHOWN`."""
    return frozenset(_table()["parameters"].get(service, {}).get(operation, "").split()) - SHOWN.get(
        service, frozenset()
    )


def reply_may_hold_secret(service: str, operation: str) -> bool:
    """Whether the reply of an operation has a member that AWS marks as sensitive or that has a secret's name, and was not reviewed as harmless."""
    return operation in _replies().get(service, frozenset())


def handed_out(service: str, operation: str) -> frozenset[str]:
    """Where the reply of a change hands out a secret: `parent/name` of a member or element, `@name` of a header, `*` for the whole body."""
    places = _table()["withheld"].get(service, {}).get(operation)
    return frozenset(places.split()) if places else frozenset()


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    table: Mapping[str, Mapping[str, Mapping[str, str]]] = json.loads(SHIPPED.read_bytes())
    return table


@lru_cache(maxsize=1)
def _replies() -> Mapping[str, frozenset[str]]:
    return {service: frozenset(names) for service, names in _table()["replies"].items()}
