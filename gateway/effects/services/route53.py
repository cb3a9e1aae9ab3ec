"""The operations of Route 53. Every record set in a batch of changes is a resource of its own."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gateway.core.model.json import Json, to_json
from gateway.core.model.mutation import Effect
from gateway.effects.call_context import CallContext, Target
from gateway.effects.naming import hosted_zone
from gateway.effects.operation import CREATE, DELETE, SET, Operation, controls
from gateway.effects.tags import drop_tags, set_tags
from gateway.effects.values import NotUnderstood

_RECORD = "aws_route53_record"
_ZONE = "aws_route53_zone"
_ROUTING = {"Weight": ("weighted_routing_policy", "weight"), "Region": ("latency_routing_policy", "region"),
            "Failover": ("failover_routing_policy", "type")}  # fmt: skip
_ATTRIBUTES = {"TTL": "ttl", "HealthCheckId": "health_check_id", "SetIdentifier": "set_identifier",
          "MultiValueAnswer": "multivalue_answer_routing_policy"}  # fmt: skip
_REMOVED: Mapping[str, Json] = {
    "alias": [], "cidr_routing_policy": [], "failover_routing_policy": [], "geolocation_routing_policy": [],
    "geoproximity_routing_policy": [], "health_check_id": "", "latency_routing_policy": [],
    "multivalue_answer_routing_policy": False, "records": [], "ttl": 0, "weighted_routing_policy": [],
}  # fmt: skip
"""Attribute → its value in a record that omits it."""
_GEO = {"ContinentCode": "continent", "CountryCode": "country", "SubdivisionCode": "subdivision"}


def _change_records(context: CallContext) -> tuple[Effect, ...]:
    context.allow_only("HostedZoneId", "ChangeBatch")
    zone = hosted_zone(context, context.text("HostedZoneId"))["zone_id"]
    batch = context.call.parameters["ChangeBatch"]
    if not isinstance(batch, Mapping) or set(batch) - {"Changes", "Comment"} or not batch.get("Changes"):
        raise NotUnderstood("a change batch in an unknown form")
    deleted: dict[str, Effect] = {}
    effects: list[Effect] = []
    records = _Records(context, zone)
    for change in batch["Changes"]:
        target = records.target(change["ResourceRecordSet"])
        if change["Action"] == "DELETE":
            deleted[target.address] = target.whole(DELETE)
        elif change["Action"] in ("CREATE", "UPSERT"):
            # A deletion and a creation in one batch replace the record: the batch is atomic.
            replaces = deleted.pop(target.address, None) is not None
            effects += _set(target, change["ResourceRecordSet"], replaces or change["Action"] == "UPSERT")
        else:
            raise NotUnderstood("an unknown kind of change")
    return (*deleted.values(), *effects)


def _set(target: Target, record: Mapping[str, object], may_exist: bool) -> Iterator[Effect]:
    creates = not (may_exist and target.recorded)
    action = CREATE if creates else SET
    if creates:
        yield target.whole(action)
    given = dict(_attributes(record))
    # The record of the call takes the place of the recorded one, so that what it omits is gone.
    gone = {name: value for name, value in _REMOVED.items() if name not in given and target.recorded.get(name)}
    for effect in target.put_all({**given, **({} if creates else gone)}, action=action):
        yield replace(effect, obliged=True, upserted=creates and may_exist)


def _attributes(record: Mapping[str, object]) -> Iterator[tuple[str, Json]]:
    for name, value in record.items():
        if name in ("Name", "Type"):
            continue
        if name in _ATTRIBUTES:
            yield _ATTRIBUTES[name], to_json(value)
        elif name in _ROUTING:
            block, member = _ROUTING[name]
            yield block, [{member: to_json(value)}]
        elif name == "ResourceRecords" and isinstance(value, list):
            yield "records", [_unquoted(str(item["Value"]), record["Type"]) for item in value]
        elif name == "AliasTarget" and isinstance(value, Mapping):
            yield "alias", [_alias(value)]
        elif name == "GeoLocation" and isinstance(value, Mapping) and not set(value) - set(_GEO):
            yield "geolocation_routing_policy", [{_GEO[key]: str(item) for key, item in value.items()}]
        else:
            raise NotUnderstood(f"record set member {name}")


def _unquoted(value: str, kind: object) -> str:
    """The value as the provider has it: without the quotes around TXT and SPF values."""
    return value[1:-1] if kind in ("TXT", "SPF") and len(value) > 1 and value[0] == value[-1] == '"' else value


def _alias(value: Mapping[str, object]) -> Mapping[str, Json]:
    return {
        "evaluate_target_health": bool(value["EvaluateTargetHealth"]),
        "name": str(value["DNSName"]),
        "zone_id": str(value["HostedZoneId"]),
    }


class _Records:
    """The record sets of one zone. The code may write a record's name with or without the zone's name."""

    def __init__(self, context: CallContext, zone: str) -> None:
        self._context = context
        self._zone = zone
        self._ids: dict[tuple[str, str, str], dict[str, None]] = {}
        for address in context.inventory.find(_RECORD, "zone_id", zone):
            recorded = context.inventory.recorded(address) or {}
            for key in ("fqdn", "name"):
                name = str(recorded.get(key) or "").rstrip(".").lower()
                which = (name, str(recorded.get("type")), str(recorded.get("set_identifier") or ""))
                self._ids.setdefault(which, {})[address] = None

    def target(self, record: Mapping[str, object]) -> Target:
        """The record set that a change is about. Raises `NotUnderstood`."""
        name = str(record["Name"]).rstrip(".").lower().replace("\\052", "*")
        if "\\" in name:
            # Any character can be escaped as an octal code, so one name has many spellings.
            raise NotUnderstood("a record name with escapes")
        identity = {"zone_id": self._zone, "name": name, "type": str(record["Type"])}
        if record.get("SetIdentifier"):
            identity["set_identifier"] = str(record["SetIdentifier"])
        fitting = self._ids.get((name, identity["type"], identity.get("set_identifier", "")), {})
        return self._context.target_among(_RECORD, identity, tuple(fitting))


def _change_tags(context: CallContext) -> tuple[Effect, ...]:
    context.allow_only("ResourceType", "ResourceId", "AddTags", "RemoveTagKeys")
    if context.text("ResourceType") != "hostedzone":
        raise NotUnderstood("tags of another kind of resource than a zone")
    target = context.target(_ZONE, hosted_zone(context, context.text("ResourceId")))
    changes = {
        **drop_tags(target, context.call.parameters.get("RemoveTagKeys") or []),
        **set_tags(target, context.call.parameters.get("AddTags") or []),
    }
    return target.put_all(changes)


OPERATIONS: Mapping[str, Operation] = {
    "ChangeResourceRecordSets": Operation(resource_type=_RECORD, handler=_change_records),
    "CreateHostedZone": Operation(
        resource_type=_ZONE,
        identity={"Name": "name"},
        unique=False,
        action=CREATE,
        attributes={
            "HostedZoneConfig.Comment": "comment",
            "VPC.VPCId": lambda _target, value: {"vpc": [{"vpc_id": str(value)}]},
        },
        controls=controls("CallerReference", "HostedZoneConfig.PrivateZone", "VPC.VPCRegion"),
    ),
    "UpdateHostedZoneComment": Operation(resource_type=_ZONE, identity={"Id": hosted_zone}),
    "DeleteHostedZone": Operation(resource_type=_ZONE, identity={"Id": hosted_zone}, action=DELETE),
    "ChangeTagsForResource": Operation(resource_type=_ZONE, handler=_change_tags),
}
