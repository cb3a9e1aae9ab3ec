"""Calls that no hand-made row explains, matched with a plan by derived rows."""

import base64
import hashlib
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gateway.core.derived_rows import AttributeSource, Confidence, DerivedRow, Origin, ValueForm
from gateway.core.model.mutation import Call, CallClass, EffectAction
from gateway.core.model.path import WHOLE
from gateway.core.model.plan import PlannedAction
from gateway.core.model.plan_session import PlanRules, PlanSession, PlanUse, SessionChange
from gateway.core.model.verdict import Mode
from gateway.core.settings import StackSettings
from gateway.effects.schema import known_schemas
from gateway.plans.call_match import CallMatch, SessionCall, by_effects
from gateway.plans.row_match import by_rows
from gateway.plans.session_calls import match_of, match_of_present
from gateway.terraform.forms import Twin
from gateway.terraform.stacks import Stacks
from tests.kit import nouns
from tests.kit.gate import STACK
from tests.kit.nouns import NOW

REPOSITORY = "aws_ecr_repository"
C, S, D = EffectAction.CREATE, EffectAction.SET, EffectAction.DELETE
STACKS = Stacks.load([StackSettings(name="kafka", path=STACK)], default_mode=Mode.ENFORCE)
OLD = "aws_ecr_repository.old"
"""A recorded repository. What no state records is neither changed nor deleted."""
_STATE = STACKS.all[0].state
_OLD = replace(next(iter(_STATE.resources.values())), address=OLD, attributes={})
KAFKA = replace(STACKS.all[0], state=replace(_STATE, resources={**_STATE.resources, OLD: _OLD}))


def change(
    name: str = "app", action: PlannedAction = PlannedAction.CREATE, kind: str = REPOSITORY, **members: Any
) -> SessionChange:
    """A planned change."""
    return SessionChange(address=f"{kind}.{name}", resource_type=kind, action=action, **members)


def row(*actions: EffectAction, confidence: Confidence = Confidence.RESOURCE, **members: Any) -> DerivedRow:
    """A row of `ecr:CreateRepository`, or of another operation."""
    usual: dict[str, Any] = {
        "service": "ecr",
        "operation": "CreateRepository",
        "resource_type": REPOSITORY,
        "origin": Origin.TRACED,
    }
    return DerivedRow(actions=frozenset(actions), confidence=confidence, **(usual | members))


def source(attribute: str, form: ValueForm = ValueForm.SAME) -> AttributeSource:
    """Where a parameter's value comes from."""
    return AttributeSource(attribute=attribute, form=form)


def session_call(
    *rows: DerivedRow,
    changes: tuple[SessionChange, ...] = (change(),),
    call_class: CallClass = CallClass.MUTATION,
    rules: PlanRules | None = None,
    used: dict[tuple[str, str, str], int] | None = None,
    made: dict[str, str] | None = None,
    service: str = "ecr",
    **parameters: object,
) -> SessionCall:
    """A call with what it is compared with."""
    session = PlanSession(
        id="mut_1",
        key_id="SNTS1",
        actor="deployer",
        stack="kafka",
        digest="d",
        opened_at=NOW,
        until=NOW + timedelta(hours=1),
        changes=changes,
    )
    return SessionCall(
        session=session,
        call=Call(
            service=service,
            operation="CreateRepository",
            parameters=parameters,
            account="123456789012",
            region="us-east-1",
        ),
        call_class=call_class,
        effects=(),
        rows=rows,
        stack=KAFKA,
        rules=rules or PlanRules(),
        used=used or {},
        made=made or {},
        schemas={},
    )


def match(*rows: DerivedRow, **members: Any) -> CallMatch:
    """How a call fits."""
    return by_rows(session_call(*rows, **members))


def used_of(found: CallMatch) -> list[tuple[str, str]]:
    """What the call uses."""
    return [(use.address, use.action) for use in found.uses]


def test_without_a_row_nothing_passes() -> None:
    assert match().objection == "no table says which resource it concerns"


def test_a_row_of_the_type_passes_in_its_direction() -> None:
    assert used_of(match(row(C, confidence=Confidence.TYPE, origin=Origin.MODEL))) == [
        ("aws_ecr_repository.app", "create")
    ]
    assert match(row(D)).objection == "the plan changes no aws_ecr_repository in this way"
    deleted = (change("old", PlannedAction.DELETE),)
    assert match(row(C, S), changes=deleted).objection
    assert used_of(match(row(D), changes=deleted)) == [(OLD, "delete")]
    assert match(row(C, resource_type="aws_ecr_registry_policy")).objection


@pytest.mark.parametrize("action", [PlannedAction.UPDATE, PlannedAction.DELETE, PlannedAction.REPLACE])
def test_what_no_state_records_is_neither_changed_nor_deleted(action: PlannedAction) -> None:
    """Whatever the client says about its identity: nobody knows which resource it is."""
    planned = (change("ghost", action, values={"name": "app"}, free=frozenset({"arn", "id"})),)
    for row_actions in ((S,), (D,)):
        known = row(*row_actions, confidence=Confidence.ATTRIBUTES, identity={"repositoryName": source("name")})
        found = match(known, changes=planned, repositoryName="app")
        assert bool(found.uses) is (action is PlannedAction.REPLACE and S in row_actions)


