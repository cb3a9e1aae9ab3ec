"""The operations of Route 53. Every record set in a batch of changes is a resource of its own."""

from collections.abc import Iterator, Mapping

from gateway.effects.context import CallContext, Target
from gateway.effects.naming import hosted_zone
from gateway.effects.operation import Operation, controls
from gateway.effects.tags import drop_tags, set_tags
from gateway.effects.values import NotUnderstood
from gateway.model.json import Json, to_json
from gateway.model.mutation import Effect, EffectAction

_RECORD = "aws_route53_record"
_ZONE = "aws_route53_zone"
_ROUTING = {"Weight": ("weighted_routing_policy", "weight"), "Region": ("latency_routing_policy", "region"),
            "Failover": ("failover_routing_policy", "type")}  # fmt: skip
_ATTRIBUTES = {"TTL": "ttl", "HealthCheckId": "health_check_id", "SetIdentifier": "set_identifier",
          "MultiValueAnswer": "multivalue_answer_routing_policy"}  # fmt: skip
_GEO = {"ContinentCode": "continent", "CountryCode": "country", "SubdivisionCode": "subdivision"}


def _change_records(context: CallContext) -> tuple[Effect, ...]:
    context.allow_only("HostedZoneId", "ChangeBatch")
    zone = hosted_zone(context, context.text("HostedZoneId"))["zone_id"]
    batch = context.call.parameters["ChangeBatch"]
    if not isinstance(batch, Mapping) or set(batch) - {"Changes", "Comment"} or not batch.get("Changes"):
        raise NotUnderstood("a change batch in an unknown form")
    deleted: dict[str, Effect] = {}
    effects: list[Effect] = []
    for change in batch["Changes"]:
        target = _record(context, zone, change["ResourceRecordSet"])
        if change["Action"] == "DELETE":
            deleted[target.address] = target.whole(EffectAction.DELETE)
        elif change["Action"] in ("CREATE", "UPSERT"):
            # A deletion and a creation in one batch replace the record: the batch is atomic.
            replaces = deleted.pop(target.address, None) is not None
            effects += _set(target, change["ResourceRecordSet"], replaces or change["Action"] == "UPSERT")
        else:
            raise NotUnderstood("an unknown kind of change")
    return (*deleted.values(), *effects)


def _set(target: Target, record: Mapping[str, object], may_exist: bool) -> Iterator[Effect]:
    creates = not (may_exist and target.recorded)
    action = EffectAction.CREATE if creates else EffectAction.SET
    if creates:
        yield target.whole(action)
    for attribute, value in _attributes(record):
        yield target.put(attribute, value, action=action)


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


def _record(context: CallContext, zone: str, record: Mapping[str, object]) -> Target:
    """The record set in its zone. The code may write its name with or without the zone's name."""
    name = str(record["Name"]).rstrip(".").lower().replace("\\052", "*")
    if "\\" in name:
        # Any character can be escaped as an octal code, so one name has many spellings.
        raise NotUnderstood("a record name with escapes")
    identity = {"zone_id": zone, "name": name, "type": str(record["Type"])}
    if record.get("SetIdentifier"):
        identity["set_identifier"] = str(record["SetIdentifier"])

    def fits(recorded: Mapping[str, Json]) -> bool:
        names = {str(recorded.get(key) or "").rstrip(".").lower() for key in ("fqdn", "name")}
        is_same_name = recorded.get("type") == identity["type"] and name in names
        return is_same_name and (recorded.get("set_identifier") or "") == identity.get("set_identifier", "")

    return context.target_where(_RECORD, identity, "zone_id", fits)


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
        action=EffectAction.CREATE,
        attributes={
            "HostedZoneConfig.Comment": "comment",
            "VPC.VPCId": lambda _target, value: {"vpc": [{"vpc_id": str(value)}]},
        },
        controls=controls("CallerReference", "HostedZoneConfig.PrivateZone", "VPC.VPCRegion"),
    ),
    "UpdateHostedZoneComment": Operation(resource_type=_ZONE, identity={"Id": hosted_zone}),
    "DeleteHostedZone": Operation(resource_type=_ZONE, identity={"Id": hosted_zone}, action=EffectAction.DELETE),
    "ChangeTagsForResource": Operation(resource_type=_ZONE, handler=_change_tags),
}
