"""Parameters that no row explains, compared with the plan by their names: of calls that carry others, and of rows that know constants only."""

from dataclasses import replace
from typing import Any

from gateway.core.derived_rows import Confidence, Origin, ValueForm
from gateway.core.model.mutation import CallClass, EffectAction
from gateway.core.model.plan import PlannedAction
from gateway.core.model.plan_session import PlanRules
from gateway.effects.schema import read_schemas
from gateway.plans.call_match import CallMatch
from gateway.plans.planned_values import same_in_form
from gateway.plans.row_match import by_rows
from gateway.plans.session_calls import match_of
from tests.gateway.plans.test_row_match import C, D, S, change, match, row, session_call, source, used_of
from tests.kit import nouns

MACHINE = "aws_sfn_state_machine"
GROUP = "aws_autoscaling_group"
MAKES = row(C, resource_type=MACHINE, attributes={"roleArn": source("role_arn")})


def carrying(*, planned: dict[str, Any], free: frozenset[str] = frozenset(), **parameters: Any) -> CallMatch:
    """How a call that carries others fits a planned state machine."""
    machine = change(kind=MACHINE, values=planned, free=free)
    asked = session_call(MAKES, changes=(machine,), **parameters)
    return by_rows(replace(asked, carries=True, schemas=read_schemas({MACHINE})))


def test_a_call_that_carries_others_is_exactly_what_the_plan_has() -> None:
    planned = {"name": "m", "role_arn": "r", "definition": '{"StartAt": "a"}', "type": "STANDARD"}
    given: dict[str, Any] = {
        "name": "m",
        "roleArn": "r",
        "definition": '{"StartAt":"a"}',
        "type": "STANDARD",
        "publish": False,
    }
    assert carrying(planned=planned, **given).uses
    assert carrying(planned=planned, **given | {"definition": '{"StartAt": "b"}'}).objection
    assert carrying(planned=planned, **given | {"roleArn": "STANDARD"}).objection, "another value of the plan"
    assert carrying(planned=planned, **given | {"publish": True}).objection
    assert carrying(planned=planned, **given | {"target": "m"}).objection, "under no name of the plan"


def test_only_what_was_traced_lets_a_call_that_carries_others_be_compared_by_name() -> None:
    asked = session_call(
        replace(MAKES, origin=Origin.MODEL), changes=(change(kind=MACHINE, values={"name": "m"}),), name="m"
    )
    assert "knows all of its attributes" in by_rows(replace(asked, carries=True)).objection
    both = replace(session_call(MAKES, changes=(change(kind=MACHINE, values={"name": "m"}),), name="m"), carries=True)
    assert by_rows(replace(both, schemas=read_schemas({MACHINE}))).uses
    assert "knows all of its attributes" in by_rows(replace(both, call_class=CallClass.EXECUTE)).objection


def test_names_and_values_of_a_map_are_compared_as_pairs() -> None:
    planned = {"name": "m", "role_arn": "r", "tracing": [{"key": "Instances", "value": "some"}]}
    given: dict[str, Any] = {"name": "m", "roleArn": "r"}
    assert carrying(planned=planned, **given, targets={"Instances": "some"}).uses
    assert carrying(planned=planned, **given, targets={"Instances": "others"}).objection
    assert carrying(planned=planned, **given, targets={"Clusters": "some"}).objection


def test_an_id_that_nobody_knows_is_that_of_what_was_made() -> None:
    keyed = row(S, resource_type="aws_iam_user_ssh_key", identity={"UserName": source("username")})
    made = {"aws_iam_user_ssh_key.app": "APKA1"}
    members: dict[str, Any] = {
        "changes": (
            change(kind="aws_iam_user_ssh_key", values={"username": "u"}, free=frozenset({"ssh_public_key_id"})),
        ),
        "made": made,
        "UserName": "u",
    }
    asked = replace(session_call(keyed, **members, SSHPublicKeyId="APKA1"), carries=True)
    asked = replace(asked, schemas=read_schemas({"aws_iam_user_ssh_key"}))
    assert by_rows(asked).uses
    assert by_rows(
        replace(asked, call=replace(asked.call, parameters={"UserName": "u", "SSHPublicKeyId": "X"}))
    ).objection
    assert by_rows(replace(asked, made={})).objection


def test_a_constant_of_the_trace_may_have_the_value_of_the_plan() -> None:
    updated = row(S, resource_type=GROUP, constants={"job.workers": 2})
    planned = (change("kafka_consumer", PlannedAction.UPDATE, GROUP, values={"settings.workers": 5}),)
    assert match(updated, changes=planned, job={"workers": 5}).uses
    assert "Terraform never sends" in match(updated, changes=planned, job={"workers": 6}).objection
    rules = PlanRules(guarded=frozenset({"workers"}))
    assert match(updated, changes=planned, rules=rules, job={"workers": 5}).objection, "guarded: another block's"