def test_it_passes_as_often_as_the_plan_has_such_changes() -> None:
    created = row(C)
    both = (change("a"), change("b"))
    spent = {("aws_ecr_repository.a", "create", "ecr:CreateRepository"): 1}
    assert used_of(match(created, changes=both)) == [("aws_ecr_repository.a", "create")]
    assert used_of(match(created, changes=both, used=spent)) == [("aws_ecr_repository.b", "create")]
    spent |= {("aws_ecr_repository.b", "create", "ecr:CreateRepository"): 1}
    assert "as often" in match(created, changes=both, used=spent).objection


@pytest.mark.parametrize(
    ("parameters", "passes"),
    [
        ({"PublicPolicy": "x"}, False),
        ({"AccessRules": [{"Principal": "*"}]}, False),
        ({"AccessRules": [{"Principal": "known"}]}, True),
        ({"AccessPolicy": '{"a":  [1]}'}, True),
        ({"SharedWith": "123456789012"}, True),
        ({"PermissionRole": "role-made"}, True),
        ({"PublicAccess": False}, True),
        ({"Rules": "x"}, True),
        ({"AuthorizationToken": "x"}, True),
    ],
)
def test_what_may_say_who_reaches_it_is_planned_whatever_it_is_called(
    parameters: dict[str, Any], *, passes: bool
) -> None:
    """By the class of the name, not by a list: a sibling of a guarded attribute passes no more than that."""
    planned = (change(values={"other": "known", "document": '{"a": [1]}'}),)
    weak = row(C, confidence=Confidence.TYPE, origin=Origin.MODEL)
    found = match(weak, changes=planned, made={"aws_iam_role.x": "role-made"}, **parameters)
    assert bool(found.uses) is passes, found.objection


def test_the_named_resource_is_chosen_and_no_other() -> None:
    created = row(C, identity={"repositoryName": source("name")})
    both = (change("a", values={"name": "a"}), change("b", values={"name": "b"}))
    assert used_of(match(created, changes=both, repositoryName="b")) == [("aws_ecr_repository.b", "create")]
    assert "another aws_ecr_repository" in match(created, changes=both, repositoryName="c").objection


def test_each_name_of_a_list_is_a_planned_resource() -> None:
    created = row(C, identity={"names": source("name")})
    both = (change("a", values={"name": "a"}), change("b", values={"name": "b"}))
    assert len(match(created, changes=both, names=["a", "b"]).uses) == 2
    assert match(created, changes=both, names=["a", "c"]).objection
    assert match(created, changes=both, names=["a", "a"]).objection


def test_what_was_created_is_known_by_the_id_that_aws_chose() -> None:
    settings = row(S, identity={"id": source("id")})
    assert match(settings, id="r-1").objection, "nothing was created yet"
    created = {("aws_ecr_repository.app", "create", "ecr:CreateRepository"): 1}
    assert match(settings, id="r-1", used=created).uses, "it was created, and nobody knows its id"
    made = {"aws_ecr_repository.app": "r-1"}
    assert match(settings, id="r-1", made=made, used=created).uses
    assert match(settings, id="arn:aws:ecr:us-east-1:123456789012:repository/r-1", made=made).uses
    assert match(settings, id="somebody-elses", made=made).objection


def test_a_replacement_is_known_by_the_id_that_aws_chose_while_the_state_has_the_old_one() -> None:
    settings = row(S, identity={"id": source("id")})
    replaced = (change("old", PlannedAction.REPLACE, values={"description": "new"}, free=frozenset({"id"})),)
    recorded = replace(KAFKA.state, resources={OLD: replace(_OLD, attributes={"id": "r-1"})})

    def found(name: str, made: str = "") -> CallMatch:
        asked = session_call(settings, changes=replaced, made={OLD: made} if made else None, id=name)
        return by_rows(replace(asked, stack=replace(KAFKA, state=recorded)))

    assert found("r-1").uses, "the old one, before it is deleted"
    assert found("r-2").objection, "nothing was made yet"
    assert found("r-2", made="r-2").uses
    assert found("r-3", made="r-2").objection, "somebody else's"


def test_parts_of_an_id_name_the_resource_in_their_places() -> None:
    part = source("id", ValueForm.PART)
    deletes = row(D, identity={"registry": part, "name": part}, id_form="{registry}/{name}")
    deleted = (change("old", PlannedAction.DELETE, values={"id": "r/app"}),)
    assert match(deletes, changes=deleted, registry="r", name="app").uses
    assert match(deletes, changes=deleted, registry="app", name="r").objection
    assert match(deletes, changes=deleted, registry="r").objection
    assert match(row(S, identity={"name": part}, id_form="{name}"), name="app").objection, "nothing was created yet"


def test_an_arn_elsewhere_is_another_resource() -> None:
    created = row(C, identity={"arn": source("name", ValueForm.ARN)})
    planned = (change(values={"name": "app"}),)
    assert match(created, changes=planned, arn="arn:aws:ecr:us-east-1:123456789012:app").uses
    assert match(created, changes=planned, arn="arn:aws:ecr:eu-west-1:123456789012:app").objection


def test_a_value_that_the_row_knows_must_be_planned() -> None:
    created = row(C, attributes={"imageTagMutability": source("image_tag_mutability")})
    planned = (change(values={"image_tag_mutability": "IMMUTABLE"}),)
    assert match(created, changes=planned, imageTagMutability="IMMUTABLE").uses
    assert "image_tag_mutability" in match(created, changes=planned, imageTagMutability="MUTABLE").objection
    free = (change(free=frozenset({"image_tag_mutability"})),)
    assert match(created, changes=free, imageTagMutability="MUTABLE").uses


