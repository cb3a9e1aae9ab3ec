"""A call that is too large is refused in words, and every effect table costs work in proportion to the call."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from gateway.core.errors import CallTooLarge
from gateway.core.model.json import Json
from gateway.core.model.mutation import Call
from gateway.effects.limits import MOST_EFFECTS, MOST_ITEMS, MOST_MEMBERS, EffectBudget, refuse_too_large
from gateway.effects.resolver import EffectResolver
from gateway.effects.schema import snake
from gateway.terraform.resource_index import ResourceIndex, only_match
from tests.gateway.effects.conftest import ACCOUNT, CASES, REGION, EffectsOf, FakeInventory
from tests.kit.growth import assert_linear

RECORDED: list[dict[str, Any]] = [json.loads(line) for line in (CASES / "operations.jsonl").read_text().splitlines()]
SIZE = 40


def _names(count: int) -> list[str]:
    return [f"n{number}" for number in range(count)]


def _ranges(count: int) -> dict[str, Any]:
    ranges = [{"CidrIp": f"10.{number // 256}.{number % 256}.0/24"} for number in range(count)]
    rule = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": ranges}
    return {"GroupId": "sg-1", "IpPermissions": [rule]}


TOO_LARGE: Mapping[str, tuple[str, str, dict[str, Any]]] = {
    "names of alarms": ("cloudwatch", "EnableAlarmActions", {"AlarmNames": _names(4_000)}),
    "one name more than the most": ("cloudwatch", "DeleteAlarms", {"AlarmNames": _names(MOST_ITEMS + 1)}),
    "ranges of one rule": ("ec2", "AuthorizeSecurityGroupIngress", _ranges(16_000)),
    "ranges over several rules": (
        "ec2",
        "RevokeSecurityGroupIngress",
        {"GroupId": "sg-1", "IpPermissions": _ranges(900)["IpPermissions"] * 12},
    ),
    "names times tags": (
        "ec2",
        "CreateTags",
        {
            "Resources": [f"i-{name}" for name in _names(900)],
            "Tags": [{"Key": key, "Value": ""} for key in _names(900)],
        },
    ),
    "names times keys": (
        "elbv2",
        "RemoveTags",
        {
            "ResourceArns": [
                f"arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/{n}/1" for n in _names(40)
            ],
            "TagKeys": _names(40),
        },
    ),
    "record sets": (
        "route53",
        "ChangeResourceRecordSets",
        {
            "HostedZoneId": "Z1",
            "ChangeBatch": {
                "Changes": [
                    {"Action": "UPSERT", "ResourceRecordSet": {"Name": f"{name}.x", "Type": "A", "TTL": 1}}
                    for name in _names(600)
                ]
            },
        },
    ),
    "subnets in one text": (
        "autoscaling",
        "UpdateAutoScalingGroup",
        {"AutoScalingGroupName": "a", "VPCZoneIdentifier": ",".join(_names(5_000))},
    ),
    "a map": (
        "lambda",
        "UpdateFunctionConfiguration",
        {"FunctionName": "f", "Environment": {"Variables": dict.fromkeys(_names(2_000), "")}},
    ),
}


@pytest.mark.parametrize(("service", "operation", "parameters"), TOO_LARGE.values(), ids=TOO_LARGE.keys())
def test_a_call_over_a_limit_is_refused_in_words(
    effects_of: EffectsOf, service: str, operation: str, parameters: dict[str, Any]
) -> None:
    with pytest.raises(CallTooLarge, match="Nothing was sent; split it") as refused:
        effects_of(service, operation, parameters, {})
    assert refused.value.code == "call_too_large"


@pytest.mark.parametrize(
    ("service", "operation", "parameters"),
    [
        ("cloudwatch", "DeleteAlarms", {"AlarmNames": _names(MOST_ITEMS)}),
        ("logs", "PutLogEvents", {"logGroupName": "g", "logStreamName": "s", "logEvents": [{"message": "m"}] * 9_000}),
        (
            "s3",
            "CompleteMultipartUpload",
            {"Bucket": "b", "Key": "k", "UploadId": "u", "MultipartUpload": {"Parts": [{"PartNumber": 1}] * 9_000}},
        ),
    ],
)
def test_the_largest_call_that_aws_takes_is_not_refused(
    effects_of: EffectsOf, service: str, operation: str, parameters: dict[str, Any]
) -> None:
    assert effects_of(service, operation, parameters, {})


def test_the_sum_of_many_short_lists_is_limited_too() -> None:
    refuse_too_large({"A": [[0] * 100] * (MOST_MEMBERS // 101), "B": "x" * 100_000}, ())
    with pytest.raises(CallTooLarge):
        refuse_too_large({"A": [[0] * 100] * 100}, ())
    refuse_too_large({"A": [[0] * 100] * 100}, {"A"})


def test_a_budget_is_spent_once() -> None:
    budget = EffectBudget()
    for _ in range(MOST_EFFECTS):
        budget.spend()
    with pytest.raises(CallTooLarge):
        budget.spend()


# Growth ---------------------------------------------------------------------------------------------------------------


class Loud(str):
    """Text of which every comparison is counted as work, also one inside `in` on a list."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other)

    __hash__ = str.__hash__