def test_a_count_is_that_of_the_items_beside_it() -> None:
    created = row(C, constants={"methods.Quantity": 7})
    assert match(created, methods={"Quantity": 2, "Items": ["GET", "HEAD"]}).uses
    assert match(created, methods={"Quantity": 3, "Items": ["GET", "HEAD"]}).objection


def test_of_several_new_ones_it_is_the_one_that_it_says_most_of() -> None:
    created = row(C, attributes={"tags": source("tags")})
    plain = change("b", values={"cidr": "10.0.0.0/24"})
    tagged = change("a", values={"cidr": "10.0.0.0/24", "tags.kept": "yes"})
    assert used_of(match(created, changes=(tagged, plain), cidr="10.0.0.0/24")) == [("aws_ecr_repository.b", "create")]
    both = match(created, changes=(plain, tagged), cidr="10.0.0.0/24", tags={"kept": "yes"})
    assert used_of(both) == [("aws_ecr_repository.a", "create")]


def test_what_is_deleted_may_be_switched_off_before_and_nothing_else() -> None:
    sets = row(S, resource_type=GROUP, identity={"Name": source("name")}, unexplained=frozenset({"state"}))
    going = (change("kafka_consumer", PlannedAction.DELETE, GROUP),)
    recorded = session_call(sets, changes=going).stack.recorded(f"{GROUP}.kafka_consumer") or {}
    named = {"Name": recorded["name"]}
    assert used_of(match(sets, changes=going, **named, state="DISABLED")) == [(f"{GROUP}.kafka_consumer", "set")]
    assert match(sets, changes=going, **named, state="ENABLED").objection
    assert match(sets, changes=going, state="DISABLED").objection, "it does not say which"
    assert match(sets, changes=going, **named, max_size=recorded["max_size"]).uses, "as it is"
    assert match(sets, changes=going, **named, max_size=99).objection


def test_a_member_leaves_a_list_that_the_plan_makes_shorter() -> None:
    kind, groups = "aws_launch_template", "vpc_security_group_ids"
    takes = row(
        D,
        resource_type=kind,
        confidence=Confidence.ATTRIBUTES,
        identity={"Name": source("name")},
        removes={"Group": groups},
    )
    recorded = session_call(takes).stack.recorded(f"{kind}.kafka_consumer") or {}
    given: dict[str, Any] = {"Name": recorded["name"], "Group": "sg-0abc1234"}

    def updated(**values: Any) -> CallMatch:
        return match(takes, changes=(change("kafka_consumer", PlannedAction.UPDATE, kind, values=values),), **given)

    assert used_of(updated(vpc_security_group_ids=["sg-1"])) == [(f"{kind}.kafka_consumer", "set")]
    assert groups in updated(vpc_security_group_ids=["sg-0abc1234", "sg-1"]).objection
    assert groups in updated(description="another").objection


def test_what_the_provider_deletes_by_a_call_that_only_invokes_by_hand() -> None:
    kind = "aws_launch_template"
    address = f"{kind}.kafka_consumer"
    going = change("kafka_consumer", PlannedAction.DELETE, kind)
    invoked = nouns.effect(address, "*", None, resource_type=kind, action=EffectAction.INVOKE)
    deletes = row(D, resource_type=kind, confidence=Confidence.ATTRIBUTES, identity={"template": source("name")})
    recorded = session_call(deletes).stack.recorded(address) or {}
    made = replace(session_call(deletes, changes=(going,), template=recorded["name"]), effects=(invoked,))
    assert used_of(match_of(made)) == [(address, "delete")]
    for weaker in (replace(deletes, confidence=Confidence.RESOURCE), replace(deletes, origin=Origin.MODEL)):
        assert match_of(replace(made, rows=(weaker,))).objection


def test_text_in_base_64_is_that_of_the_plan() -> None:
    assert same_in_form("aGVsbG8=", "hello", ValueForm.BASE64)
    assert not same_in_form("aGVsbG8=", "hallo", ValueForm.BASE64)
    assert not same_in_form("no base 64!", "hello", ValueForm.BASE64)


def test_what_joins_others_names_only_them() -> None:
    joins = row(C, S, confidence=Confidence.ATTRIBUTES, resource_type="aws_vpc_dhcp_options_association")
    joins = replace(
        joins, identity={"VpcId": source("vpc_id")}, attributes={"DhcpOptionsId": source("dhcp_options_id")}
    )
    planned = (change(kind="aws_vpc_dhcp_options_association", free=frozenset({"vpc_id", "dhcp_options_id"})),)
    made = {"aws_vpc.v": "vpc-1", "aws_vpc_dhcp_options.d": "dopt-1"}
    assert match(joins, changes=planned, made=made, VpcId="vpc-1", DhcpOptionsId="dopt-1").uses
    assert match(joins, changes=planned, made=made, VpcId="vpc-9", DhcpOptionsId="dopt-1").objection