def test_a_weaker_row_does_not_explain_what_a_surer_one_contradicts() -> None:
    sure = row(C, confidence=Confidence.ATTRIBUTES, attributes={"mutability": source("image_tag_mutability")})
    weak = row(C, origin=Origin.MODEL)
    planned = (change(values={"image_tag_mutability": "IMMUTABLE"}),)
    assert match(weak, sure, changes=planned, mutability="MUTABLE").objection


def test_tags_in_pairs_are_those_of_the_plan() -> None:
    created = row(C, attributes={"tags": source("tags")})
    planned = (change(values={"tags.team": "shop"}, tags={"managed": "terraform"}),)
    pairs = [{"Key": "team", "Value": "shop"}, {"Key": "managed", "Value": "terraform"}]
    assert match(created, changes=planned, tags=pairs).uses
    assert match(created, changes=planned, tags={"team": "shop"}).uses
    assert match(created, changes=planned, tags=[{"Key": "owner", "Value": "intruder"}]).objection
    assert match(created, changes=planned, tags=[{"Owner": "x", "Key": "team", "Value": "shop"}]).objection


def test_what_terraform_never_sends_is_not_planned() -> None:
    created = row(C, constants={"force": False})
    assert match(created, force=False).uses
    assert "force" in match(created, force=True).objection
    assert match(row(C, constants={"force": True}), force=False).uses


def test_what_guardrails_judge_must_be_planned_by_whatever_name() -> None:
    rules = PlanRules(guarded=frozenset({"policy", "role_arn"}))
    created = row(C, confidence=Confidence.TYPE)
    planned = (change(values={"role_arn": "arn:aws:iam::1:role/app"}),)
    assert match(created, changes=planned, rules=rules, roleArn="arn:aws:iam::1:role/app", note="free").uses
    assert "role_arn" in match(created, changes=planned, rules=rules, roleArn="arn:aws:iam::1:role/admin").objection
    assert "policy" in match(created, changes=planned, rules=rules, settings={"policy": "{}"}).objection


def test_a_guard_of_which_the_plan_says_nothing_is_not_switched_off() -> None:
    rules = PlanRules(guarded=frozenset({"block_public_policy"}))
    weak = row(C, confidence=Confidence.TYPE)
    assert match(weak, rules=rules, blockPublicPolicy=False).objection
    off = (change(values={"block_public_policy": False}),)
    assert match(weak, changes=off, rules=rules, blockPublicPolicy=False).uses
    assert match(row(C, constants={"blockPublicPolicy": True}), rules=rules, blockPublicPolicy=False).objection


def test_a_deletion_is_forced_only_as_the_state_says() -> None:
    deleted = (SessionChange(address=RECORDED, resource_type=QUEUE, action=PlannedAction.DELETE),)
    url = {"QueueUrl": f"{URL}retry"}
    known = row(D, resource_type=QUEUE, attributes={"Force": source("fifo_queue")})
    assert match(known, changes=deleted, **url).uses
    assert match(known, changes=deleted, **url, Force=False).uses
    assert "Force" in match(known, changes=deleted, **url, Force=True).objection
    assert "All" in match(row(D, resource_type=QUEUE), changes=deleted, **url, All=True).objection


def test_a_store_is_deleted_by_its_name_only() -> None:
    rules = PlanRules(stores=frozenset({REPOSITORY}))
    deleted = (change("old", PlannedAction.DELETE),)
    assert "does not say which" in match(row(D), changes=deleted, rules=rules).objection
    assert match(row(D), changes=deleted).uses


QUEUE = "aws_sqs_queue"
RECORDED = "module.retry.aws_sqs_queue.this"
URL = "https://sqs.us-east-1.amazonaws.com/123456789012/kafka-"


@pytest.mark.parametrize("action", [PlannedAction.UPDATE, PlannedAction.DELETE])
@pytest.mark.parametrize(
    ("parameters", "passes"),
    [
        ({"QueueUrl": f"{URL}retry"}, True),
        ({"QueueArn": "arn:aws:sqs:us-east-1:123456789012:kafka-retry"}, True),
        ({"Settings": {"Name": "kafka-retry"}}, True),
        ({"QueueUrl": f"{URL}shard-0"}, False),
        ({"QueueArn": "arn:aws:sqs:us-east-1:123456789012:kafka-archive-hot"}, False),
        ({"QueueArn": "arn:aws:sqs:eu-west-1:123456789012:kafka-retry"}, False),
        ({"QueueName": "of-nobody-we-know"}, False),
        ({"queue": "of-nobody-we-know"}, False),
        ({"QueueArn": "arn:aws:sqs:us-east-1:123456789012:kafka-retry/of-nobody-we-know"}, False),
        ({"QueueName": "kafka-retry", "OtherName": "of-nobody-we-know"}, False),
        ({"Names": ["kafka-retry", "of-nobody-we-know"]}, False),
        ({"AccountId": "123456789012"}, False),
    ],
)
def test_a_row_that_does_not_know_the_name_explains_calls_that_name_the_planned_resource_only(
    action: PlannedAction, parameters: dict[str, Any], passes: bool
) -> None:
    """The session of a harmless change of one resource touches no other one of its type, also none that no code declares."""
    planned = (SessionChange(address=RECORDED, resource_type=QUEUE, action=action, values={"delay_seconds": 3}),)
    direction = S if action is PlannedAction.UPDATE else D
    for confidence in (Confidence.TYPE, Confidence.RESOURCE):
        weak = row(direction, confidence=confidence, resource_type=QUEUE)
        asked = session_call(weak, changes=planned, **parameters)
        found = by_rows(replace(asked, call=replace(asked.call, operation="ChangeDelay")))
        assert bool(found.uses) is passes, found.objection


