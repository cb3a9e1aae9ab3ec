"""The check `bounds`: who may set what, within which limits, and with which reason anything else is refused."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.model.contract import AgentGrant, Bound, Contract
from gateway.core.model.facts import Dependant, Facts, Subject
from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, CallClass, Effect, EffectAction
from gateway.core.model.path import WHOLE
from gateway.core.model.verdict import Finding, Mode, Verdict
from gateway.core.settings import StackSettings
from gateway.line.checks.bounds import BoundsCheck
from gateway.terraform.stacks import Stacks
from tests.kit import nouns
from tests.kit.growth import assert_linear

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GROUP = "aws_autoscaling_group.kafka"
SET, CREATE, DELETE, INVOKE = EffectAction.SET, EffectAction.CREATE, EffectAction.DELETE, EffectAction.INVOKE


def bound(
    name: str, limit: Json, attribute: str = "desired_capacity", *, unknown: str = "", message: str = ""
) -> Bound:
    return Bound(
        attribute=attribute, name=name, limit=limit, source="kafka.sentinel.hcl:9", unknown=unknown, message=message
    )


def law(*bounds: Bound, managed: bool = True, mutable: tuple[str, ...] = (), immutable: tuple[str, ...] = (), prevent_delete: bool = False, grants: tuple[AgentGrant, ...] = ()) -> Contract:  # fmt: skip
    return Contract(
        managed_by_agent=managed,
        mutable=mutable,
        immutable=immutable,
        bounded=tuple(dict.fromkeys(each.attribute for each in bounds if each.attribute)),
        prevent_delete=prevent_delete,
        grants=grants,
        source="kafka.sentinel.hcl:5",
        evaluate=lambda _after, _before: bounds,
    )


def grant(*invoke: str, delete: bool = False, line: int = 5) -> AgentGrant:
    return AgentGrant(source=f"kafka.sentinel.hcl:{line}", allow_delete=delete, allow_invoke=frozenset(invoke))


DELETES = (grant(delete=True),)
INVOKES = (grant("SetDesiredCapacity"),)
OTHERS = (grant("ExecutePolicy", "sqs:SetDesiredCapacity", "setdesiredcapacity", delete=True),)


def subject(
    value: Json = 6,
    *,
    attribute: str = "desired_capacity",
    action: EffectAction = SET,
    before: Json = 4,
    contract: Contract | None = None,
    declared: bool = True,
    in_code: Json = None,
    exists: bool = True,
    after: Mapping[str, Json] | None = None,
    dependants: tuple[Dependant, ...] = (),
) -> Subject:
    whole = {attribute: value} if after is None else after
    return nouns.subject(
        nouns.effect(GROUP, attribute, value, action=action, declared=declared),
        before,
        in_code,
        attributes_before={attribute: before},
        attributes_after=whole,
        contract=contract or law(bound("min", 2), bound("max", 16), bound("max_step", 4)),
        dependants=dependants,
        exists=exists,
    )


async def findings(*subjects: Subject, kind: ActorKind = ActorKind.AGENT, effects: Sequence[Effect] | None = None) -> tuple[Finding, ...]:  # fmt: skip
    mutation = nouns.mutation(
        *(tuple(each.effect for each in subjects) if effects is None else tuple(effects)),
        caller=nouns.caller("someone", kind),
        call=Call(service="autoscaling", operation="SetDesiredCapacity"),
    )
    facts = Facts(now=NOW, stack="kafka", mode=Mode.ENFORCE, subjects=subjects)
    return (await BoundsCheck().examine(mutation, facts)).findings


async def one(*subjects: Subject, kind: ActorKind = ActorKind.AGENT) -> Finding:
    (finding,) = await findings(*subjects, kind=kind)
    return finding


ALLOWED: dict[str, tuple[Subject, ActorKind]] = {
    "an agent within the bounds": (subject(6), ActorKind.AGENT),
    "an agent on what is mutable": (subject("x", attribute="tags.owner", before="y", contract=law(mutable=("tags",))), ActorKind.AGENT),
    "an agent that changes nothing": (subject(4, contract=law(bound("max", 3))), ActorKind.AGENT),
    "a human that changes nothing": (subject(4, contract=law(bound("max", 3), immutable=("desired_capacity",))), ActorKind.HUMAN),
    "an agent that invokes what is granted": (subject(None, attribute=WHOLE, action=INVOKE, contract=law(grants=INVOKES)), ActorKind.AGENT),
    "an agent that invokes what is granted by service": (subject(None, attribute=WHOLE, action=INVOKE, contract=law(grants=(grant("autoscaling:SetDesiredCapacity"),))), ActorKind.AGENT),
    "an agent that deletes what is granted": (subject(None, attribute=WHOLE, action=DELETE, contract=law(grants=DELETES)), ActorKind.AGENT),
    "an agent that deletes what every block grants": (subject(None, attribute=WHOLE, action=DELETE, contract=law(grants=(*DELETES, grant(delete=True, line=9)))), ActorKind.AGENT),
    "a human that invokes": (subject(None, attribute=WHOLE, action=INVOKE), ActorKind.HUMAN),
    "a pipeline that deletes": (subject(None, attribute=WHOLE, action=DELETE), ActorKind.PIPELINE),
    "an agent that creates what it manages": (subject(None, attribute=WHOLE, action=CREATE, after={"desired_capacity": 5}, exists=False), ActorKind.AGENT),
    "an agent that creates as declared": (subject("n", attribute="name", action=CREATE, in_code="n", exists=False, before=None), ActorKind.AGENT),
    "a human without a contract": (subject(600, contract=Contract()), ActorKind.HUMAN),
    "a human on what nothing declares": (subject(6, declared=False, contract=Contract()), ActorKind.HUMAN),
    "a pipeline that creates": (subject(5, action=CREATE, before=None, exists=False), ActorKind.PIPELINE),
    "a pipeline that creates without the attribute": (subject(None, attribute=WHOLE, action=CREATE, after={"name": "n"}, exists=False), ActorKind.PIPELINE),
    "a bound on another attribute": (subject(9, attribute="cooldown", contract=law(bound("max", 16), mutable=("cooldown",))), ActorKind.AGENT),
    "a condition that holds": (subject(6, contract=law(bound("max", 16), bound("condition", True, ""))), ActorKind.AGENT),
    "delete with a false condition": (subject(None, attribute=WHOLE, action=DELETE, contract=law(bound("condition", False, ""), grants=DELETES)), ActorKind.AGENT),
}  # fmt: skip


@pytest.mark.parametrize(("subject_", "kind"), ALLOWED.values(), ids=ALLOWED.keys())
async def test_what_the_contract_allows_passes(subject_: Subject, kind: ActorKind) -> None:
    finding = await one(subject_, kind=kind)

    assert (finding.verdict, finding.rule) == (Verdict.ALLOW, "bounds.passed")


EVERYONE = tuple(ActorKind)
AGENT = (ActorKind.AGENT,)
REFUSED: dict[str, tuple[Subject, tuple[ActorKind, ...], str, str]] = {
    "moving what is immutable": (subject(None, action=INVOKE, contract=law(immutable=("desired_capacity",), mutable=("desired_capacity",), grants=INVOKES)), EVERYONE, "immutable", "is immutable"),
    "moving what nobody named": (subject(None, attribute="launch_template", action=INVOKE, contract=law(grants=INVOKES)), AGENT, "not_mutable", "launch_template"),
    "restating the skeleton": (subject(4, contract=Contract()), AGENT, "immutable_skeleton", "no contract names it"),
    "restating what nobody named": (subject(4, attribute="max_size"), AGENT, "not_mutable", "neither bounds it"),
    "no contract": (subject(6, contract=Contract()), AGENT, "immutable_skeleton", "no contract names it"),
    "a contract without managed_by_agent": (subject(6, contract=law(managed=False)), AGENT, "immutable_skeleton", 'resource "aws_autoscaling_group" "kafka" { managed_by_agent = true'),
    "delete of the skeleton": (subject(None, attribute=WHOLE, action=DELETE, contract=Contract()), AGENT, "immutable_skeleton", "no contract"),
    "create of the skeleton": (subject(None, attribute=WHOLE, action=CREATE, contract=Contract(), exists=False), AGENT, "immutable_skeleton", "no contract"),
    "invoke of the skeleton": (subject(None, attribute=WHOLE, action=INVOKE, contract=Contract()), AGENT, "immutable_skeleton", "no contract"),
    "delete where no block says so": (subject(None, attribute=WHOLE, action=DELETE), AGENT, "delete_not_allowed", f"Agents may not delete {GROUP}: the block at kafka.sentinel.hcl:5 does not say so. Its owners would have to add `allow_delete = true` there"),
    "delete where one of two blocks says so": (subject(None, attribute=WHOLE, action=DELETE, contract=law(grants=(*DELETES, grant(line=9)))), AGENT, "delete_not_allowed", "the block at kafka.sentinel.hcl:9 does not say so"),
    "delete where only invoking is granted": (subject(None, attribute=WHOLE, action=DELETE, contract=law(grants=INVOKES)), AGENT, "delete_not_allowed", "may not delete"),
    "delete of one attribute": (subject(None, action=DELETE, contract=law(mutable=("desired_capacity",))), AGENT, "delete_not_allowed", "may not delete"),
    "invoke where no block says so": (subject(None, attribute=WHOLE, action=INVOKE), AGENT, "invoke_not_allowed", f'Agents may not invoke autoscaling:SetDesiredCapacity on {GROUP}: the block at kafka.sentinel.hcl:5 does not say so. Its owners would have to add `allow_invoke = ["SetDesiredCapacity"]` there'),
    "invoke where other operations are granted": (subject(None, attribute=WHOLE, action=INVOKE, contract=law(grants=OTHERS)), AGENT, "invoke_not_allowed", "may not invoke"),
    "invoke where neither of two blocks says so": (subject(None, attribute=WHOLE, action=INVOKE, contract=law(grants=(grant(), grant(line=9)))), AGENT, "invoke_not_allowed", "the blocks at kafka.sentinel.hcl:5, kafka.sentinel.hcl:9 do not say so"),
    "invoke where two blocks grant different operations": (subject(None, attribute=WHOLE, action=INVOKE, contract=law(grants=(*INVOKES, *OTHERS))), AGENT, "invoke_not_allowed", "may not invoke"),
    "moving what is mutable without the operation": (subject(None, action=INVOKE, contract=law(mutable=("desired_capacity",))), AGENT, "invoke_not_allowed", "may not invoke"),
    "an attribute nobody named": (subject(9, attribute="max_size"), AGENT, "not_mutable", "neither bounds it nor lists it in `mutable`. Agents may set desired_capacity."),
    "more than what is bounded": (subject({"owner": 1}, attribute="tags", contract=law(mutable=("tags.owner",))), AGENT, "not_mutable", "tags"),
    "an attribute that only begins alike": (subject(1, attribute="tags_all", contract=law(mutable=("tags",))), AGENT, "not_mutable", "tags_all"),
    "create otherwise than declared": (subject("m", attribute="name", action=CREATE, in_code="n", exists=False, before=None), AGENT, "not_mutable", "name"),
    "set of what nothing declares": (subject(6, declared=False), AGENT, "undeclared", "No Terraform code declares"),
    "delete of what nothing declares": (subject(None, attribute=WHOLE, action=DELETE, declared=False), AGENT, "undeclared", "No Terraform code"),
    "create of what nothing declares": (subject(None, attribute=WHOLE, action=CREATE, declared=False), AGENT, "undeclared_create", "may not create"),
    "immutable": (subject("x", attribute="name", before="y", contract=law(immutable=("name",), mutable=("name",))), EVERYONE, "immutable", "is immutable (kafka.sentinel.hcl:5)"),
    "a part of what is immutable": (subject("x", attribute="tags.owner", before="y", contract=law(immutable=("tags",), mutable=("tags",))), EVERYONE, "immutable", "tags.owner"),
    "what holds something immutable": (subject({}, attribute="tags", contract=law(immutable=("tags.owner",), mutable=("tags",))), EVERYONE, "immutable", "tags"),
    "prevent_delete": (subject(None, attribute=WHOLE, action=DELETE, contract=law(prevent_delete=True)), EVERYONE, "prevent_delete", "(kafka.sentinel.hcl:5) says prevent_delete. Nothing was sent."),
    "over max": (subject(20, contract=law(bound("max", 16))), EVERYONE, "max", "desired_capacity = 20 is over max = 16 (kafka.sentinel.hcl:9); the nearest legal value is 16."),
    "under min": (subject(0, contract=law(bound("min", 2))), EVERYONE, "min", "desired_capacity = 0 is under min = 2 (kafka.sentinel.hcl:9); the nearest legal value is 2."),
    "a flag for a number": (subject(True, contract=law(bound("max", 16))), EVERYONE, "max", "desired_capacity = true cannot be judged by max"),
    "not in the list": (subject(20, contract=law(bound("one_of", [7, 14, 30]))), EVERYONE, "one_of", "the nearest legal value is 14."),
    "the world": (subject([{"cidr_blocks": ["0.0.0.0/0"]}], attribute="ingress", contract=law(bound("forbid_world", True, "ingress"))), EVERYONE, "forbid_world", "ingress is open to the whole Internet"),
    "a limit that is not known": (subject(6, contract=law(bound("max", None, unknown="var.x has no value in the code"))), EVERYONE, "max", "cannot be judged, because max cannot be evaluated: var.x has no value in the code (kafka.sentinel.hcl:9)."),
    "a bound on what holds it": (subject("x", attribute="tags.owner", before="y", after={"tags": {"owner": "x", "b": 1}}, contract=law(bound("max_items", 1, "tags"))), EVERYONE, "max_items", "tags has 2 items"),
    "a bound on what it holds": (subject({"owner": "x"}, attribute="tags", before={}, contract=law(bound("one_of", ["a"], "tags.owner"), mutable=("tags",))), EVERYONE, "one_of", 'tags.owner = "x" is not one of ["a"]'),
    "what it holds is taken away": (subject({}, attribute="tags", before={"owner": "a"}, contract=law(bound("one_of", ["a"], "tags.owner"), mutable=("tags",))), EVERYONE, "one_of", "tags.owner is not one of"),
    "a condition": (subject(6, contract=law(bound("max", 16), bound("condition", False, "", message="RFC-12 ends at 32."))), EVERYONE, "condition", "RFC-12 ends at 32. (kafka.sentinel.hcl:9)"),
    "a condition that is not known": (subject(6, contract=law(bound("max", 16), bound("condition", None, "", unknown="data.x is not known"))), EVERYONE, "condition", "data.x is not known"),
    "a secret under a bound": (subject({"hmac_sha256": "0" * 64}, attribute="password", before=None, contract=law(bound("matches", ".*", "password"))), EVERYONE, "matches", "password does not match"),
    "a new thing over max": (subject(99, action=CREATE, before=None, exists=False, contract=law(bound("max", 16))), EVERYONE, "max", "over max = 16"),
}  # fmt: skip


@pytest.mark.parametrize(("subject_", "kinds", "rule", "words"), REFUSED.values(), ids=REFUSED.keys())
async def test_what_the_contract_forbids_is_refused_with_a_reason(
    subject_: Subject, kinds: tuple[ActorKind, ...], rule: str, words: str
) -> None:
    for kind in ActorKind:
        finding = await one(subject_, kind=kind)
        if kind in kinds:
            assert (finding.verdict, finding.rule) == (Verdict.DENY, f"bounds.{rule}")
            assert words in finding.reason
            assert finding.reason.endswith(".")
            assert finding.address == GROUP
        else:
            assert finding.verdict is Verdict.ALLOW


async def test_every_broken_bound_is_reported_with_a_value_that_all_allow() -> None:
    told = await findings(subject(20))

    assert [finding.rule for finding in told] == ["bounds.max", "bounds.max_step"]
    assert [finding.offer.nearest for finding in told if finding.offer] == [8, 8]
    assert told[0].source == "kafka.sentinel.hcl:9"
    assert told[0].attribute == "desired_capacity"


@pytest.mark.parametrize("kind", EVERYONE)
async def test_setting_a_bounded_attribute_to_an_unknown_value_is_held(kind: ActorKind) -> None:
    bounded, mutable = law(bound("max", 16), grants=INVOKES), law(mutable=("desired_capacity",), grants=INVOKES)
    finding = await one(subject(None, action=INVOKE, contract=bounded), kind=kind)

    assert (finding.verdict, finding.rule) == (Verdict.HOLD, "bounds.unforeseeable")
    assert (await one(subject(None, action=INVOKE, contract=mutable), kind=kind)).verdict is Verdict.ALLOW


async def test_a_bounded_secret_that_a_plan_does_not_tell_is_held_and_not_called_illegal() -> None:
    planned = subject({"hmac_sha256": "0" * 64}, contract=law(bound("one_of", ["debug", "info"])))
    told = replace(planned.effect, sensitive=True, untold=True)
    [found] = await findings(replace(planned, effect=told), kind=ActorKind.PIPELINE)
    assert (found.verdict, found.rule) == (Verdict.HOLD, "bounds.untold")
    assert "kafka.sentinel.hcl:9" in found.reason


async def test_an_agent_repeats_what_a_call_cannot_leave_out_beside_a_change() -> None:
    repeated = subject(4, attribute="max_size")
    obliged = replace(repeated, effect=replace(repeated.effect, obliged=True))

    assert (await one(subject(6), obliged)).verdict is Verdict.ALLOW
    assert (await one(obliged)).rule == "bounds.not_mutable"


async def test_an_agent_does_not_repeat_what_it_could_leave_out() -> None:
    finding = await one(subject(6), subject(4, attribute="max_size"))

    assert (finding.rule, finding.attribute) == ("bounds.not_mutable", "max_size")
    assert "Leave it out of the call" in finding.reason
    assert "Leave it out" not in (await one(subject(6, attribute="max_size"))).reason


async def test_what_aws_switches_off_at_a_creation_needs_no_grant() -> None:
    omitted = subject(False, attribute="block", action=CREATE, before=None, exists=False)
    implied = replace(omitted, effect=replace(omitted.effect, implied=True))

    assert (await one(implied)).verdict is Verdict.ALLOW
    assert (await one(omitted)).rule == "bounds.not_mutable"


async def test_bounds_without_a_legal_value_offer_none() -> None:
    told = await findings(subject(3, contract=law(bound("min", 10), bound("max_step", 4)), before=4))

    assert [finding.offer.nearest for finding in told if finding.offer] == [None]
    assert "nearest" not in told[0].reason


async def test_a_prevented_deletion_names_the_dependants() -> None:
    dependants = tuple(Dependant(address=f"aws_x.d{at}", direct=True) for at in range(7))

    finding = await one(
        subject(None, attribute=WHOLE, action=DELETE, contract=law(prevent_delete=True), dependants=dependants)
    )

    assert "What depends on it: aws_x.d0, aws_x.d1, aws_x.d2, aws_x.d3, aws_x.d4 and 2 more." in finding.reason


async def test_a_condition_is_reported_once_for_several_attributes() -> None:
    contract = law(bound("condition", False, "", message="No."), mutable=("a", "b"))

    told = await findings(subject(1, attribute="a", contract=contract), subject(1, attribute="a", contract=contract))

    assert len(told) == 1


async def test_a_call_that_is_not_understood_is_held_for_a_human() -> None:
    for kind in ActorKind:
        finding = await one(kind=kind)

        assert (finding.verdict, finding.rule) == (Verdict.HOLD, "bounds.not_understood")
        assert "autoscaling:SetDesiredCapacity" in finding.reason


async def test_a_held_call_of_the_data_plane_names_the_setting() -> None:
    mutation = nouns.mutation(call=Call(service="cloudwatch", operation="PutMetricData"), call_class=CallClass.DATA)
    facts = Facts(now=NOW, stack="kafka", mode=Mode.ENFORCE, subjects=())
    (finding,) = (await BoundsCheck().examine(mutation, facts)).findings

    assert finding.verdict is Verdict.HOLD
    assert "data_plane" in finding.reason


async def test_effects_without_a_subject_are_refused() -> None:
    (finding,) = await findings(effects=[subject().effect])

    assert (finding.verdict, finding.rule) == (Verdict.DENY, "bounds.unsurveyed")


async def test_a_contract_that_raises_makes_the_check_raise() -> None:
    """The chain turns this into a denial."""

    def broken(_after: Mapping[str, Json], _before: Mapping[str, Json]) -> tuple[Bound, ...]:
        raise RuntimeError

    evaluate: Callable[[Mapping[str, Json], Mapping[str, Json]], tuple[Bound, ...]] = broken
    with pytest.raises(RuntimeError):
        await findings(subject(6, contract=Contract(managed_by_agent=True, mutable=("desired_capacity",), evaluate=evaluate)))  # fmt: skip


KAFKA = Path(__file__).parents[3] / "cases" / "stacks" / "kafka"
RULE = {"from_port": 8443, "to_port": 8443, "protocol": "tcp", "cidr_blocks": ["10.0.0.0/8"]}


@pytest.mark.parametrize(
    ("address", "attribute", "value", "expected"),
    [
        ("aws_autoscaling_group.kafka_consumer", "desired_capacity", 6, []),
        ("aws_autoscaling_group.kafka_consumer", "desired_capacity", 20, [
            "desired_capacity = 20 is over max = 16 (kafka.sentinel.hcl:10); the nearest legal value is 8.",
            "desired_capacity = 20 is more than max_step = 4 away from 4 (kafka.sentinel.hcl:11); the nearest legal value is 8.",
            "More consumers are wanted than the group may hold. (main.tf:21) Nothing was sent.",
        ]),
        ("aws_autoscaling_group.kafka_consumer", "desired_capacity", 0, [
            "desired_capacity = 0 is under min = 2 (kafka.sentinel.hcl:9); the nearest legal value is 2.",
            "A consumer group without consumers loses messages after seven days. (variables.tf:10) Nothing was sent.",
        ]),
        ("aws_autoscaling_group.kafka_consumer", "max_size", 40, [
            "max_size = 40 is over max = 16 (kafka.sentinel.hcl:15); the nearest legal value is 16.",
            "Capacity plan RFC-12 ends at 32 brokers, not 40. (kafka.sentinel.hcl:67) Nothing was sent.",
        ]),
        ("aws_security_group.kafka_consumer", "ingress", [RULE, {**RULE, "from_port": 443, "to_port": 443}], []),
        ("aws_security_group.kafka_consumer", "ingress", [RULE, {**RULE, "from_port": 22, "to_port": 22, "cidr_blocks": ["0.0.0.0/0"]}], [
            'ingress opens 0.0.0.0/0, which lies outside cidr_within = ["10.0.0.0/8"] (kafka.sentinel.hcl:33).',
            "ingress opens port 22, beyond ports = [443, 8443] (kafka.sentinel.hcl:34).",
            "ingress is open to the whole Internet, which forbid_world forbids (kafka.sentinel.hcl:35).",
        ]),
        ("module.retry.aws_sqs_queue.this", "visibility_timeout_seconds", 121, [
            "visibility_timeout_seconds = 121 is over max = 120 (modules/worker/worker.sentinel.hcl:9); the nearest legal value is 120.",
        ]),
        ("aws_launch_template.kafka_consumer", "instance_type", "m6i.4xlarge", [
            'aws_launch_template.kafka_consumer is immutable skeleton for agents: no contract names it. Its owners would have to write resource "aws_launch_template" "kafka_consumer" { managed_by_agent = true … } with the attributes\' bounds; nothing was sent.',
        ]),
    ],
)  # fmt: skip
async def test_the_case_stack_answers_an_agent(address: str, attribute: str, value: Json, expected: list[str]) -> None:
    stack = Stacks.load([StackSettings(name="kafka", path=KAFKA)], default_mode=Mode.ENFORCE).all[0]
    before = stack.recorded(address) or {}
    effect = nouns.effect(address, attribute, value)

    told = await findings(
        nouns.subject(
            effect,
            before.get(attribute),
            stack.declared(address, attribute),
            attributes_before=before,
            attributes_after={**before, attribute: value},
            contract=stack.contract(address),
        )
    )

    assert [finding.reason for finding in told if finding.verdict is Verdict.DENY] == expected


GROWING: dict[str, Callable[[int], list[Subject]]] = {
    "many broken bounds of many resources": lambda size: [_of(f"aws_x.y{at}", 20) for at in range(size)],
    "many attributes nobody named": lambda size: [subject(1, attribute=f"a{at}") for at in range(size)],
    "many tags of one resource": lambda size: _tags(size, law(bound("max_items", 5, "tags"), bound("one_of", ["x"], "tags.0"), mutable=("tags",))),
    "many invokes": lambda size: [subject(None, attribute=WHOLE, action=INVOKE) for _ in range(size)],
    "many deletes": lambda size: [_of(f"aws_x.y{at}", None, attribute=WHOLE, action=DELETE) for at in range(size)],
}  # fmt: skip


def _of(address: str, value: Json, attribute: str = "desired_capacity", action: EffectAction = SET) -> Subject:
    one = subject(value, attribute=attribute, action=action)
    return replace(one, effect=replace(one.effect, address=address))


def _tags(size: int, contract: Contract) -> list[Subject]:
    after: dict[str, Json] = {"tags": {str(at): "v" for at in range(size)}}
    each = [subject("v", attribute=f"tags.{at}", contract=contract, after=dict(after)) for at in range(size)]
    return [replace(one, attributes_before={"tags": {}}) for one in each]


@pytest.mark.parametrize("make", GROWING.values(), ids=GROWING.keys())
def test_the_cost_of_the_check_grows_with_the_effects(make: Callable[[int], list[Subject]]) -> None:
    def examine(subjects: list[Subject]) -> None:
        with pytest.raises(StopIteration):
            findings(*subjects).send(None)

    def call(size: int) -> Callable[[], None]:
        subjects = make(size)
        return lambda: examine(subjects)

    assert_linear(call, 50)


async def test_the_bounds_of_a_resource_are_evaluated_once_for_all_its_attributes() -> None:
    evaluated: list[Mapping[str, Json]] = []

    def evaluate(after: Mapping[str, Json], _before: Mapping[str, Json]) -> tuple[Bound, ...]:
        evaluated.append(after)
        return (bound("max_items", 1, "tags"),)

    contract = replace(law(mutable=("tags",)), evaluate=evaluate)
    told = await findings(*_tags(5, contract))
    assert (len(evaluated), [finding.rule for finding in told]) == (1, ["bounds.max_items"])


async def test_a_guess_of_a_declared_secret_is_denied_like_any_other() -> None:
    guess = subject("x", attribute="password", action=CREATE, in_code="x", exists=False, contract=law())
    assert (await one(guess)).verdict is Verdict.ALLOW
    assert (await one(replace(guess, hidden=True))).rule == "bounds.not_mutable"
    assert (await one(replace(guess, declared="y", hidden=True))).rule == "bounds.not_mutable"
