"""What a change adds to the bill is estimated from the shipped table; what has no price is named, and is never nothing."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from gateway.core.model.contract import Contract
from gateway.core.model.cost import CostDifference
from gateway.core.model.facts import Subject
from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, Effect, EffectAction, Mutation
from gateway.core.model.path import WHOLE, AttributePath, put_all
from gateway.effects.prices import HOURS, PriceTable
from gateway.policy.data_schema import PricesData
from gateway.policy.sources import shipped
from tests.kit import nouns

DATA = {name: json.loads((shipped() / "data" / f"{name}.json").read_bytes())[name] for name in ("prices", "budgets")}
TABLE = PriceTable.of(DATA)


def subject(
    kind: str,
    action: EffectAction,
    attribute: str,
    value: Json,
    before: Mapping[str, Json],
    *,
    may_change: tuple[str, ...] = (),
) -> Subject:
    effect = Effect(
        address=f"{kind}.x", attribute=attribute, action=action, value=value, resource_type=kind, may_change=may_change
    )
    puts = [(attribute, value)] if attribute != WHOLE else []
    return Subject(
        effect=effect,
        before=AttributePath(attribute).value_at(before),
        declared=None,
        attributes_before=before,
        attributes_after=put_all(before, puts),
        contract=Contract(),
        exists=bool(before),
    )


def mutation(*subjects: Subject, region: str = "us-east-1", parameters: Mapping[str, Any] | None = None) -> Mutation:
    call = Call(service="ec2", operation="Any", region=region, parameters=parameters or {})
    return nouns.mutation(*(each.effect for each in subjects), call=call)


def difference(*subjects: Subject, **options: Any) -> CostDifference:
    return TABLE.difference(mutation(*subjects, **options), subjects)


def created(kind: str, attributes: Mapping[str, Json]) -> tuple[Subject, ...]:
    return (subject(kind, EffectAction.CREATE, WHOLE, dict(attributes), {}),)


def cents(hourly: float) -> int:
    return round(hourly * HOURS * 100)


@pytest.mark.parametrize(
    ("kind", "attributes", "monthly"),
    [
        ("aws_instance", {"instance_type": "m5.large"}, cents(0.096)),
        ("aws_nat_gateway", {}, cents(0.045)),
        ("aws_ebs_volume", {"size": 100, "type": "gp3"}, 800),
        ("aws_ebs_volume", {"size": 100, "type": "gp3", "iops": 4000}, 800 + 500),
        ("aws_ebs_volume", {"size": 100}, 1000),
        (
            "aws_db_instance",
            {"engine": "postgres", "instance_class": "db.m5.large", "allocated_storage": 20},
            cents(0.178) + 230,
        ),
        (
            "aws_db_instance",
            {"engine": "postgres", "instance_class": "db.m5.large", "allocated_storage": 20, "multi_az": True},
            2 * (cents(0.178) + 230),
        ),
        (
            "aws_elasticache_replication_group",
            {"node_type": "cache.m5.large", "replicas_per_node_group": 2},
            3 * cents(0.156),
        ),
        ("aws_kinesis_stream", {"shard_count": 4}, 4 * cents(0.015)),
        (
            "aws_dynamodb_table",
            {"read_capacity": 100, "write_capacity": 10},
            round((100 * 0.00013 + 10 * 0.00065) * HOURS * 100),
        ),
        ("aws_vpc_endpoint", {"vpc_endpoint_type": "Interface", "subnet_ids": ["a", "b"]}, 2 * cents(0.01)),
        ("aws_vpc_endpoint", {}, 0),
        ("aws_iam_role", {"name": "x"}, 0),
    ],
)
def test_a_created_resource_costs_its_price(kind: str, attributes: Mapping[str, Json], monthly: int) -> None:
    found = difference(*created(kind, attributes))
    assert (found.unknown, found.dated) == ({}, DATA["prices"]["dated"])
    assert abs((found.cents or 0) - monthly) <= 1


def test_a_change_costs_the_difference_and_a_deletion_gives_it_back() -> None:
    before: Mapping[str, Json] = {"instance_type": "m5.large", "tags": {}}
    larger = difference(subject("aws_instance", EffectAction.SET, "instance_type", "m5.xlarge", before))
    assert larger.cents == cents(0.096)
    assert difference(subject("aws_instance", EffectAction.DELETE, WHOLE, None, before)).cents == -cents(0.096)
    assert difference(subject("aws_instance", EffectAction.SET, "tags", {"a": "b"}, before)).cents == 0


def test_a_call_that_creates_several_costs_several() -> None:
    three = difference(*created("aws_instance", {"instance_type": "m5.large"}), parameters={"MaxCount": 3})
    assert three.cents == 3 * cents(0.096)


@pytest.mark.parametrize(
    ("kind", "attributes", "why"),
    [
        ("aws_instance", {"instance_type": "x9.huge"}, "the table has no price for `x9.huge` (instance_type)"),
        ("aws_instance", {"instance_type": {"hmac_sha256": "00"}}, "the table has no price for it (instance_type)"),
        ("aws_instance", {}, "the table has no price for it (instance_type)"),
        (
            "aws_db_instance",
            {"engine": "oracle-ee", "instance_class": "db.m5.large"},
            "the table has no price for `oracle-ee` (engine)",
        ),
        ("aws_ebs_volume", {"type": "gp3"}, "size is not known"),
        (
            "aws_dynamodb_table",
            {"billing_mode": "PAY_PER_REQUEST"},
            "the table has no price for `PAY_PER_REQUEST` (billing_mode)",
        ),
        ("aws_s3_bucket", {}, "what it costs follows from its use, or from what it starts"),
        ("aws_quantum_computer", {}, "the table has no price for aws_quantum_computer"),
        ("aws_ebs_volume", {"size": 1e300}, "its size is out of every range"),
    ],
)
def test_what_has_no_price_is_unknown_with_the_reason(kind: str, attributes: Mapping[str, Json], why: str) -> None:
    found = difference(*created(kind, attributes))
    assert (found.cents, found.known_cents, found.unknown) == (None, 0, {f"{kind}.x": why})
    assert f"not known for {kind}.x" in found.sentence()


def test_another_region_and_a_call_that_nobody_understands_are_unknown() -> None:
    elsewhere = difference(*created("aws_instance", {"instance_type": "m5.large"}), region="eu-west-1")
    assert elsewhere.unknown == {"aws_instance.x": "the table has no prices for eu-west-1"}
    assert TABLE.difference(mutation(), ()).cents is None
    whole = subject(
        "aws_instance", EffectAction.SET, WHOLE, None, {"instance_type": "m5.large"}, may_change=("instance_type",)
    )
    assert difference(whole).unknown == {"aws_instance.x": "what the call changes of it is not known"}


def test_policies_without_a_table_say_so() -> None:
    found = PriceTable.of({}).difference(mutation(), ())
    assert found == CostDifference()
    assert found.sentence() == "The policies have no price table, so what this costs is not known."


def test_the_shipped_table_has_the_commonest_types_and_is_dated() -> None:
    table = PricesData.model_validate(DATA["prices"])
    assert sum(map(len, table.regions.values())) >= 30
    assert "as they were remembered" in table.about