def test_a_creation_that_may_overwrite_names_what_is_planned() -> None:
    overwrites = row(C, S, confidence=Confidence.TYPE)
    planned = (change(values={"name": "app"}),)
    assert match(overwrites, changes=planned, repositoryName="app").uses
    assert match(overwrites, changes=planned, repositoryName="somebody-elses").objection


def test_a_strange_id_is_of_what_the_session_created_and_of_nothing_recorded() -> None:
    queue = (change("new", kind=QUEUE, values={"delay_seconds": 3}),)
    settings = row(S, confidence=Confidence.TYPE, resource_type=QUEUE)
    used = {("aws_sqs_queue.new", "create", "sqs:CreateQueue"): 1}
    assert match(settings, changes=queue, Id="q-1").objection
    assert match(settings, changes=queue, Id="q-1", used=used).uses
    assert match(settings, changes=queue, Id=f"{URL}retry", used=used).objection
    known = {"aws_sqs_queue.new": "q-1"}
    assert match(settings, changes=queue, Id="q-1", used=used, made=known).uses
    assert match(settings, changes=queue, Id="q-2", used=used, made=known).objection


@pytest.mark.parametrize(
    ("address", "declared", "used", "fits"),
    [
        ("aws_security_group.unknown", False, {}, False),
        ("other:aws_security_group.theirs", True, {}, False),
        ("other:aws_security_group.theirs", True, {("aws_security_group.new", "create", "ec2:CreateSecurityGroup"): 1}, False),
        ("aws_security_group.unknown", False, {("aws_security_group.new", "create", "ec2:CreateSecurityGroup"): 1}, True),
    ],
)  # fmt: skip
def test_an_id_of_before_the_creation_is_another_resources_also_by_a_hand_made_row(
    address: str, declared: bool, used: dict[tuple[str, str, str], int], fits: bool
) -> None:
    kind = "aws_security_group"
    effect = nouns.effect(address, "description", "d", resource_type=kind, identity={"id": "sg-9"}, declared=declared)
    planned = change("new", kind=kind, values={"description": "d"})
    asked = replace(session_call(changes=(planned,), used=used), effects=(effect,))
    assert bool(by_effects(asked).uses) is fits


KEY = "aws_kms_key"


def by_hand(
    *planned: SessionChange, values: dict[str, Any], identity: dict[str, str] | None = None, **members: Any
) -> CallMatch:
    """How a call fits of which a hand-made row knows what it gives to a resource that nobody knows."""
    kind = planned[0].resource_type
    effects = tuple(
        nouns.effect(f"{kind}.unknown", name, value, resource_type=kind, identity=identity or {}, declared=False)
        for name, value in values.items()
    )
    asked = session_call(changes=planned, used=members.pop("used", None), made=members.pop("made", None))
    return by_effects(replace(asked, effects=effects, **members))


def test_of_several_new_resources_the_one_with_the_values_of_the_call_is_meant() -> None:
    both = tuple(change(name, kind=KEY, values={"description": name}) for name in ("a", "b"))
    assert used_of(by_hand(*both, values={"description": "b"})) == [("aws_kms_key.b", "set")]
    assert "another value" in by_hand(*both, values={"description": "c"}).objection


def test_of_several_new_resources_the_one_with_the_id_that_aws_chose_is_meant() -> None:
    both = tuple(change(name, kind=KEY, values={"description": "same"}) for name in ("a", "b"))
    members: dict[str, Any] = {
        "made": {"aws_kms_key.a": "k-a", "aws_kms_key.b": "k-b"},
        "used": {(f"aws_kms_key.{name}", "create", "kms:CreateKey"): 1 for name in ("a", "b")},
    }
    found = by_hand(*both, values={"description": "same"}, identity={"zone_id": "k-b"}, **members)
    assert used_of(found) == [("aws_kms_key.b", "set")]
    assert by_hand(*both, values={"description": "other"}, identity={"zone_id": "k-b"}, **members).objection


TAGGED = nouns.effect("aws_ecs_cluster.app", "tags.team", "shop", resource_type="aws_ecs_cluster", declared=True)
TAG = change("team", kind="aws_ecs_tag", values={"key": "team", "value": "shop"}, free=frozenset({"resource_arn"}))
OF_TAGS = row(
    C,
    S,
    resource_type="aws_ecs_tag",
    confidence=Confidence.ATTRIBUTES,
    identity={"resourceArn": source("resource_arn"), "tags.key": source("key")},
    attributes={"tags.value": source("value")},
)


def test_a_tag_of_a_planned_resource_may_be_a_resource_of_its_own() -> None:
    cluster = change(kind="aws_ecs_cluster", values={"name": "app"})
    pair: dict[str, Any] = {
        "resourceArn": "arn:aws:ecs:us-east-1:123456789012:cluster/app",
        "tags": [{"key": "team", "value": "shop"}],
    }
    asked = replace(session_call(OF_TAGS, changes=(cluster, TAG), **pair), effects=(TAGGED,))
    assert used_of(match_of(asked)) == [("aws_ecs_tag.team", "create")]
    other = replace(TAG, values={"key": "team", "value": "other"})
    assert match_of(replace(asked, session=replace(asked.session, changes=(cluster, other)))).objection
    weak = replace(OF_TAGS, confidence=Confidence.TYPE)
    assert match_of(replace(asked, rows=(weak,))).objection
    named = replace(TAGGED, attribute="name", value="other")
    assert match_of(replace(asked, effects=(named,))).objection


