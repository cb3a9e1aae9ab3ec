"""Facts about a record that every format states alike: its call, its caller, its verdict and its outcome."""

import re
from collections.abc import Mapping
from typing import Any, Final

from gateway.core.model.verdict import Mode, Verdict
from gateway.core.records.record import Stage
from gateway.ledger.ask.exports import ExportedRecord

NOWHERE: Final = "global"
"""The region of records that are about none."""
UNKNOWN: Final = "unknown"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9-]")
_NOTHING: Final[Mapping[str, Any]] = {}


def member(record: ExportedRecord, name: str) -> Mapping[str, Any]:
    """An object of the record's body, or of the body of its mutation's decision; empty if neither has it."""
    return record.body.get(name) or record.decided.get(name) or _NOTHING


def region_of(record: ExportedRecord) -> str:
    """The AWS region of the record's call, as part of a path."""
    return _UNSAFE.sub("_", str(member(record, "call").get("region") or NOWHERE))


def account_of(record: ExportedRecord) -> str:
    """The AWS account of the record's call, as part of a path."""
    return _UNSAFE.sub("_", str(member(record, "call").get("account") or UNKNOWN))


def day_of(record: ExportedRecord) -> str:
    """The day of the record in UTC, e.g. 20261122."""
    return record.row.at[:10].replace("-", "")


def kind_of(record: ExportedRecord) -> str:
    """The kind of the record's actor; empty where the record does not say it."""
    if record.row.stage in _OF_HUMANS:
        return "human"
    if record.row.stage == Stage.KEY_ISSUED:
        return str(record.body.get("kind") or "")
    caller = record.body.get("caller") or (record.decided.get("caller") if record.row.stage == Stage.SETTLED else None)
    return str((caller or _NOTHING).get("kind") or "")


_OF_HUMANS: Final = {
    Stage.APPROVED,
    Stage.REJECTED,
    Stage.BROKE_GLASS,
    Stage.STOPPED,
    Stage.RESUMED,
    Stage.RESEND_ASKED,
    Stage.CHAT_LINKED,
    Stage.CHAT_LINK_ASKED,
}


def door_of(record: ExportedRecord) -> str:
    """The door through which the record's call came, or a person's word about it; empty where nothing says it."""
    of_call = "" if record.row.stage in _CONSENTS else record.decided.get("door")
    return str(record.body.get("door") or of_call or "")


_CONSENTS: Final = {Stage.APPROVED, Stage.REJECTED, Stage.BROKE_GLASS}


def objection_of(record: ExportedRecord) -> Mapping[str, Any]:
    """The first finding that held or denied the record's mutation; empty if none did."""
    decision = member(record, "decision")
    wanted = decision.get("verdict")
    found = (each for each in decision.get("findings", ()) if each.get("verdict") == wanted != Verdict.ALLOW)
    return next(found, _NOTHING)


def is_observed(record: ExportedRecord) -> bool:
    """Whether the call was carried out although it would have been held or denied, because its stack is only observed."""
    decision = member(record, "decision")
    against = decision.get("verdict") in (Verdict.HOLD, Verdict.DENY)
    return bool(decision.get("carried_out")) and decision.get("mode") == Mode.OBSERVE and against


def outcome_of(record: ExportedRecord) -> str:
    """The outcome of the call as far as this record says: applied, failed, in_doubt, held, denied, turned_away; empty if it says nothing."""
    if record.row.stage == Stage.SETTLED:
        return str(record.body.get("outcome") or "")
    if record.row.stage == Stage.TURNED_AWAY:
        return "turned_away"
    if record.row.stage == Stage.DECIDED and not member(record, "decision").get("carried_out"):
        return {Verdict.HOLD: "held"}.get(member(record, "decision").get("verdict", ""), "denied")
    return ""
