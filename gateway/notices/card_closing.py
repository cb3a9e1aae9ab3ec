"""What a card says once a person decided, from the record of that decision."""

from typing import Any

from gateway.model.record import Record, Stage
from gateway.notices.change_lines import visible

_DOORS = {"api": "with the API or the command line", "console": "in the console", "chat": "in the chat"}
_WORDS = 500


def decides(record: Record) -> bool:
    """Whether the record ends the waiting of held calls. The consent of the first of several people does not."""
    if record.stage is Stage.APPROVED:
        return not record.body.get("missing")
    return record.stage in (Stage.REJECTED, Stage.BROKE_GLASS)


def closing_of(record: Record) -> str:
    """Who decided what, where and why, as a sentence."""
    body: Any = record.body
    where = _DOORS.get(str(body.get("door")), "")
    by = f"by {record.actor}" + (f" {where}" if where else "")
    reason = f": {visible(str(body['reason']))[:_WORDS]}" if body.get("reason") else "."
    match record.stage:
        case Stage.REJECTED:
            return f"Rejected {by}{reason}"
        case Stage.BROKE_GLASS:
            return f"Passed in an emergency {by}{reason}"
        case _:
            both = " and ".join([*map(str, body.get("others") or ()), record.actor])
            return f"Approved by {both}{f' {where}' if where else ''} until {body.get('until')}: the identical call passes once."