def test_what_has_no_more_changes_of_one_type_may_be_planned_as_another() -> None:
    kind = "aws_iam_user_policy_attachment"
    one = change("a", kind=kind, values={"user": "u"}, free=frozenset({"policy_arn"}))
    every = change("b", kind="aws_iam_policy_attachment", values={"policy_arn": "p", "users": ["u"]})
    made = nouns.effect(
        f"{kind}.unknown", WHOLE, None, resource_type=kind, identity={"user": "u", "policy_arn": "p"}, declared=False,
        action=C,
    )  # fmt: skip
    used = {(f"{kind}.a", "create", "ecr:CreateRepository"): 1}
    attaches = row(
        S,
        resource_type="aws_iam_policy_attachment",
        confidence=Confidence.ATTRIBUTES,
        identity={"PolicyArn": source("policy_arn")},
        attributes={"UserName": source("users")},
    )
    asked = session_call(attaches, changes=(one, every), used=used, PolicyArn="p", UserName="u")
    asked = replace(asked, effects=(made,))
    assert used_of(match_of(asked)) == [("aws_iam_policy_attachment.b", "set")]
    assert used_of(match_of(replace(asked, rows=()))) == [("aws_iam_policy_attachment.b", "set")], "it is in its list"
    others = replace(asked, session=replace(asked.session, changes=(one, replace(every, values={"policy_arn": "p"}))))
    assert "no more such" in match_of(replace(others, rows=())).objection
    assert match_of(replace(asked, effects=(replace(made, address=f"{kind}.a"),))).objection, "it is that resource"


def test_an_empty_text_in_the_place_of_a_secret_is_none() -> None:
    planned, empty = change(kind=KEY, values={"description": "d"}), {"hmac_sha256": "0" * 64}
    given = {"description": "d", "policy": empty}
    assert by_hand(planned, values=given, empty_secret=empty).uses
    assert by_hand(planned, values=given, empty_secret={"hmac_sha256": "1" * 64}).objection
    secret = change(kind=KEY, values={"description": "d", "policy": "p"})
    assert by_hand(secret, values=given, empty_secret=empty).objection


def test_a_map_may_be_given_as_pairs() -> None:
    created = row(C, attributes={"Given": source("given")})
    planned = (change(values={"given": {"email": "a", "phone": "1"}}),)
    pairs = [{"Name": "phone", "Value": "1"}, {"Name": "email", "Value": "a"}]
    assert match(created, changes=planned, Given=pairs).uses
    assert match(created, changes=planned, Given=[*pairs, {"Name": "role", "Value": "admin"}]).objection
    assert match(created, changes=planned, Given=[pairs[0], {"Name": "email", "Value": "b"}]).objection


def test_a_call_that_says_nothing_at_all_is_explained_by_a_sure_row_only() -> None:
    updated = (change("old", PlannedAction.UPDATE, values={"state": "block"}),)
    assert match(row(S, confidence=Confidence.TYPE), changes=updated).objection
    assert match(row(S, confidence=Confidence.ATTRIBUTES), changes=updated).uses


@pytest.mark.parametrize(
    ("members", "rules"),
    [
        ({"call_class": CallClass.EXECUTE}, PlanRules()),
        ({"call_class": CallClass.SECRET}, PlanRules()),
        ({"service": "iam"}, PlanRules(exact_services=frozenset({"iam"}))),
    ],
)
def test_identity_and_code_need_a_row_that_knows_everything(members: dict[str, Any], rules: PlanRules) -> None:
    known = {"name": source("name")}
    planned = (change(values={"name": "app"}),)
    weak = row(C, attributes=known)
    assert "knows all of its attributes" in match(weak, changes=planned, rules=rules, name="app", **members).objection
    sure = replace(weak, confidence=Confidence.ATTRIBUTES)
    assert match(sure, changes=planned, rules=rules, name="app", **members).uses
    assert match(sure, changes=planned, rules=rules, name="app", more="x", **members).objection


def test_a_change_is_recorded_as_one_of_its_planned_attributes() -> None:
    updated = (change("old", PlannedAction.UPDATE, values={"image_tag_mutability": "IMMUTABLE"}),)
    found = match(row(S), changes=updated)
    assert [(each.attribute, each.action.value) for each in found.effects] == [("image_tag_mutability", "invoke")]
    assert found.row == "traced resource"


