"""What was foreseen is right, missed, invented, or understood as a whole."""

from dataclasses import replace
from typing import Any

from tests.bench.effects_truth.judge import Foreseen, Judged, Row, Seen, certain, judge
from tests.bench.effects_truth.truth import Planned

QUEUE = "aws_sqs_queue.seed"


def changed(**after: Any) -> dict[str, Planned]:
    """A plan that changes a queue that had a delay of 5 and no tags."""
    before = {"name": "seed", "delay_seconds": 5, "tags": None}
    return {QUEUE: Planned(address=QUEUE, before=before, after={**before, **after})}


def foreseen(attribute: str, value: Any, **more: Any) -> Foreseen:
    return Foreseen(
        **{"address": QUEUE, "type": "aws_sqs_queue", "attribute": attribute, "action": "set", "value": value, **more}
    )


def call(*effects: Foreseen, row: Row = Row.HAND) -> Seen:
    return Seen(
        operation="sqs:SetQueueAttributes", parameters=("Attributes",), row=row, sender="aws_sqs_queue", effects=effects
    )


def kinds(judged: Judged) -> list[tuple[str, str]]:
    return [(mistake.kind, mistake.attribute) for mistake in judged.mistakes]


def test_the_changed_attribute_with_its_value_is_right() -> None:
    judged = judge("change", changed(delay_seconds=10), [call(foreseen("delay_seconds", "10"))])
    assert kinds(judged) == []
    assert judged.scores["sqs:SetQueueAttributes"].right == 1


def test_another_value_is_a_mistake() -> None:
    judged = judge("change", changed(delay_seconds=10), [call(foreseen("delay_seconds", 11))])
    assert kinds(judged) == [("value", "delay_seconds")]


def test_an_attribute_that_stays_is_invented() -> None:
    judged = judge(
        "change", changed(delay_seconds=10), [call(foreseen("delay_seconds", 10), foreseen("name", "other"))]
    )
    assert kinds(judged) == [("invented", "name")]


def test_a_restated_value_is_no_change() -> None:
    judged = judge("change", changed(delay_seconds=10), [call(foreseen("delay_seconds", 10), foreseen("name", "seed"))])
    assert kinds(judged) == []


def test_what_a_certain_row_does_not_show_is_missed_and_counts() -> None:
    judged = judge("change", changed(delay_seconds=10, tags={"a": "b"}), [call(foreseen("delay_seconds", 10))])
    assert kinds(judged) == [("missed", "tags")]
    assert certain(judged.mistakes)


def test_what_a_call_without_a_row_may_have_carried_is_missed_and_does_not_count() -> None:
    calls = [call(foreseen("delay_seconds", 10)), call(row=Row.NONE)]
    judged = judge("change", changed(delay_seconds=10, tags={"a": "b"}), calls)
    assert kinds(judged) == [("missed", "tags")]
    assert not certain(judged.mistakes)


def test_a_resource_as_a_whole_covers_its_attributes() -> None:
    effect = foreseen("*", None, action="invoke")
    judged = judge("change", changed(delay_seconds=10), [call(effect, row=Row.RESOURCE)])
    assert kinds(judged) == []
    assert judged.scores["sqs:SetQueueAttributes"].whole == 1


def test_a_resource_that_the_plan_leaves_alone_is_wrong_whatever_the_row() -> None:
    effect = foreseen("*", None, action="invoke", address="aws_sqs_queue.other")
    judged = judge("change", changed(delay_seconds=10), [call(effect, row=Row.RESOURCE)])
    assert ("resource", "*") in kinds(judged)
    assert certain(judged.mistakes)


def test_a_new_resource_is_found_by_type_and_identity() -> None:
    address = "aws_sqs_queue{name=seed}"
    planned = {QUEUE: Planned(address=QUEUE, creates=True, after={"name": "seed", "delay_seconds": 5})}
    effect = foreseen("delay_seconds", 5, address=address, action="create", identity={"name": "seed"})
    assert kinds(judge("create", planned, [call(effect)])) == []


def test_a_resource_that_no_call_of_its_type_was_sent_for_is_not_missed() -> None:
    assert kinds(judge("change", changed(tags={"a": "b"}), [])) == []


def test_what_terraform_did_not_get_through_with_is_not_missed() -> None:
    planned = {QUEUE: Planned(address=QUEUE, deletes=True, done=False)}
    assert kinds(judge("destroy", planned, [call()])) == []


def test_a_value_that_is_applied_already_counts_as_foreseen() -> None:
    judged = judge("change", changed(delay_seconds=10), [call(foreseen("delay_seconds", 10, changes=False))])
    assert kinds(judged) == []


def test_what_the_code_did_not_ask_for_is_not_missed() -> None:
    planned = changed(delay_seconds=10, tags={"a": "b"})
    judged = judge("change", planned, [call(foreseen("delay_seconds", 10))], {QUEUE: "delay_seconds"})
    assert kinds(judged) == []


def test_of_two_values_in_one_apply_the_last_counts() -> None:
    calls = [call(foreseen("delay_seconds", None)), call(foreseen("delay_seconds", 10))]
    assert kinds(judge("change", changed(delay_seconds=10), calls)) == []


def test_of_two_new_resources_the_state_says_which_was_meant() -> None:
    policies = [
        Planned(address=f"aws_sqs_queue_policy.{name}", creates=True, after={"policy": "{}"}, made={"queue_url": name})
        for name in ("one", "two")
    ]
    effect = Foreseen(
        address="aws_sqs_queue_policy{queue_url=two}",
        type="aws_sqs_queue_policy",
        attribute="policy",
        action="create",
        value="{}",
        identity={"queue_url": "two"},
    )
    judged = judge("create", {each.address: each for each in policies}, [replace(call(effect), sender=effect.type)])
    assert [mistake.address for mistake in judged.mistakes] == ["aws_sqs_queue_policy.one"]


