"""A record as an event of OCSF 1.8 (https://schema.ocsf.io/1.8.0): API Activity for calls, Entity Management for what people decide and what expires."""

import ipaddress
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec

from gateway.core.model.verdict import Verdict
from gateway.core.records.record import Stage
from gateway.core.version import software_version
from gateway.exports.record_facts import (
    NOWHERE,
    UNKNOWN,
    account_of,
    day_of,
    is_observed,
    kind_of,
    member,
    objection_of,
    outcome_of,
    region_of,
)
from gateway.ledger.ask.exports import ExportedRecord

OCSF_VERSION: Final = "1.8.0"
_AWS_ACCOUNT: Final = 10
_USER_TYPES: Final = {"": (0, "Unknown"), "human": (1, "User")}
_SERVICE_USER: Final = (4, "Service")


def common_members(record: ExportedRecord) -> dict[str, Any]:
    """Metadata, time, actor and cloud."""
    return {
        "metadata": _metadata(record),
        "time": milliseconds(record.row.at),
        "time_dt": record.row.at,
        "actor": actor_of(record),
        "cloud": _cloud(record),
    }


def milliseconds(at: str) -> int:
    """A stored time as OCSF has it: milliseconds since 1970."""
    return int(datetime.fromisoformat(at).timestamp() * 1000)


def actor_of(record: ExportedRecord) -> dict[str, Any]:
    """The actor. Sentinel itself is the actor of an event that nobody caused, such as an expiry."""
    row, caller = record.row, record.body.get("caller") or {}
    type_id, type_name = _USER_TYPES.get(kind_of(record), _SERVICE_USER)
    name = row.actor or UNKNOWN
    actor: dict[str, Any] = {"user": {"uid": name, "name": name, "type_id": type_id, "type": type_name}}
    if key := caller.get("key_id") or record.body.get("key_id"):
        actor["session"] = {"uid": key}
    if principal := caller.get("on_behalf_of") or record.body.get("on_behalf_of"):
        actor["invoked_by"] = principal
    return actor


def _metadata(record: ExportedRecord) -> dict[str, Any]:
    row = record.row
    metadata: dict[str, Any] = {
        "version": OCSF_VERSION,
        "product": {"name": "Sentinel", "vendor_name": "Sentinel", "version": software_version()},
        "profiles": ["cloud", "datetime", "security_control"],
        "uid": row.hash,
        "sequence": row.seq,
        "event_code": row.stage,
        "log_name": "ledger",
    }
    if row.mutation_id:
        metadata["correlation_uid"] = row.mutation_id
    if labels := [f"{name}:{value}" for name, value in labels_of(record).items() if value]:
        metadata["labels"] = labels
    return metadata


def labels_of(record: ExportedRecord) -> dict[str, str]:
    """Labels to search events by, for which OCSF has no member."""
    motive = member(record, "motive")
    return {
        "intent": str(motive.get("intent") or ""),
        "motivation": str(motive.get("motivation") or ""),
        "stack": record.row.stack or str(record.decided.get("stack") or ""),
    }


def _cloud(record: ExportedRecord) -> dict[str, Any]:
    cloud: dict[str, Any] = {"provider": "AWS"}
    if (region := region_of(record)) != NOWHERE:
        cloud["region"] = region
    if (account := account_of(record)) != UNKNOWN:
        cloud["account"] = {"uid": account, "type_id": _AWS_ACCOUNT, "type": "AWS Account"}
    return cloud


def chain_members(record: ExportedRecord) -> dict[str, Any]:
    """The place of the record in the ledger's chain, so that a reader of the events sees that none is missing."""
    return {
        "seq": record.row.seq,
        "version": record.row.version,
        "previous": record.row.previous,
        "hash": record.row.hash,
    }


_ENTITY_MANAGEMENT: Final = 3004


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
    Stage.WITHDRAWN: _Entity(*_DEACTIVATE, "approval", _NOTICE, "approval"),
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
    Stage.DRIFT_LOOKED: _Entity(*_UPDATE, "drift"),
    Stage.DRIFT_DECIDED: _Entity(*_UPDATE, "drift"),
    Stage.DRIFT_SETTLED: _Entity(*_DEACTIVATE, "drift"),
    Stage.SIGNALLED: _Entity(*_UPDATE, "signal"),
    Stage.KEY_ISSUED: _Entity(*_CREATE, "key", uid="key"),
    Stage.KEY_REVOKED: _Entity(*_DISABLE, "key", uid="key"),
    Stage.PLAN_ENDED: _Entity(*_DEACTIVATE, "plan session", uid="key"),
    Stage.POLICY_STAGED: _Entity(*_UPDATE, "policy stages", _NOTICE, "revision"),
    Stage.STOPPED: _Entity(*_ACTIVATE, "stop", _NOTICE),
    Stage.RESUMED: _Entity(*_DEACTIVATE, "stop"),
    Stage.CHAT_LINKED: _Entity(*_UPDATE, "chat user", _NOTICE),
    Stage.CHAT_LINK_ASKED: _Entity(*_UPDATE, "chat user"),
    Stage.NOTIFIED: _Entity(*_UPDATE, "notice"),
    Stage.RESEND_ASKED: _Entity(*_UPDATE, "notice"),
    Stage.BREAKER: _Entity(*_UPDATE, "circuit breaker", _NOTICE, "of"),
}
_ANY_OTHER: Final = _Entity(99, "Other", "record")
_SEVERITY_NAMES: Final = {1: "Informational", 2: "Low", 3: "Medium", 4: "High"}