def test_a_part_is_made_with_the_planned_resource_that_holds_it() -> None:
    """A route of a new route table, which no state records yet."""
    kind, block = "aws_route_table", {"cidr_block": "10.1.0.0/16", "gateway_id": "igw-1", "ipv6_cidr_block": ""}
    table = change("new", kind=kind, values={"vpc_id": "vpc-1", "route": [block]})

    def found(made: str = "rtb-1", planned: SessionChange = table, **said: str) -> CallMatch:
        route = {"route_table_id": "rtb-1", "destination_cidr_block": "10.1.0.0/16"}
        effects = tuple(
            nouns.effect(
                "aws_route.x", name, value, resource_type="aws_route", identity=route, declared=False, action=C
            )
            for name, value in ({WHOLE: None, **route, "gateway_id": "igw-1"} | said).items()
        )
        asked = session_call(changes=(planned,), made={f"{kind}.new": made} if made else None)
        return match_of(replace(asked, effects=effects))

    assert used_of(found()) == [(f"{kind}.new", "set")]
    assert used_of(found(planned=replace(table, values={"vpc_id": "vpc-1"}, free=frozenset({"route"})))), "told later"
    assert found(gateway_id="igw-2").objection
    assert found(made="rtb-2").objection, "another table's"
    assert found(made="").objection
    assert found(transit_gateway_id="tgw-1").objection, "more than the plan has"
    assert found(planned=replace(table, values={"vpc_id": "vpc-1"})).objection, "a table without routes"


def test_what_the_provider_sends_where_the_code_says_nothing() -> None:
    kind, cpu = "aws_instance", "credit_specification.cpu_credits"
    planned = change(kind=kind, values={"instance_type": "t3.micro"})
    assert by_hand(planned, values={cpu: "unlimited"}).uses
    assert by_hand(planned, values={cpu: "other"}).objection
    assert by_hand(replace(planned, values={cpu: "standard"}), values={cpu: "unlimited"}).objection


def test_an_instance_stops_for_what_is_changed_while_it_is_stopped_only() -> None:
    kind = "aws_launch_template"  # recorded in the example's state
    address = f"{kind}.kafka_consumer"
    stops = nouns.effect(address, WHOLE, None, resource_type=kind, action=EffectAction.INVOKE)

    def found(*operations: str, force: bool = False, **values: Any) -> CallMatch:
        planned = change("kafka_consumer", PlannedAction.UPDATE, kind, values=values)
        asked = replace(session_call(changes=(planned,), Force=force), effects=(stops,))
        with pytest.MonkeyPatch.context() as patch:
            of_it = (frozenset(operations), frozenset({"instance_type"}))
            patch.setattr("gateway.plans.call_match.CHANGED_WHILE_STOPPED", {kind: of_it})
            return match_of(asked)

    assert used_of(found("ecr:CreateRepository", instance_type="m5.large")) == [(address, "set")]
    assert found("ecr:CreateRepository", description="d").objection
    assert found("ecr:CreateRepository", instance_type="m5.large", force=True).objection
    assert found("ecr:Stop", instance_type="m5.large").objection


def test_what_is_in_a_deleted_resource_goes_before_it_but_not_out_of_a_store() -> None:
    kind = "aws_launch_template"
    address = f"{kind}.kafka_consumer"
    version = nouns.effect(address, WHOLE, None, resource_type=kind, action=EffectAction.INVOKE)

    def found(operation: str, action: PlannedAction, rules: PlanRules | None = None) -> CallMatch:
        asked = session_call(changes=(change("kafka_consumer", action, kind),), rules=rules)
        return match_of(replace(asked, call=replace(asked.call, operation=operation), effects=(version,)))

    assert used_of(found("DeletePolicyVersion", PlannedAction.DELETE)) == [(address, "set")]
    assert found("DeletePolicyVersion", PlannedAction.UPDATE).objection
    assert found("SetDefaultPolicyVersion", PlannedAction.DELETE).objection
    assert found("DeleteObject", PlannedAction.DELETE, PlanRules(stores=frozenset({kind}))).objection


def test_the_old_value_is_taken_out_before_the_planned_one_is_set() -> None:
    kind, name = "aws_launch_template", "name"
    recorded = (session_call().stack.recorded(f"{kind}.kafka_consumer") or {})[name]
    planned = change("kafka_consumer", PlannedAction.UPDATE, kind, values={name: "next"})
    effect = nouns.effect(f"{kind}.kafka_consumer", name, None, resource_type=kind)
    assert by_effects(replace(session_call(changes=(planned,), Old=recorded), effects=(effect,))).uses
    assert by_effects(replace(session_call(changes=(planned,), Old="other"), effects=(effect,))).objection
    kept = replace(planned, values={"description": "d"})
    assert by_effects(replace(session_call(changes=(kept,), Old=recorded), effects=(effect,))).objection


def test_what_nobody_says_is_what_aws_sets() -> None:
    period = "rotation_period_in_days"
    planned = change(kind=KEY, values={"description": "d"})
    usual: dict[str, Any] = {"defaults": {period: 365}}
    assert by_hand(planned, values={"description": "d", period: 365}, **usual).uses
    assert by_hand(planned, values={period: 90}, **usual).objection
    assert by_hand(planned, values={period: 365}).objection
    guarded = PlanRules(guarded=frozenset({period}))
    assert by_hand(planned, values={period: 365}, rules=guarded, **usual).objection
    said = replace(planned, values={period: 90})
    assert by_hand(said, values={period: 365}, **usual).objection


