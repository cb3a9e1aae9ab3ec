"""A notice: the message of a webhook about one record, and the state of its delivery."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from gateway.core.model.json import Json
from gateway.core.times import utc_text

if TYPE_CHECKING:
    from gateway.core.records.record import Record


class NoticeType(StrEnum):
    """What happened."""

    HELD = "mutation.held"
    DECIDED = "mutation.decided"
    SETTLED = "mutation.settled"
    APPROVAL_GIVEN = "approval.given"
    CLAIM_EXPIRED = "claim.expired"
    DRIFT_FOUND = "drift.found"


class DeliveryState(StrEnum):
    """What came of an attempt."""

    DELIVERED = "delivered"
    RETRYING = "retrying"
    """It failed, and is tried again later."""
    GIVEN_UP = "given_up"


_DIGITS: Final = 16
_LARGEST: Final = 64 * 1024
"""Bytes of a notice. What is larger tells less (`cut`), so that no receiver refuses it for its size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One event, as others are told of it."""

    id: str
    """Names the record, so that a receiver can drop what it has had already."""
    type: NoticeType
    at: datetime
    mutation_id: str
    stack: str
    actor: str
    """Who asked for the change, or who is behind what was found."""
    verdict: str = ""
    data: Mapping[str, Json]

    def body(self) -> bytes:
        """The JSON document that is sent."""
        whole = self._encoded(self.data)
        if len(whole) <= _LARGEST:
            return whole
        short = {name: value for name, value in self.data.items() if isinstance(value, str | int | None)}
        return self._encoded({**short, "cut": True})

    def _encoded(self, data: Mapping[str, Json]) -> bytes:
        return json.dumps(
            {"type": self.type.value, "timestamp": utc_text(self.at), "data": data}, ensure_ascii=False
        ).encode()


def notice_id(record: "Record") -> str:
    """The id of a record's notice: the record's number and the beginning of its hash, so a restored ledger never reuses it."""
    return f"rec_{record.seq}_{record.hash[:_DIGITS]}"


def seq_of(identifier: str) -> int:
    """The number of the record that a notice is about; 0 if the text is not the id of a notice."""
    parts = identifier.split("_")
    known = len(parts) == 3 and parts[0] == "rec" and parts[1].isascii() and parts[1].isdigit() and len(parts[1]) < 19  # noqa: PLR2004  the form above
    return int(parts[1]) if known else 0