def test_of_two_new_resources_that_aws_names_the_one_with_the_values_of_the_call_was_meant() -> None:
    keys = {
        f"aws_kms_key.{name}": Planned(address=f"aws_kms_key.{name}", creates=True, after={"description": name})
        for name in ("one", "two")
    }
    calls = [
        replace(
            call(
                foreseen(
                    "description", name, type="aws_kms_key", address=f"aws_kms_key{{call={name}}}", action="create"
                )
            ),
            sender="aws_kms_key",
        )
        for name in ("two", "one")
    ]
    assert kinds(judge("create", keys, calls)) == []


def test_a_name_in_the_call_is_the_end_of_an_arn_in_the_code() -> None:
    address = "aws_ecs_service.seed"
    planned = {address: Planned(address=address, creates=True, after={"cluster": "arn:aws:ecs:::cluster/bare"})}
    effect = foreseen(
        "*", None, type="aws_ecs_service", address="aws_ecs_service{cluster=bare}", identity={"cluster": "bare"}
    )
    assert kinds(judge("create", planned, [replace(call(effect), sender="aws_ecs_service")])) == []


def test_a_secret_is_found_by_its_name_though_its_arn_has_a_suffix() -> None:
    made = {"secret_id": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:bare-AbCdEf"}
    address = "aws_secretsmanager_secret_version.seed"
    planned = {address: Planned(address=address, creates=True, made=made)}
    effect = foreseen(
        "*", None, type="aws_secretsmanager_secret_version", address="x{secret_id=bare}", identity={"secret_id": "bare"}
    )
    assert kinds(judge("create", planned, [replace(call(effect), sender="aws_secretsmanager_secret_version")])) == []


VPC = "aws_default_vpc.seed"


def other_form(address: str, **planned: Any) -> Judged:
    """The judgement of a call by `aws_default_vpc` that the gateway took for one on `aws_vpc`."""
    effect = Foreseen(
        address=address, type="aws_vpc", attribute="tags.a", action="set", value="b", identity={"id": "vpc-1"}
    )
    sent = Seen(
        operation="ec2:CreateTags", parameters=("Tags",), row=Row.HAND, sender="aws_default_vpc", effects=(effect,)
    )
    return judge("create", {VPC: Planned(address=VPC, **planned)}, [sent])


def test_what_a_new_resource_declares_in_another_form_is_right() -> None:
    assert kinds(other_form("aws_vpc{id=vpc-1}", creates=True, made={"id": "vpc-1"})) == []


def test_another_form_counts_for_the_same_thing_only() -> None:
    assert ("resource", "tags.a") in kinds(other_form("aws_vpc{id=vpc-1}", creates=True, made={"id": "vpc-2"}))


def test_what_the_state_records_in_another_form_had_to_be_named() -> None:
    before = {"id": "vpc-1", "tags": {}}
    judged = other_form("aws_vpc{id=vpc-1}", before=before, after={**before, "tags": {"a": "b"}})
    assert kinds(judged) == [("resource", "tags.a"), ("missed", "tags")]


def test_a_new_part_is_what_its_owner_was_said_to_get() -> None:
    tag = "aws_dynamodb_tag.seed"
    arn = "arn:aws:dynamodb:eu-west-1:123456789012:table/t"

    def said(attribute: str) -> list[tuple[str, str]]:
        table = {"aws_dynamodb_table.t": Planned(address="aws_dynamodb_table.t", creates=True, made={"arn": arn})}
        planned = {**table, tag: Planned(address=tag, creates=True, after={"key": "k"}, made={"resource_arn": arn})}
        effect = Foreseen(
            address="aws_dynamodb_table.t", type="aws_dynamodb_table", attribute=attribute, action="set", value="v"
        )
        sent = Seen(
            operation="dynamodb:TagResource", parameters=(), row=Row.HAND, sender="aws_dynamodb_tag", effects=(effect,)
        )
        return kinds(judge("create", planned, [sent]))

    assert said("tags.k") == []
    assert said("tags.other") == [("missed", "*")]


def test_of_two_new_resources_the_one_that_no_value_contradicts_was_meant() -> None:
    full = Planned(address="aws_sqs_queue.full", creates=True, after={"delay_seconds": 5, "max_message_size": 9})
    bare = Planned(address="aws_sqs_queue.bare", creates=True)
    effects = [
        Foreseen(address="aws_sqs_queue{call=1}", type="aws_sqs_queue", attribute=name, action="create", value=value)
        for name, value in (("delay_seconds", 5), ("max_message_size", 8))
    ]
    judged = judge("create", {each.address: each for each in (full, bare)}, [call(*effects)])
    assert [mistake.kind for mistake in judged.mistakes] == ["missed"]


def test_a_part_that_a_new_twin_of_its_owner_takes_is_right() -> None:
    acl = "aws_default_network_acl.seed"
    rule = {"network_acl_id": "acl-1", "rule_number": "100", "egress": "true"}

    def said(own: str) -> list[tuple[str, str]]:
        effect = Foreseen(
            address="aws_network_acl_rule{…}",
            type="aws_network_acl_rule",
            attribute="*",
            action="delete",
            identity=rule,
        )
        sent = Seen(
            operation="ec2:DeleteNetworkAclEntry",
            parameters=(),
            row=Row.HAND,
            sender="aws_default_network_acl",
            effects=(effect,),
        )
        return kinds(judge("create", {acl: Planned(address=acl, creates=True, made={"id": own})}, [sent]))

    assert said("acl-1") == []
    assert ("resource", "*") in said("acl-2")