def test_of_identity_what_goes_with_a_deleted_resource_needs_no_attributes() -> None:
    kind, name = "aws_launch_template", "kafka_consumer"
    exact = PlanRules(exact_services=frozenset({"ecr"}))
    recorded = session_call().stack.recorded(f"{kind}.{name}") or {}
    goes = row(S, resource_type=kind, identity={"Name": source("name")})

    def found(action: PlannedAction, known: DerivedRow = goes, operation: str = "DeleteLoginProfile") -> CallMatch:
        asked = session_call(known, changes=(change(name, action, kind),), rules=exact, Name=recorded["name"])
        return by_rows(replace(asked, call=replace(asked.call, operation=operation)))

    assert used_of(found(PlannedAction.DELETE)) == [(f"{kind}.{name}", "set")]
    assert found(PlannedAction.UPDATE).objection
    assert found(PlannedAction.DELETE, operation="DisableTrustAnchor").objection
    assert found(PlannedAction.DELETE, replace(goes, unexplained=frozenset({"KeyId"}))).objection


def test_a_row_holds_for_the_other_types_of_the_same_resource() -> None:
    takes = row(D, resource_type="aws_launch_template")
    with pytest.MonkeyPatch.context() as patch:
        twins = {"aws_launch_template": (Twin(resource_type=REPOSITORY), Twin(resource_type="aws_default_template"))}
        patch.setattr("gateway.plans.row_match.TWINS", twins)
        assert used_of(match(takes, changes=(change("old", PlannedAction.DELETE),))) == [(OLD, "delete")]
        adopted = change("old", PlannedAction.DELETE, "aws_default_template")
        assert match(takes, changes=(adopted,)).objection


def test_a_call_gives_some_of_the_planned_blocks_each_as_a_whole() -> None:
    """Listeners of a classic load balancer are added one by one."""
    blocks = [{"port": 80, "to": 8080}, {"port": 443, "to": 8443}]
    planned = change(values={"listener": blocks})
    adds = row(C, attributes={"Listeners.Port": source("listener.port"), "Listeners.To": source("listener.to")})
    assert match(adds, changes=(planned,), Listeners=[{"Port": 443, "To": 8443}]).uses
    assert match(adds, changes=(planned,), Listeners=[{"Port": 443, "To": 8443}, {"Port": 80, "To": 8080}]).uses
    assert match(adds, changes=(planned,), Listeners=[{"Port": 443, "To": 8080}]).objection, "halves of two blocks"
    assert match(adds, changes=(planned,), Listeners=[{"Port": 22, "To": 22}]).objection


def test_tags_of_what_an_arn_names_need_no_row_of_the_type() -> None:
    arn = "arn:aws:ecr:us-east-1:123456789012:repository/app"
    tagging = row(
        S,
        resource_type="aws_ecr_other",
        confidence=Confidence.ATTRIBUTES,
        identity={"ResourceName": source("arn")},
        attributes={"Tags": source("tags")},
    )
    planned = change(values={"arn": arn, "tags": {"team": "shop"}})

    def tagged(name: str = arn, team: str = "shop", known: DerivedRow = tagging) -> CallMatch:
        return match(known, changes=(planned,), ResourceName=name, Tags=[{"Key": "team", "Value": team}])

    assert used_of(tagged()) == [("aws_ecr_repository.app", "set")]
    assert tagged(team="other").objection
    assert tagged(name=f"{arn}2").objection
    more = replace(tagging, attributes={**tagging.attributes, "Policy": source("policy")})
    assert tagged(known=more).objection, "it does more than tag"
    assert tagged(known=replace(tagging, confidence=Confidence.TYPE)).objection


def test_user_data_is_what_the_plan_has_the_digest_of() -> None:
    kind, content = "aws_instance", b"#!/bin/sh\necho second\n"
    digest = hashlib.sha1(content, usedforsecurity=False).hexdigest()
    planned = change(kind=kind, values={"user_data": digest})
    effect = nouns.effect(f"{kind}.app", "user_data_base64", "masked", resource_type=kind, declared=False, action=C)

    def given(user_data: object, **values: Any) -> CallMatch:
        one = replace(planned, values=values) if values else planned
        return by_effects(replace(session_call(changes=(one,), UserData=user_data), effects=(effect,)))

    assert given(base64.b64encode(content).decode()).uses
    assert given({"Value": content}).uses
    assert given({"Value": b"#!/bin/sh\ncurl evil\n"}).objection
    assert given({"Value": content}, instance_type="t3.micro").objection
    planned = change(kind=kind, values={"instance_type": "t3.micro"}, free=frozenset({"user_data"}))
    assert given({"Value": content}, instance_type="t3.micro").uses, (
        "the plan masks the digest, so the value is judged when it is sent"
    )


