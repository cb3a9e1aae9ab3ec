"""Record sets, in every spelling of their names."""

from collections.abc import Callable
from typing import Any

from gateway.core.model.mutation import EffectAction

RESOURCES = {
    "aws_route53_record.a": {"zone_id": "Z", "name": "a", "fqdn": "a.x.org", "type": "A", "records": ["10.0.0.1"]},
    "aws_route53_record.w": {"zone_id": "Z", "name": "w.x.org", "type": "A", "set_identifier": "one"},
}


def change(effects_of: Callable[..., Any], *changes: tuple[str, dict[str, Any]]) -> Any:
    batch = {"Changes": [{"Action": action, "ResourceRecordSet": record} for action, record in changes]}
    return effects_of(
        "route53", "ChangeResourceRecordSets", {"HostedZoneId": "/hostedzone/Z", "ChangeBatch": batch}, RESOURCES
    )


def record(name: str, **more: Any) -> dict[str, Any]:
    return {"Name": name, "Type": "A", "TTL": 60, "ResourceRecords": [{"Value": "10.0.0.9"}], **more}


def test_a_record_is_found_by_its_whole_name(effects_of: Callable[..., Any], values: Callable[..., Any]) -> None:
    effects = change(effects_of, ("UPSERT", record("A.x.org.")))
    assert effects[0].address == "aws_route53_record.a"
    assert values(effects) == {"ttl": 60, "records": ["10.0.0.9"]}


def test_deleting_and_creating_in_one_batch_is_a_change(effects_of: Callable[..., Any]) -> None:
    effects = change(effects_of, ("DELETE", record("a.x.org", TTL=1)), ("CREATE", record("a.x.org")))
    assert {effect.action for effect in effects} == {EffectAction.SET}


def test_records_of_one_name_differ_by_set_identifier(effects_of: Callable[..., Any]) -> None:
    (one,) = change(effects_of, ("DELETE", record("w.x.org", SetIdentifier="one", Weight=1)))
    (two,) = change(effects_of, ("DELETE", record("w.x.org", SetIdentifier="two", Weight=1)))
    assert (one.address, one.declared, two.declared) == ("aws_route53_record.w", True, False)


def test_routing_and_aliases_are_blocks(effects_of: Callable[..., Any], values: Callable[..., Any]) -> None:
    alias = {"HostedZoneId": "Z2", "DNSName": "lb", "EvaluateTargetHealth": False}
    weighted = {"Name": "n.x.org", "Type": "A", "SetIdentifier": "one", "Weight": 5, "AliasTarget": alias}
    got = values(change(effects_of, ("CREATE", weighted)))
    assert got["weighted_routing_policy"] == [{"weight": 5}]
    assert got["alias"] == [{"name": "lb", "zone_id": "Z2", "evaluate_target_health": False}]


def test_an_unknown_form_is_not_understood(effects_of: Callable[..., Any]) -> None:
    assert change(effects_of, ("UPSERT", record("a.x.org", CidrRoutingConfig={"CollectionId": "c"}))) == ()
    assert change(effects_of) == ()


def test_a_name_with_octal_codes_is_not_understood(effects_of: Callable[..., Any]) -> None:
    def of(name: str) -> Any:
        change = {"Action": "UPSERT", "ResourceRecordSet": {"Name": name, "Type": "A", "TTL": 1, "ResourceRecords": []}}
        return effects_of(
            "route53", "ChangeResourceRecordSets", {"HostedZoneId": "Z", "ChangeBatch": {"Changes": [change]}}, {}
        )

    assert of("\\052.example.org")
    assert of("\\141pi.example.org") == ()