class Indexed(FakeInventory):
    """The fake inventory with the index of the real one."""

    def __init__(self, resources: Mapping[str, Mapping[str, Json]]) -> None:
        super().__init__(resources)
        self._index = ResourceIndex(((address.split(".")[0], address) for address in resources), resources.__getitem__)

    def find(self, resource_type: str, attribute: str, value: str) -> tuple[str, ...]:
        return self._index.find(resource_type, attribute, value)

    def locate(
        self,
        resource_type: str,
        identity: Mapping[str, str],
        account: str = "",
        region: str = "",
    ) -> str | None:
        return only_match(self._index.matching(resource_type, identity), resource_type, identity)

    def accounts(self) -> frozenset[str]:
        return frozenset({ACCOUNT})


@pytest.fixture(scope="module")
def resolver() -> EffectResolver:
    """One resolver, because reading the schemas costs more than any call."""
    return EffectResolver(Indexed({}))


def _interpret(
    resolver: EffectResolver,
    resources: Mapping[str, Mapping[str, Json]],
    service: str,
    operation: str,
    parameters: Mapping[str, Any],
) -> Callable[[], object]:
    inventory = Indexed(resources)
    call = Call(service=service, operation=operation, parameters=parameters, account=ACCOUNT, region=REGION)

    def run() -> object:
        resolver._inventory = inventory
        return resolver.effects(call)

    return run


def _lists(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the lists of a call are."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(inner, list) and inner:
            yield (*path, key)
        if isinstance(inner, dict | list):
            yield from _lists(inner, (*path, key))


def _grown(value: Any, path: tuple[Any, ...], count: int, *, distinct: bool) -> Any:
    """The call with the list at `path` grown to `count` items."""
    if not path:
        return [_copy(value[0], f"{number}" if distinct else "") for number in range(count)]
    grown = dict(value) if isinstance(value, dict) else list(value)
    grown[path[0]] = _grown(value[path[0]], path[1:], count, distinct=distinct)
    return grown


def _copy(item: Any, suffix: str) -> Any:
    if isinstance(item, str):
        return Loud(item + suffix)
    if isinstance(item, dict):
        return {key: _copy(inner, suffix) for key, inner in item.items()}
    return [_copy(inner, suffix) for inner in item] if isinstance(item, list) else item


GROWING = {(case["service"], case["operation"], path): case for case in RECORDED for path in _lists(case["parameters"])}


@pytest.mark.parametrize("where", GROWING, ids=lambda where: f"{where[0]}-{where[1]}-{'.'.join(map(str, where[2]))}")
@pytest.mark.parametrize(
    "distinct", [pytest.param(True, id="distinct"), pytest.param(False, id="repeated", marks=pytest.mark.long)]
)
def test_every_table_is_linear_in_every_list(
    resolver: EffectResolver,
    stack: Mapping[str, Mapping[str, Json]],
    monkeypatch: pytest.MonkeyPatch,
    where: tuple[str, str, tuple[Any, ...]],
    distinct: bool,
) -> None:
    monkeypatch.setattr(EffectBudget, "spend", lambda _budget: None)
    service, operation, path = where
    parameters = GROWING[where]["parameters"]

    def make(count: int) -> Callable[[], object]:
        grown = _grown(parameters, path, count, distinct=distinct)
        return _interpret(resolver, stack, service, operation, grown)

    assert_linear(make, SIZE)


def _rules(count: int) -> dict[str, dict[str, Json]]:
    """A group with this many separate rules, and as many others in the same state."""
    group: dict[str, dict[str, Json]] = {"aws_security_group.g": {"id": "sg-1", "name": "g"}}
    for number in range(count):
        group[f"aws_vpc_security_group_ingress_rule.r{number}"] = {
            "id": f"sgr-{number}",
            "security_group_id": "sg-1",
            "ip_protocol": "tcp",
            "from_port": 443,
            "to_port": 443,
            "cidr_ipv4": Loud(f"10.{number // 256}.{number % 256}.0/24"),
        }
    return group


def _inline(count: int) -> dict[str, dict[str, Json]]:
    blocks: list[Json] = [
        {
            "protocol": "tcp",
            "from_port": 443,
            "to_port": 443,
            "description": Loud(f"d{number}"),
            "cidr_blocks": [Loud(f"10.{number // 256}.{number % 256}.0/24")],
        }
        for number in range(count)
    ]
    return {"aws_security_group.g": {"id": "sg-1", "name": "g", "ingress": blocks}}


@pytest.mark.parametrize("state", [_rules, _inline])
@pytest.mark.parametrize("operation", ["AuthorizeSecurityGroupIngress", "RevokeSecurityGroupIngress"])
def test_rules_are_found_at_once_in_a_state_that_grows_with_the_call(
    resolver: EffectResolver,
    monkeypatch: pytest.MonkeyPatch,
    state: Callable[[int], dict[str, dict[str, Json]]],
    operation: str,
) -> None:
    monkeypatch.setattr(EffectBudget, "spend", lambda _budget: None)

    def make(count: int) -> Callable[[], object]:
        return _interpret(resolver, state(count), "ec2", operation, _ranges(count))

    assert_linear(make, 60)


@pytest.mark.parametrize("name", ["A{}", "aA{}", "{}", "a_{}", "{}a"])
def test_a_name_is_spelled_in_one_pass(name: str) -> None:
    """A pattern that starts over at every capital took seconds for 9,000 of them, and `work` cannot see into a pattern."""
    long = name.format("A" * 200_000)
    assert len(snake(long)) >= 200_000


def test_a_key_of_absurd_length_is_no_attribute(effects_of: EffectsOf) -> None:
    long = {"QueueName": "q", "Attributes": {"A" * 5_000: "1"}}
    assert effects_of("sqs", "CreateQueue", long) == ()