def entity_management(record: ExportedRecord) -> dict[str, Any]:
    """The event."""
    entity = _ENTITIES.get(Stage(record.row.stage), _ANY_OTHER)
    uid = str(record.body.get(entity.uid) or record.row.mutation_id or UNKNOWN)
    event = {
        **common_members(record),
        "class_uid": _ENTITY_MANAGEMENT,
        "class_name": "Entity Management",
        "category_uid": 3,
        "category_name": "Identity & Access Management",
        "activity_id": entity.activity_id,
        "activity_name": entity.activity,
        "type_uid": _ENTITY_MANAGEMENT * 100 + entity.activity_id,
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


CALL_STAGES: Final = {Stage.DECIDED, Stage.SETTLED, Stage.TURNED_AWAY, Stage.PASSED, Stage.PLAN_CHECKED}
"""The stages whose records are about calls."""
_API_ACTIVITY: Final = 6003
_ACTIVITIES: Final = {"delete": (4, "Delete"), "create": (1, "Create"), "set": (3, "Update"), "invoke": (99, "Invoke")}
"""By the action of an effect. Of several, the first here names the event."""
_READ: Final = (2, "Read")
_OTHER: Final = (99, "Other")
_SEVERITIES: Final = {Verdict.ALLOW: 1, Verdict.HOLD: 2, Verdict.DENY: 3}
_CRITICAL: Final = 4
_NEVER: Final = "never."
"""What the names of rules begin with that hold in every mode."""
_ALLOWED, _DENIED, _OBSERVED, _HELD = (1, "Allowed"), (2, "Denied"), (3, "Observed"), (99, "Held")
_STATUSES: Final = {
    "applied": (1, "Success"),
    "failed": (2, "Failure"),
    "denied": (2, "Failure"),
    "turned_away": (2, "Failure"),
    "in_doubt": (0, "Unknown"),
    "held": (99, "Held"),
    "": (99, "Decided"),
}


def api_activity(record: ExportedRecord) -> dict[str, Any]:
    """The event. Every member that OCSF requires is there, also of a request that says nothing of itself."""
    activity_id, activity = _activity(record)
    severity = _severity(record)
    event = {
        **common_members(record),
        "class_uid": _API_ACTIVITY,
        "class_name": "API Activity",
        "category_uid": 6,
        "category_name": "Application Activity",
        "activity_id": activity_id,
        "activity_name": activity,
        "type_uid": _API_ACTIVITY * 100 + activity_id,
        "type_name": f"API Activity: {activity}",
        "severity_id": severity,
        "severity": _SEVERITY_NAMES[severity],
        "api": _api(record),
        "src_endpoint": _endpoint(record),
        "unmapped": {"sentinel": _unmapped(record)},
        **_disposition(record),
        **_status(record),
        **_count(record),
    }
    if user_agent := member(record, "sender").get("user_agent"):
        event["http_request"] = {"user_agent": user_agent}
    if resources := _resources(record):
        event["resources"] = resources
    return event


def _activity(record: ExportedRecord) -> tuple[int, str]:
    actions = {effect.get("action") for effect in record.decided.get("effects", ())}
    if found := next((named for action, named in _ACTIVITIES.items() if action in actions), None):
        return found
    return _READ if member(record, "call").get("class") in ("read", "secret") else _OTHER


def _severity(record: ExportedRecord) -> int:
    if record.row.stage == Stage.TURNED_AWAY:
        return _SEVERITIES[Verdict.DENY]
    verdict = member(record, "decision").get("verdict", Verdict.ALLOW)
    if verdict == Verdict.DENY and str(objection_of(record).get("rule")).startswith(_NEVER):
        return _CRITICAL
    return _SEVERITIES.get(verdict, _CRITICAL)


def _api(record: ExportedRecord) -> dict[str, Any]:
    call, row = member(record, "call"), record.row
    about = str(record.body.get("about") or "")
    service, _, operation = about.partition(":") if ":" in about and " " not in about else ("", "", about)
    if row.stage == Stage.PLAN_CHECKED:
        service, operation = "terraform", "plan"
    service = str(call.get("service") or service)
    api: dict[str, Any] = {"operation": str(call.get("operation") or operation or UNKNOWN)}
    if service:
        api["service"] = {"name": service if service == "terraform" else f"{service}.amazonaws.com"}
    if request_id := record.body.get("request_id") or row.mutation_id:
        api["request"] = {"uid": request_id}
    if outcome_of(record) in ("failed", "denied", "held", "turned_away"):
        code, message = _reason(record)
        api["response"] = {"error": code, "error_message": message}
    if status := record.body.get("status"):
        api["response"] = {**api.get("response", {}), "code": status}
    return api


def _reason(record: ExportedRecord) -> tuple[str, str]:
    """Why it was refused: the rule and its sentence, or the code and message of AWS."""
    body, objection = record.body, objection_of(record)
    if record.row.stage in (Stage.SETTLED, Stage.TURNED_AWAY):
        code, message = body.get("code"), body.get("message") or body.get("reason") or body.get("why")
    else:
        code, message = objection.get("rule"), objection.get("reason")
    return str(code or UNKNOWN), str(message or "")


def _endpoint(record: ExportedRecord) -> dict[str, Any]:
    peer = str(member(record, "sender").get("peer") or record.body.get("peer") or "")
    try:
        return {"ip": str(ipaddress.ip_address(peer))}
    except ValueError:
        return {"name": peer or UNKNOWN}


def _disposition(record: ExportedRecord) -> dict[str, Any]:
    decision = member(record, "decision")
    if record.row.stage == Stage.TURNED_AWAY:
        action, disposition = _DENIED, (26, "Unauthorized")
    elif is_observed(record):
        action, disposition = _OBSERVED, (17, "Logged")
    elif decision.get("approval") and decision.get("carried_out"):
        action, disposition = _ALLOWED, (8, "Approved")
    elif decision.get("verdict") == Verdict.HOLD:
        action, disposition = _HELD, (14, "Delayed")
    elif decision.get("verdict") == Verdict.DENY:
        action, disposition = _DENIED, (2, "Blocked")
    else:
        action, disposition = _ALLOWED, (1, "Allowed")
    named = ("action_id", "action", "disposition_id", "disposition")
    return dict(zip(named, (*action, *disposition), strict=True))


def _status(record: ExportedRecord) -> dict[str, Any]:
    outcome = outcome_of(record)
    if record.row.stage in (Stage.PASSED, Stage.PLAN_CHECKED):
        return {"status_id": 1, "status": "Success"}
    status_id, status = _STATUSES.get(outcome, (99, outcome))
    members: dict[str, Any] = {"status_id": status_id, "status": status}
    code, detail = _reason(record)
    if code != UNKNOWN:
        members["status_code"] = code
    if detail:
        members["status_detail"] = detail
    return members


def _count(record: ExportedRecord) -> dict[str, Any]:
    """How many calls a count of calls stands for, and from when to when."""
    if record.row.stage != Stage.PASSED:
        return {}
    body = record.body
    return {
        "count": body["count"],
        "start_time": milliseconds(body["since"]),
        "end_time": milliseconds(body["until"]),
    }


def _resources(record: ExportedRecord) -> list[dict[str, Any]]:
    if effects := record.decided.get("effects"):
        return [_resource(effect, record) for effect in effects]
    return [{"uid": address} for address in dict.fromkeys(address for address, _ in record.resources)]


def _resource(effect: Mapping[str, Any], record: ExportedRecord) -> dict[str, Any]:
    resource: dict[str, Any] = {
        "uid": effect.get("address") or UNKNOWN,
        "type": effect.get("resource_type") or UNKNOWN,
        "data": {name: effect.get(name) for name in ("attribute", "action", "before", "value", "declared")},
    }
    if region := member(record, "call").get("region"):
        resource["region"] = region
    return resource


def _unmapped(record: ExportedRecord) -> dict[str, Any]:
    """The goal and the reason of a change, what was found, and the chain: OCSF has no members for them."""
    motive, decision = member(record, "motive"), member(record, "decision")
    findings = [
        {name: finding.get(name) for name in ("check", "verdict", "rule", "reason", "address", "attribute")}
        for finding in decision.get("findings") or decision.get("objections") or ()
    ]
    return {
        **chain_members(record),
        "door": record.decided.get("door") or record.body.get("door") or "",
        "class": member(record, "call").get("class") or "",
        **{name: motive.get(name) for name in ("intent", "motivation", "text", "evidence", "wanted_seconds")},
        **{name: decision.get(name) for name in ("mode", "bundle", "code", "approval", "carried_out")},
        "findings": findings,
    }


_encode: Final = msgspec.json.Encoder().encode


def ocsf_event(record: ExportedRecord) -> bytes:
    """The event as JSON text."""
    return _encode(api_activity(record) if record.row.stage in CALL_STAGES else entity_management(record))


def ocsf_place(record: ExportedRecord) -> str:
    """Its directory as Amazon Security Lake lays out the sources of others: one class a source, by region, account and day."""
    source = "api_activity" if record.row.stage in CALL_STAGES else "entity_management"
    return f"{source}/region={region_of(record)}/accountId={account_of(record)}/eventDay={day_of(record)}"
