"""What people, time and the reconciler did about changes, as OCSF's Entity Management (class 3004): every stage that is not about a call."""

from typing import Any, Final, NamedTuple

from gateway.exports.facts import UNKNOWN, member
from gateway.exports.ocsf_common import chain_members, common_members
from gateway.ledger.exported import ExportedRecord
from gateway.model.record import Stage

_CLASS: Final = 3004


class _Entity(NamedTuple):
    """What a stage does to which kind of entity."""

    activity_id: int
    activity: str
    kind: str
    severity: int = 1
    uid: str = ""
    """The member of the body that names it; empty for the mutation that the record is about."""


_CREATE, _UPDATE, _DISABLE = (1, "Create"), (3, "Update"), (9, "Disable")
_ACTIVATE, _DEACTIVATE = (10, "Activate"), (11, "Deactivate")
_NOTICE, _EMERGENCY = 3, 4

_ENTITIES: Final = {
    Stage.APPROVED: _Entity(*_ACTIVATE, "approval", uid="approval"),
    Stage.BROKE_GLASS: _Entity(*_ACTIVATE, "approval", _EMERGENCY, "approval"),
    Stage.REJECTED: _Entity(*_DEACTIVATE, "approval"),
    Stage.RELEASED: _Entity(*_DEACTIVATE, "claim"),
    Stage.EXPIRED: _Entity(*_DEACTIVATE, "claim", uid="claim"),
    Stage.UNNEEDED: _Entity(*_DEACTIVATE, "claim", uid="claim"),
    Stage.DOWNGRADED: _Entity(*_UPDATE, "claim", uid="claim"),
    Stage.UNDONE: _Entity(*_UPDATE, "claim", _NOTICE, "claim"),
    Stage.RESCHEDULED: _Entity(*_UPDATE, "time box"),
    Stage.NOT_PUT_BACK: _Entity(*_UPDATE, "time box", _NOTICE),
    Stage.RECONCILED: _Entity(*_UPDATE, "write-back"),
    Stage.PROPOSED: _Entity(*_UPDATE, "pull request"),
    Stage.DRIFTED: _Entity(*_CREATE, "drift", _NOTICE),
    Stage.DRIFT_DECIDED: _Entity(*_UPDATE, "drift"),
    Stage.DRIFT_SETTLED: _Entity(*_DEACTIVATE, "drift"),
    Stage.SIGNALLED: _Entity(*_UPDATE, "signal"),
    Stage.KEY_ISSUED: _Entity(*_CREATE, "key", uid="key"),
    Stage.KEY_REVOKED: _Entity(*_DISABLE, "key", uid="key"),
    Stage.STOPPED: _Entity(*_ACTIVATE, "stop", _NOTICE),
    Stage.RESUMED: _Entity(*_DEACTIVATE, "stop"),
    Stage.CHAT_LINKED: _Entity(*_UPDATE, "chat user", _NOTICE),
    Stage.CHAT_LINK_ASKED: _Entity(*_UPDATE, "chat user"),
    Stage.NOTIFIED: _Entity(*_UPDATE, "notice"),
    Stage.RESEND_ASKED: _Entity(*_UPDATE, "notice"),
    Stage.BREAKER: _Entity(*_UPDATE, "circuit breaker", _NOTICE, "of"),
}
_ANY_OTHER: Final = _Entity(99, "Other", "record")
_SEVERITY_NAMES: Final = {1: "Informational", 3: "Medium", 4: "High"}


def entity_management(record: ExportedRecord) -> dict[str, Any]:
    """The event."""
    entity = _ENTITIES.get(Stage(record.row.stage), _ANY_OTHER)
    uid = str(record.body.get(entity.uid) or record.row.mutation_id or UNKNOWN)
    event = {
        **common_members(record),
        "class_uid": _CLASS,
        "class_name": "Entity Management",
        "category_uid": 3,
        "category_name": "Identity & Access Management",
        "activity_id": entity.activity_id,
        "activity_name": entity.activity,
        "type_uid": _CLASS * 100 + entity.activity_id,
        "type_name": f"Entity Management: {entity.activity}",
        "severity_id": entity.severity,
        "severity": _SEVERITY_NAMES[entity.severity],
        "status_id": 1,
        "status": "Success",
        "entity": {"uid": uid, "name": uid, "type": entity.kind, "data": dict(record.body)},
        "unmapped": {"sentinel": {**chain_members(record), "stage": record.row.stage}},
    }
    if call := member(record, "call"):
        event["api"] = {
            "operation": call.get("operation") or UNKNOWN,
            "service": {"name": f"{call.get('service')}.amazonaws.com"},
        }
    if reason := record.body.get("reason"):
        event["comment"] = str(reason)
    return event
