"""A call as a CloudTrail event ("CloudTrail record contents", version 1.11), so that what reads CloudTrail's files reads ours.

One event for each call that ended: refused or held when that was decided, applied or failed when AWS had answered. A call whose outcome nothing
showed has an event with the error code `OutcomeUnknown`, and another one once the truth is found. Records of other stages have no event: they are
no calls, and are in the other formats.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from gateway.core.event_sources import source_of
from gateway.exports.record_facts import account_of, kind_of, member, objection_of, outcome_of, region_of
from gateway.ledger.ask.exports import ExportedRecord

_encode: Final = msgspec.json.Encoder().encode
_DOMAIN: Final = ".amazonaws.com"
_READS: Final = ("read", "secret")


def is_call(record: ExportedRecord) -> bool:
    """Whether the record ends a call."""
    return bool(outcome_of(record))


def cloudtrail_event(record: ExportedRecord) -> bytes:
    """The event as JSON text."""
    service, operation = _operation(record)
    account, region = account_of(record), region_of(record)
    caller, row = member(record, "caller"), record.row
    return _encode(
        {
            "eventVersion": "1.11",
            "userIdentity": _identity(record, caller, account),
            "eventTime": f"{row.at[:19]}Z",
            "eventSource": f"{source_of(service)}{_DOMAIN}",
            "eventName": operation,
            "awsRegion": region,
            "sourceIPAddress": member(record, "sender").get("peer") or record.body.get("peer") or "",
            "userAgent": member(record, "sender").get("user_agent") or "",
            **_error(record),
            "requestParameters": _parameters(member(record, "call").get("parameters")),
            "responseElements": {"id": record.body["made"]} if record.body.get("made") else None,
            "additionalEventData": {"sentinel": _sentinel(record)},
            "requestID": record.body.get("request_id") or row.mutation_id,
            "eventID": _event_id(row.hash),
            "readOnly": member(record, "call").get("class") in _READS,
            "eventType": "AwsApiCall",
            "managementEvent": True,
            "recipientAccountId": account,
            "eventCategory": "Management",
        }
    )


def cloudtrail_place(record: ExportedRecord) -> str:
    """Its directory as CloudTrail lays out a trail's files."""
    day = record.row.at[:10].replace("-", "/")
    return f"AWSLogs/{account_of(record)}/CloudTrail/{region_of(record)}/{day}"


def _operation(record: ExportedRecord) -> tuple[str, str]:
    """Service and operation. Of a request that was turned away, what it was about if that is known."""
    call = member(record, "call")
    if call.get("operation"):
        return str(call.get("service")), str(call["operation"])
    service, _, operation = str(record.body.get("about") or "").partition(":")
    return (service, operation) if operation and " " not in service else ("sentinel", "TurnedAway")


def _identity(record: ExportedRecord, caller: Mapping[str, Any], account: str) -> dict[str, Any]:
    actor = record.row.actor or "stranger"
    return {
        "type": f"Sentinel{str(caller.get('kind') or kind_of(record) or 'stranger').title()}",
        "principalId": actor,
        "userName": actor,
        "accountId": account,
        "accessKeyId": caller.get("key_id") or record.body.get("key_id") or "",
        "sessionContext": {"sourceIdentity": actor, "attributes": {"mfaAuthenticated": "false"}},
    }


def _error(record: ExportedRecord) -> dict[str, str]:
    body, outcome = record.body, outcome_of(record)
    if outcome == "applied":
        return {}
    if outcome == "failed":
        return {
            "errorCode": str(body.get("code") or "Failed"),
            "errorMessage": str(body.get("message") or body.get("why") or ""),
        }
    if outcome == "in_doubt":
        return {"errorCode": "OutcomeUnknown", "errorMessage": str(body.get("reason") or "")}
    return {
        "errorCode": "AccessDenied",
        "errorMessage": str(objection_of(record).get("reason") or body.get("reason") or ""),
    }


def _parameters(parameters: Any) -> Any:
    """The parameters, masked as they are recorded, their names spelled as CloudTrail does: `autoScalingGroupName`."""
    if not isinstance(parameters, Mapping):
        return None
    return {name[:1].lower() + name[1:]: value for name, value in parameters.items()}


def _sentinel(record: ExportedRecord) -> dict[str, Any]:
    """What CloudTrail has no member for: the mutation, its goal and reason, the verdict, and the record."""
    motive, decision = member(record, "motive"), member(record, "decision")
    return {
        "mutation": record.row.mutation_id,
        "outcome": outcome_of(record),
        **{name: motive.get(name) for name in ("intent", "motivation", "text", "evidence", "wanted_seconds")},
        **{name: decision.get(name) for name in ("verdict", "mode", "approval")},
        "rule": objection_of(record).get("rule"),
        "onBehalfOf": member(record, "caller").get("on_behalf_of"),
        "addresses": list(dict.fromkeys(effect.get("address") for effect in record.decided.get("effects", ()))),
        "seq": record.row.seq,
        "hash": record.row.hash,
    }


def _event_id(digest: str) -> str:
    """A UUID that follows from the record's hash, so that the same record has the same one wherever it is exported."""
    return "-".join((digest[:8], digest[8:12], f"8{digest[13:16]}", f"8{digest[17:20]}", digest[20:32]))
