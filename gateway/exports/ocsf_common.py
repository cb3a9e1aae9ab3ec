"""The members that both classes of OCSF events have: metadata, time, actor, cloud, and what OCSF has no member for."""

from datetime import datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from gateway.exports.facts import NOWHERE, UNKNOWN, account_of, kind_of, member, region_of
from gateway.ledger.exported import ExportedRecord

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
    """Who did it. What nobody did, such as an expiry, was done by Sentinel itself."""
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
        "product": {"name": "Sentinel", "vendor_name": "Sentinel", "version": product_version()},
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
    """What events are searched by that OCSF has no member for."""
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
    """Where the record stands in the ledger's chain, so that who has the events sees that none is missing."""
    return {
        "seq": record.row.seq,
        "version": record.row.version,
        "previous": record.row.previous,
        "hash": record.row.hash,
    }


@cache
def product_version() -> str:
    """The version of Sentinel."""
    try:
        return version("sentinel-gateway")
    except PackageNotFoundError:
        return "0"
