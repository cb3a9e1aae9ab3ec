"""Calls, and what was decided and came of them, as OCSF's API Activity (class 6003)."""

import ipaddress
from collections.abc import Mapping
from typing import Any, Final

from gateway.exports.facts import UNKNOWN, is_observed, member, objection_of, outcome_of
from gateway.exports.ocsf_common import chain_members, common_members, milliseconds
from gateway.ledger.exported import ExportedRecord
from gateway.model.record import Stage
from gateway.model.verdict import Verdict

CALL_STAGES: Final = {Stage.DECIDED, Stage.SETTLED, Stage.TURNED_AWAY, Stage.PASSED, Stage.PLAN_CHECKED}
"""The stages whose records are about calls."""
_CLASS: Final = 6003
_ACTIVITIES: Final = {"delete": (4, "Delete"), "create": (1, "Create"), "set": (3, "Update"), "invoke": (99, "Invoke")}
"""By the action of an effect. Of several, the first here names the event."""
_READ: Final = (2, "Read")
_OTHER: Final = (99, "Other")
_SEVERITIES: Final = {Verdict.ALLOW: 1, Verdict.HOLD: 2, Verdict.DENY: 3}
_CRITICAL: Final = 4
_NEVER: Final = "never."
"""What the names of rules begin with that hold in every mode."""
_SEVERITY_NAMES: Final = {1: "Informational", 2: "Low", 3: "Medium", 4: "High"}
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
        "class_uid": _CLASS,
        "class_name": "API Activity",
        "category_uid": 6,
        "category_name": "Application Activity",
        "activity_id": activity_id,
        "activity_name": activity,
        "type_uid": _CLASS * 100 + activity_id,
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
        api["service"] = {"name": f"{service}.amazonaws.com" if row.stage != Stage.PLAN_CHECKED else service}
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