def test_the_body_of_an_upload_is_the_planned_content_although_the_row_does_not_name_it() -> None:
    content = b"second"
    puts = row(C, S, identity={"Bucket": source("bucket"), "Key": source("key")})
    planned = (change("old", PlannedAction.UPDATE, values={"bucket": "b", "key": "k", "content": content.decode()}),)

    def put(body: bytes, **more: object) -> CallMatch:
        head = {"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
        return match(puts, changes=planned, Bucket="b", Key="k", Body=head, **more)

    assert put(content).uses
    assert put(b"another").objection
    assert put(content, WebsiteRedirectLocation="https://elsewhere.example").objection, "Terraform never sends it"


def test_all_versions_of_an_object_go_with_it() -> None:
    deletes = row(D, identity={"Bucket": source("bucket"), "Key": source("key"), "VersionId": source("version_id")})
    planned = (change("old", PlannedAction.DELETE, values={"bucket": "b", "key": "k", "version_id": "v2"}),)
    assert match(deletes, changes=planned, Bucket="b", Key="k", VersionId="null").uses
    assert match(deletes, changes=planned, Bucket="b", Key="other", VersionId="null").objection
    own = row(D, identity={"VersionId": source("version_id")})
    assert match(own, changes=planned, VersionId="null").objection, "a version that is a resource of its own"


def test_a_secret_that_the_provider_makes_is_in_no_plan() -> None:
    kind = "aws_iam_user_login_profile"
    makes = row(
        C,
        confidence=Confidence.ATTRIBUTES,
        resource_type=kind,
        identity={"UserName": source("user")},
        attributes={"Password": source("password"), "PasswordResetRequired": source("password_reset_required")},
    )
    planned = change(kind=kind, values={"user": "ada", "password_reset_required": True})

    def found(one: SessionChange = planned, **parameters: Any) -> CallMatch:
        asked = session_call(makes, changes=(one,), UserName="ada", **parameters)
        return by_rows(replace(asked, schemas=known_schemas({kind})))

    assert found(Password="generated", PasswordResetRequired=True).uses
    assert found(Password="generated", PasswordResetRequired=False).objection, "the code says that"
    told = replace(planned, values={**planned.values, "password": "another"})
    assert found(told, Password="generated").objection
    made = row(C, confidence=Confidence.ATTRIBUTES, attributes={"Password": source("password")})
    assert match(made, changes=(change(values={"user": "ops"}),), Password="x").objection, "nobody knows the type"


def test_a_secret_of_the_plan_may_have_a_longer_name_in_the_call() -> None:
    made = row(C, confidence=Confidence.RESOURCE)
    planned = change(values={"name": "app"}, free=frozenset({"master_password"}))
    assert match(made, changes=(planned,), MasterUserPassword="s").uses
    assert match(made, changes=(planned,), OtherPassword="s").objection
    assert match(made, changes=(planned,), MasterUserPolicy="s").objection
    assert match(made, changes=(replace(planned, free=frozenset()),), MasterUserPassword="s").objection


def test_a_call_gives_the_entries_of_a_map_that_change() -> None:
    sets = row(C, attributes={"UserAttributes": source("attributes")})
    planned = change(values={"attributes": {"email": "b@example.com", "name": "Ada"}})

    def given(**entries: str) -> CallMatch:
        pairs = [{"Name": name, "Value": value} for name, value in entries.items()]
        return match(sets, changes=(planned,), UserAttributes=pairs)

    assert given(email="b@example.com").uses
    assert given(email="b@example.com", name="Ada").uses
    assert given(email="c@example.com").objection
    assert given(email="b@example.com", role="admin").objection


@pytest.mark.parametrize(
    ("kind", "made", "is_early"),
    [
        ("aws_network_acl", {}, True),
        ("aws_network_acl", {"aws_network_acl.twin": "acl-1"}, False),
        ("aws_network_acl", {"aws_network_acl.twin": "acl-2"}, True),
        ("aws_network_acl", {"aws_vpc.main": "acl-1"}, True),
        ("aws_iam_role_policy_attachments_exclusive", {}, False),
    ],
)
def test_what_a_session_made_may_be_set_whichever_twin_it_is_recorded_at(
    kind: str, made: dict[str, str], *, is_early: bool
) -> None:
    planned = (change("inline", kind=kind), change("twin", kind=kind), change("main", kind="aws_vpc"))
    asked = session_call(changes=planned, made=made, NetworkAclId="acl-1", RuleNumber=32767)
    uses = [PlanUse(address=f"{kind}.inline", action="set", most=1)]
    assert bool(asked.not_there(uses)) is is_early


def test_a_call_that_creates_a_membership_is_never_too_early_for_it() -> None:
    kind = "aws_iam_group_membership"
    uses = [PlanUse(address=f"{kind}.seed", action="set", most=1)]
    adds = row(C, S, confidence=Confidence.ATTRIBUTES, resource_type=kind)
    other = replace(adds, resource_type="aws_iam_user_group_membership")
    assert not session_call(adds, changes=(change("seed", kind=kind),), made={}).not_there(uses)
    assert session_call(other, changes=(change("seed", kind=kind),), made={}).not_there(uses)


def test_a_call_that_sets_what_nothing_created_yet_may_be_of_what_the_plan_adopts() -> None:
    """Terraform takes the entries out of the ACL that AWS made with a VPC, while others of the plan are not created yet."""
    kind, adopted = "aws_network_acl", "aws_default_network_acl"
    takes_out = row(
        S,
        service="ec2",
        operation="DeleteNetworkAclEntry",
        resource_type=kind,
        identity={"NetworkAclId": source("id")},
        unexplained=("Egress", "RuleNumber"),
    )
    own = change("own", kind=kind, free=frozenset({"id"}))
    default = change("seed", kind=adopted, free=frozenset({"id"}))

    def found(*changes: SessionChange) -> CallMatch:
        used = {("aws_vpc.main", C.value, "ec2:CreateVpc"): 1}  # whose ACL has an id that nobody knows
        named: dict[str, Any] = {"NetworkAclId": "acl-1", "RuleNumber": 100, "Egress": True}
        return match_of_present(session_call(takes_out, changes=changes, used=used, service="ec2", **named))

    assert used_of(found(own, default)) == [(f"{adopted}.seed", "set")]
    assert "no call of its session has" in found(own).objection
    deletes = replace(takes_out, actions=frozenset({D}))
    gone = replace(default, action=PlannedAction.DELETE)
    assert match(deletes, changes=(gone,), NetworkAclId="acl-1").objection, "no call deletes what AWS made"
