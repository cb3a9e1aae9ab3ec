"""Shows implicit conflicts: which claimed values are live no more, since when, and who probably undid them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gateway.model.json import to_json
from gateway.model.record import Record, Stage
from gateway.model.undone import Undone, undone_by_to_json


def undone_to_json(undone: Undone | None) -> dict[str, Any] | None:
    """The implicit conflict of a claim; None if its value stands."""
    if undone is None:
        return None
    return {
        "conflict": "implicit",
        "at": to_json(undone.at),
        "live": to_json(undone.live),
        "by": undone_by_to_json(undone.by),
    }


def undone_values(records: Sequence[Record]) -> list[dict[str, Any]]:
    """The claimed values of a mutation that are live no more, by its records, oldest first."""
    latest = {str(record.body.get("claim")): record for record in records if record.stage is Stage.UNDONE}
    return [
        {name: to_json(record.body.get(name)) for name in ("claim", "address", "attribute", "conflict", "live", "by")}
        | {"at": to_json(record.at)}
        for record in latest.values()
        if record.body.get("stands") is not True
    ]


def undone_lines(values: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The same in English, a sentence for each."""
    for value in values:
        live = "another value or none" if value["live"] is None else json.dumps(value["live"], ensure_ascii=False)
        yield (
            f"What it set is undone: {value['attribute']} of {value['address']} was found to be {live} at {value['at']} "
            f"(implicit conflict). {_by(value['by'])} Its claim stands; set the value again, or release it."
        )


def _by(by: Mapping[str, Any] | None) -> str:
    if by is None:
        return "Nothing tells who did it."
    if by["mutation"]:
        return f"{by['actor']} changed the resource since then (mutation {by['mutation']})."
    return f"CloudTrail names {by['actor']} ({by['event']})."
