"""A headline says in plain words what a mutation changes, and no secret, whatever the effects are."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.records.decided import DecidedBody
from gateway.core.records.record import Stage
from gateway.presentation import headline as headline_module
from gateway.presentation.headline import attribute_words, headline, resource_name
from tests.kit.bodies import sample_body

ASG = "aws_autoscaling_group.kafka_consumer"
GROUP = "aws_security_group.web"
MASK = {"hmac_sha256": "a" * 64}
SSH = {"from_port": 22, "to_port": 22, "protocol": "tcp", "cidr_blocks": ["0.0.0.0/0"]}
HTTPS = {"from_port": 443, "to_port": 443, "protocol": "tcp", "cidr_blocks": ["10.0.0.0/8"]}


def effect(attribute: str, before: Any, value: Any, address: str = ASG, **more: Any) -> dict[str, Any]:
    members = {"address": address, "attribute": attribute, "before": before, "value": value, "changes": True}
    return {**members, "action": "set", "resource_type": address.split(".")[-2], "declared": None, **more}


def said(*effects: dict[str, Any], done: bool = True, **more: Any) -> str:
    call = {"service": "sqs", "operation": "PurgeQueue", "class": "mutation"}
    body = sample_body(Stage.DECIDED, {"call": call, "effects": list(effects), **more})
    assert isinstance(body, DecidedBody)
    return headline(body, done=done)


CASES: list[tuple[dict[str, Any], str]] = [
    (effect("desired_capacity", 4, 6), "desired capacity 4 → 6 on kafka_consumer"),
    (effect("desired_capacity", None, 6), "set desired capacity to 6 on kafka_consumer"),
    (effect("desired_capacity", 6, None), "removed desired capacity on kafka_consumer"),
    (effect("retention_in_days", 14, 30, "aws_cloudwatch_log_group.app"), "retention 14 → 30 days on app"),
    (effect("visibility_timeout_seconds", None, 9), "set visibility timeout to 9 seconds on kafka_consumer"),
    (effect("deletion_protection", True, False), "turned deletion protection off on kafka_consumer"),
    (effect("tags.owner", "ana", "bo"), "tag owner ana → bo on kafka_consumer"),
    (effect("tags", {"a": "1"}, {"a": "2", "b": "3"}), "tags: a 1 → 2, b nothing → 3 on kafka_consumer"),
    (effect("policy", {"a": {}}, {"a": {"b": 1}}), "changed policy on kafka_consumer"),
    (effect("ingress", [HTTPS], [HTTPS, SSH], GROUP), "opened port 22 to 0.0.0.0/0 on web"),
    (effect("ingress", [HTTPS, SSH], [HTTPS], GROUP), "closed port 22 to 0.0.0.0/0 on web"),
    (effect("egress", [], [SSH], GROUP), "opened outwards port 22 to 0.0.0.0/0 on web"),
    (effect("ingress", [], [{**SSH, "from_port": 0, "to_port": 0, "protocol": "-1"}], GROUP), "opened all ports to 0.0.0.0/0 on web"),
    (effect("zones", ["a"], ["a", "b", "c", "d"]), "added b, c and 1 more to zones on kafka_consumer"),
    (effect("zones", ["a", "b"], ["a"]), "removed b from zones on kafka_consumer"),
    (effect("rules", [{"x": 1}], [{"x": 2}]), "changed rules (2 items) on kafka_consumer"),
    (effect("password", MASK, MASK), "changed the secret password on kafka_consumer"),
    (effect("user_data", "old", "new", sensitive=True), "changed the secret user data on kafka_consumer"),
    (effect("*", None, None, action="create"), "created aws_autoscaling_group kafka_consumer"),
    (effect("*", None, None, action="delete"), "deleted aws_autoscaling_group kafka_consumer"),
    (effect("*", None, None, action="invoke"), "ran sqs:PurgeQueue on kafka_consumer"),
    (effect("name", "", "a b"), 'name "" → a b on kafka_consumer'),
    (effect("desired_capacity", 6, 6, changes=False), "desired capacity stays 6 on kafka_consumer"),
]  # fmt: skip


@pytest.mark.parametrize(("given_effect", "words"), CASES, ids=[words for _, words in CASES])
def test_an_effect_in_words(given_effect: dict[str, Any], words: str) -> None:
    assert said(given_effect) == words


def test_what_was_not_done_is_told_as_asked_for() -> None:
    assert said(effect("ingress", [], [SSH], GROUP), done=False) == "open port 22 to 0.0.0.0/0 on web"
    assert said(effect("*", None, None, action="delete"), done=False) == "delete aws_autoscaling_group kafka_consumer"


def test_several_changes_are_the_first_and_a_number() -> None:
    others = [effect("max_size", 9, 10), effect("x", 1, 2, "aws_sqs_queue.q"), effect("y", 1, 2, "aws_sqs_queue.r")]
    assert said(effect("desired_capacity", 4, 6), *others) == "desired capacity 4 → 6 on kafka_consumer and 3 more"


def test_a_created_resource_is_one_change_and_consequences_are_none() -> None:
    created = [effect(name, None, 1, action="create") for name in ("*", "min_size", "max_size")]
    implied = effect("desired_capacity", 1, 2, "aws_autoscaling_group.other", implied=True)
    assert said(*created, implied) == "created aws_autoscaling_group kafka_consumer"


def test_a_rule_that_is_a_resource_says_what_it_opens() -> None:
    rule = {**SSH, "cidr_ipv4": "0.0.0.0/0"}
    address = "aws_vpc_security_group_ingress_rule.ssh"
    effects = [effect(name, None, value, address, action="create") for name, value in {"*": None, **rule}.items()]
    assert said(*effects).startswith("created aws_vpc_security_group_ingress_rule ssh: port 22 to 0.0.0.0/0")


def test_calls_without_known_effects_are_told_apart_by_their_parameters() -> None:
    call = {"service": "events", "operation": "CancelReplay", "class": "mutation"}
    given = {"Secret": {"hmac_sha256": "0" * 64}, "ReplayName": "orders\nof April", "Count": 3, "More": "x"}
    assert said(call={**call, "parameters": given}) == "ran events:CancelReplay (ReplayName orders of April, Count 3)"
    assert len(said(call={**call, "parameters": {"n" * 10_000: "v" * 10_000}})) <= 160


def test_an_unknown_effect_is_the_call_and_a_plan_its_numbers() -> None:
    assert said() == "ran sqs:PurgeQueue"
    changes = [{"address": f"a.b{each}", "type": "a", "action": "create"} for each in range(3)]
    changes.append({"address": "a.c", "type": "a", "action": "update"})
    plan = {"key": "k", "until": "", "changes": changes}
    assert said(plan=plan) == "terraform applied: 4 changes (3 to create, 1 to update)"


@pytest.mark.parametrize(
    ("address", "name"),
    [
        (ASG, "kafka_consumer"),
        (f"prod:{ASG}", "kafka_consumer"),
        ('module.retry["a.b"].aws_sqs_queue.this[0]', 'retry["a.b"].this[0]'),
        ("aws_security_group{id=sg-8b0e}", "aws_security_group sg-8b0e"),
        ("something else", "something else"),
    ],
)
def test_the_name_of_a_resource(address: str, name: str) -> None:
    assert resource_name(address) == name


def test_indexes_are_no_words() -> None:
    assert attribute_words("launch_template.0.image_id") == "launch template image id"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(before=VALUES, value=VALUES, name=st.text(max_size=12), action=st.sampled_from(["set", "create", "delete"]))
def test_any_effect_has_one_short_line(before: Any, value: Any, name: str, action: str) -> None:
    line = said(effect(name, before, value, action=action))
    assert line
    assert "\n" not in line
    assert len(line) < 300


def test_a_secret_is_never_in_it() -> None:
    assert "hunter2" not in said(effect("password", "hunter1", "hunter2", sensitive=True))


def test_a_long_list_costs_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    keyed: list[str] = []

    def counting(item: Any) -> str:
        keyed.append(key(item))
        return keyed[-1]

    key = headline_module._key
    monkeypatch.setattr(headline_module, "_key", counting)
    said(effect("zones", [str(each) for each in range(2_000)], [str(each) for each in range(1_000, 3_000)]))
    assert len(keyed) <= 4 * 4_000
