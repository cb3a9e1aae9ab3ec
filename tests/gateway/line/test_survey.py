"""The facts: values joined from state and ledger, before and after the change, claims by relation, all from one version of the code."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.claim import Claim, Couplings, Relation, StandingClaim
from gateway.core.model.facts import GroupRules
from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, Effect, EffectAction, Mutation
from gateway.core.model.verdict import Mode
from gateway.core.ports import LedgerView
from gateway.core.settings import StackSettings
from gateway.line.survey import Survey, nothing_known, with_disputes
from gateway.terraform.stacks import Stacks
from tests.kit import nouns
from tests.kit.doubles import AGENT, CALL, HUMAN, FixedClock, LedgerDouble, PolicyDouble
from tests.kit.doubles import NOW as DOUBLES_NOW
from tests.kit.gate import STACK
from tests.kit.growth import assert_linear, finish

ASG = "aws_autoscaling_group.kafka_consumer"
POLICY = "aws_autoscaling_policy.scale_up_lag"


def test_where_nothing_is_known_nothing_is_claimed() -> None:
    facts = nothing_known(DOUBLES_NOW)
    assert (facts.subjects, facts.claims, facts.mode) == ((), (), Mode.ENFORCE)


def effect(
    address: str = ASG,
    attribute: str = "desired_capacity",
    value: Json = 6,
    action: EffectAction = EffectAction.SET,
) -> Effect:
    """An effect on the case stack."""
    return nouns.effect(address, attribute, value, action=action)


def mutation(*effects: Effect) -> Mutation:
    """A mutation with these effects."""
    return nouns.mutation(*effects, caller=AGENT, call=CALL)


def claim(address: str, attribute: str) -> Claim:
    """A standing claim."""
    return nouns.claim(address, attribute, 5, id=f"clm_{address}.{attribute}", actor="other", since=DOUBLES_NOW)


@pytest.fixture(scope="module")
def stacks() -> Stacks:
    return Stacks.load((StackSettings(name="kafka", path=STACK),), default_mode=Mode.OBSERVE)


async def test_the_subject_of_an_effect_is_all_that_is_known_about_it(stacks: Stacks) -> None:
    survey = Survey(stacks=stacks, ledger=LedgerDouble(), policy=PolicyDouble(), clock=FixedClock())
    facts = await survey.of(mutation(effect()))
    (subject,) = facts.subjects
    assert (facts.stack, facts.mode, facts.code, facts.now) == ("kafka", Mode.ENFORCE, stacks.revision, DOUBLES_NOW)
    assert (subject.before, subject.declared, subject.exists) == (4, 4, True)
    assert subject.attributes_before["desired_capacity"] == 4
    assert subject.attributes_after["desired_capacity"] == 6
    assert subject.contract.managed_by_agent
    assert POLICY in {dependant.address for dependant in subject.dependants}


async def test_flips_are_counted_over_the_window_of_the_policys_data(stacks: Stacks) -> None:
    ledger = LedgerDouble()
    policy = PolicyDouble(flip_window=timedelta(seconds=7))
    await Survey(stacks=stacks, ledger=ledger, policy=policy, clock=FixedClock()).of(mutation(effect()))
    assert ledger.flip_window == timedelta(seconds=7)


async def test_what_was_applied_through_us_is_newer_than_the_state(stacks: Stacks) -> None:
    view = LedgerView(values={(ASG, "desired_capacity"): 8, (ASG, "*"): "not a value", ("aws_other.x", "max_size"): 1})
    survey = Survey(stacks=stacks, ledger=LedgerDouble(known=view), policy=PolicyDouble(), clock=FixedClock())
    (subject,) = (await survey.of(mutation(effect(attribute="max_size", value=12)))).subjects
    assert (subject.before, subject.attributes_before["desired_capacity"]) == (16, 8)
    assert subject.attributes_after == {**subject.attributes_before, "max_size": 12}


async def test_all_effects_of_one_change_are_seen_together(stacks: Stacks) -> None:
    survey = Survey(stacks=stacks, ledger=LedgerDouble(), policy=PolicyDouble(), clock=FixedClock())
    both = mutation(
        effect(), effect(attribute="max_size", value=12), effect(attribute="*", value=None, action=EffectAction.INVOKE)
    )
    for subject in (await survey.of(both)).subjects:
        after = subject.attributes_after
        assert (after["desired_capacity"], after["max_size"]) == (6, 12)
        assert "*" not in after


async def test_what_no_stack_declares_has_no_law_and_the_default_mode(stacks: Stacks) -> None:
    survey = Survey(stacks=stacks, ledger=LedgerDouble(), policy=PolicyDouble(), clock=FixedClock())
    facts = await survey.of(mutation(effect("aws_sqs_queue{name=x}", "delay_seconds")))
    (subject,) = facts.subjects
    assert (facts.stack, facts.mode) == ("kafka", Mode.OBSERVE)
    assert (subject.exists, subject.before, subject.contract.managed_by_agent) == (False, None, False)


@pytest.mark.parametrize(
    ("standing", "relation"),
    [
        (claim(ASG, "desired_capacity"), Relation.SAME),
        (claim(ASG, "*"), Relation.SAME),
        (claim(ASG, "max_size"), Relation.RESOURCE),
        (claim(POLICY, "scaling_adjustment"), Relation.DEPENDANT),
    ],
)
async def test_a_claim_is_related_by_what_it_holds(stacks: Stacks, standing: Claim, relation: Relation) -> None:
    survey = Survey(
        stacks=stacks,
        ledger=LedgerDouble(known=LedgerView(claims=(standing,))),
        policy=PolicyDouble(),
        clock=FixedClock(),
    )
    (met,) = (await survey.of(mutation(effect()))).claims
    assert (met.claim, met.relation) == (standing, relation)


async def test_a_change_of_the_whole_meets_every_claim_on_it(stacks: Stacks) -> None:
    standing = LedgerDouble(known=LedgerView(claims=(claim(ASG, "max_size"),)))
    survey = Survey(stacks=stacks, ledger=standing, policy=PolicyDouble(), clock=FixedClock())
    deleted = mutation(effect(attribute="*", value=None, action=EffectAction.DELETE))
    (met,) = (await survey.of(deleted)).claims
    assert met.relation is Relation.SAME


def _two(tmp_path: Path, first: Mode, second: Mode) -> Stacks:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.tf").write_text(f'resource "aws_sqs_queue" "{name}" {{\n  name = "{name}"\n}}\n')
    sources = (
        StackSettings(name="one", path=tmp_path / "one", mode=first),
        StackSettings(name="two", path=tmp_path / "two", mode=second),
    )
    return Stacks.load(sources, default_mode=Mode.OBSERVE)


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        (Mode.OBSERVE, Mode.OBSERVE, Mode.OBSERVE),
        (Mode.OBSERVE, Mode.ENFORCE, Mode.ENFORCE),
        (Mode.ENFORCE, Mode.OBSERVE, Mode.ENFORCE),
    ],
)
async def test_of_several_stacks_the_strictest_mode_holds(
    tmp_path: Path, first: Mode, second: Mode, together: Mode
) -> None:
    survey = Survey(
        stacks=_two(tmp_path, first, second), ledger=LedgerDouble(), policy=PolicyDouble(), clock=FixedClock()
    )
    facts = await survey.of(mutation(effect("aws_sqs_queue.one", "name"), effect("aws_sqs_queue.two", "name")))
    assert (facts.stack, facts.mode) == ("one", together)


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [(Mode.OBSERVE, Mode.OBSERVE, Mode.OBSERVE), (Mode.OBSERVE, Mode.ENFORCE, Mode.ENFORCE)],
)
async def test_what_is_not_understood_may_reach_any_stack_so_the_strictest_of_all_holds(
    tmp_path: Path, first: Mode, second: Mode, together: Mode
) -> None:
    survey = Survey(
        stacks=_two(tmp_path, first, second), ledger=LedgerDouble(), policy=PolicyDouble(), clock=FixedClock()
    )
    assert (await survey.of(mutation())).mode is together


_A, _B = "111111111111", "222222222222"


def _at(
    tmp_path: Path, *places: tuple[str, str, Mode], default: Mode = Mode.ENFORCE, resource: str = "aws_sqs_queue"
) -> Survey:
    """A stack for each account, region and mode."""
    sources = []
    for number, (account, region, mode) in enumerate(places):
        path = tmp_path / f"s{number}"
        path.mkdir()
        (path / "main.tf").write_text(f'resource "{resource}" "q" {{\n  name = "q{number}"\n}}\n')
        sources.append(StackSettings(name=f"s{number}", path=path, mode=mode, account=account, region=region))
    loaded = Stacks.load(sources, default_mode=default)
    return Survey(stacks=loaded, ledger=LedgerDouble(), policy=PolicyDouble(), clock=FixedClock())


async def _unknown(
    survey: Survey,
    kind: ActorKind = ActorKind.PIPELINE,
    service: str = "sqs",
    account: str = _A,
    region: str = "eu-west-1",
) -> Mode:
    call = Call(service=service, operation="Odd", account=account, region=region)
    return (await survey.of(nouns.mutation(caller=nouns.caller("c", kind), call=call))).mode


_OBSERVED = (_A, "eu-west-1", Mode.OBSERVE)


@pytest.mark.parametrize(
    ("places", "mode"),
    [
        ([_OBSERVED], Mode.OBSERVE),
        ([_OBSERVED, (_A, "eu-west-1", Mode.OBSERVE)], Mode.OBSERVE),
        ([_OBSERVED, (_A, "us-east-1", Mode.ENFORCE)], Mode.OBSERVE),
        ([_OBSERVED, (_B, "eu-west-1", Mode.ENFORCE)], Mode.OBSERVE),
        ([_OBSERVED, (_A, "eu-west-1", Mode.ENFORCE)], Mode.ENFORCE),
        ([_OBSERVED, (_A, "", Mode.ENFORCE)], Mode.ENFORCE),
        ([_OBSERVED, ("", "eu-west-1", Mode.ENFORCE)], Mode.ENFORCE),
        ([("", "eu-west-1", Mode.OBSERVE)], Mode.OBSERVE),
        ([("", "us-east-1", Mode.OBSERVE)], Mode.ENFORCE),
        ([("", "eu-west-1", Mode.OBSERVE), (_B, "eu-west-1", Mode.OBSERVE)], Mode.ENFORCE),
        ([(_A, "us-east-1", Mode.OBSERVE)], Mode.ENFORCE),
        ([(_A, "", Mode.OBSERVE)], Mode.ENFORCE),
        ([(_B, "eu-west-1", Mode.OBSERVE)], Mode.ENFORCE),
        ([], Mode.ENFORCE),
    ],
)
async def test_what_is_not_understood_is_observed_where_every_stack_that_may_be_meant_observes(
    tmp_path: Path, places: list[tuple[str, str, Mode]], mode: Mode
) -> None:
    assert await _unknown(_at(tmp_path, *places)) is mode


async def test_what_is_not_understood_belongs_to_the_one_stack_that_is_there(tmp_path: Path) -> None:
    survey = _at(tmp_path, _OBSERVED, (_A, "us-east-1", Mode.ENFORCE))

    async def stack(region: str) -> tuple[str, tuple[str, ...]]:
        call = Call(service="sqs", operation="Odd", account=_A, region=region)
        facts = await survey.of(nouns.mutation(call=call))
        return facts.stack, facts.possible_stacks

    assert [await stack(region) for region in ("eu-west-1", "us-east-1")] == [("s0", ()), ("s1", ())]
    assert [await stack(region) for region in ("us-west-2", "")] == [("", ("s0", "s1"))] * 2


async def test_what_is_not_understood_may_be_about_each_stack_in_its_place(tmp_path: Path) -> None:
    survey = _at(tmp_path, _OBSERVED, (_A, "us-east-1", Mode.ENFORCE), _OBSERVED)
    facts = await survey.of(nouns.mutation(call=Call(service="sqs", operation="Odd", account=_A, region="eu-west-1")))
    assert (facts.stack, facts.possible_stacks) == ("", ("s0", "s2"))


async def test_a_stack_that_was_never_applied_observes_where_no_setting_names_the_account(tmp_path: Path) -> None:
    """The first apply of a new stack: neither the settings nor a state say in which account it is."""
    assert await _unknown(_at(tmp_path, ("", "eu-west-1", Mode.OBSERVE)), account="") is Mode.OBSERVE
    (tmp_path / "two").mkdir()
    two = _at(tmp_path / "two", ("", "eu-west-1", Mode.OBSERVE), ("", "eu-west-1", Mode.ENFORCE))
    assert await _unknown(two, account="") is Mode.ENFORCE


async def test_an_agents_call_that_is_not_understood_is_observed_only_if_the_whole_gateway_observes(
    tmp_path: Path,
) -> None:
    assert await _unknown(_at(tmp_path, _OBSERVED), ActorKind.AGENT) is Mode.ENFORCE
    (tmp_path / "all").mkdir()
    assert await _unknown(_at(tmp_path / "all", _OBSERVED, default=Mode.OBSERVE), ActorKind.AGENT) is Mode.OBSERVE


async def test_a_call_that_reaches_every_region_is_observed_only_if_every_region_observes(tmp_path: Path) -> None:
    survey = _at(tmp_path, _OBSERVED, (_A, "us-east-1", Mode.ENFORCE))

    assert await _unknown(survey, service="iam") is Mode.ENFORCE
    (tmp_path / "all").mkdir()
    assert await _unknown(_at(tmp_path / "all", _OBSERVED), service="iam") is Mode.OBSERVE


async def test_what_is_in_every_region_does_not_make_a_stack_known_to_be_in_one(tmp_path: Path) -> None:
    observed = (_A, "us-east-1", Mode.OBSERVE)

    assert await _unknown(_at(tmp_path, observed, resource="aws_iam_role")) is Mode.ENFORCE


async def test_an_observed_stack_does_not_loosen_what_none_declares(tmp_path: Path) -> None:
    loaded = _two(tmp_path, Mode.OBSERVE, Mode.OBSERVE)
    strict = Stacks(loaded._together, default_mode=Mode.ENFORCE)
    survey = Survey(stacks=strict, ledger=LedgerDouble(), policy=PolicyDouble(), clock=FixedClock())
    facts = await survey.of(mutation(effect("aws_sqs_queue.one", "name"), effect("aws_sqs_queue{name=x}", "name")))
    assert facts.mode is Mode.ENFORCE


class Reloads(LedgerDouble):
    """A ledger during whose answer the code changes."""

    def __init__(self, stacks: Stacks, code: Path) -> None:
        super().__init__()
        self._stacks = stacks
        self._code = code

    async def view(self, **asked: Any) -> LedgerView:
        """Nothing known; but the code is reloaded meanwhile."""
        self._code.write_text('resource "aws_sqs_queue" "renamed" {\n  name = "renamed"\n}\n')
        assert self._stacks.refresh()
        return await super().view(**asked)


async def test_what_is_judged_and_what_is_recorded_as_judged_are_one_version(tmp_path: Path) -> None:
    stacks = _two(tmp_path, Mode.ENFORCE, Mode.ENFORCE)
    before = stacks.revision
    survey = Survey(
        stacks=stacks, ledger=Reloads(stacks, tmp_path / "one" / "main.tf"), policy=PolicyDouble(), clock=FixedClock()
    )
    facts = await survey.of(mutation(effect("aws_sqs_queue.one", "name")))
    assert facts.code == before != stacks.revision
    assert facts.subjects[0].declared == "one"


@pytest.mark.parametrize("same", [True, False], ids=["one resource", "many resources"])
async def test_the_survey_is_linear_in_effects_values_and_claims(stacks: Stacks, same: bool) -> None:
    def make(count: int) -> Callable[[], object]:
        addresses = [ASG if same else f"aws_sqs_queue{{name={number}}}" for number in range(count)]
        effects = [effect(address, f"tags.k{number}", "v") for number, address in enumerate(addresses)]
        view = LedgerView(
            claims=tuple(claim(address, f"tags.k{number}") for number, address in enumerate(addresses)),
            values={(address, f"tags.k{number}"): "w" for number, address in enumerate(addresses)},
        )
        survey = Survey(stacks=stacks, ledger=LedgerDouble(known=view), policy=PolicyDouble(), clock=FixedClock())
        asked = mutation(*effects)
        return lambda: finish(survey.of(asked))

    assert_linear(make, 60)


@pytest.mark.parametrize(("caller", "hidden"), [(AGENT, True), (HUMAN, False)])
async def test_a_secret_is_hidden_from_who_is_not_told_any(stacks: Stacks, caller: Caller, hidden: bool) -> None:
    asked = replace(mutation(replace(effect(value=4), sensitive=True), effect(attribute="max_size")), caller=caller)
    survey = Survey(stacks=stacks, ledger=LedgerDouble(), policy=PolicyDouble(), clock=FixedClock())
    facts = await survey.of(asked)
    assert [subject.hidden for subject in facts.subjects] == [hidden, False]


async def test_the_other_rules_of_a_group_are_known_and_asked_for_only_where_it_is_about_one(stacks: Stacks) -> None:
    rule = {"security_group_id": "sg-0abc1234", "cidr_ipv4": "11.0.0.0/8"}
    ledger = LedgerDouble(applied={"aws_vpc_security_group_ingress_rule{n=1}": dict(rule)})
    survey = Survey(stacks=stacks, ledger=ledger, policy=PolicyDouble(), clock=FixedClock())
    group = replace(effect("aws_security_group.kafka_consumer", "ingress", []), resource_type="aws_security_group")
    facts = await survey.of(mutation(group))
    assert facts.group_rules.groups == {"aws_security_group.kafka_consumer": "sg-0abc1234"}
    assert facts.group_rules.rules == {"sg-0abc1234": (rule,)}
    assert (await survey.of(mutation(effect()))).group_rules == GroupRules()


TEMPLATE = "aws_launch_template.kafka_consumer"
PAIR = {
    "one": {"type": "aws_autoscaling_group", "attribute": "desired_capacity"},
    "other": {"type": "aws_launch_template", "attribute": "instance_type"},
}


async def test_claims_on_what_a_pair_names_are_read_with_the_others(stacks: Stacks) -> None:
    ledger = LedgerDouble(known=LedgerView(claims=(claim(TEMPLATE, "instance_type"),)))
    survey = Survey(
        stacks=stacks, ledger=ledger, policy=PolicyDouble(), clock=FixedClock(), couplings=lambda: Couplings.of([PAIR])
    )
    facts = await survey.of(mutation(effect()))
    assert facts.coupled == ((TEMPLATE, "instance_type"),)
    assert [each.relation for each in facts.claims] == [Relation.DEPENDENCY]
    beside = await survey.of(mutation(effect(attribute="max_size", value=12)))
    assert beside.coupled == ()


async def test_a_claim_of_before_another_stack_had_its_address_still_stands() -> None:
    twins = Stacks.load(
        [
            StackSettings(name=name, path=STACK, account=account)
            for name, account in (("one", "1" * 12), ("two", "2" * 12))
        ],
        default_mode=Mode.ENFORCE,
    )
    named = f"two:{ASG}"
    view = LedgerView(claims=(claim(ASG, "desired_capacity"), claim(named, "max_size")))
    survey = Survey(stacks=twins, ledger=LedgerDouble(known=view), policy=PolicyDouble(), clock=FixedClock())
    facts = await survey.of(mutation(effect(named)))
    assert [(each.claim.address, each.relation) for each in facts.claims] == [
        (named, Relation.SAME),
        (named, Relation.RESOURCE),
    ]
    assert facts.stacks == ("two",)


NOW = datetime(2026, 3, 1, tzinfo=UTC)


def _disputed(
    attribute: str,
    value: Json,
    claimed: tuple[str, Json],
    action: EffectAction = EffectAction.SET,
    address: str = "aws_x.a",
) -> bool:
    effect = nouns.effect("aws_x.a", attribute, value, action=action)
    subject = nouns.subject(effect, value)
    claim = nouns.claim(address, claimed[0], claimed[1], since=NOW)
    standing = (StandingClaim(claim=claim, relation=Relation.SAME),)
    [marked] = with_disputes([subject], standing)
    assert marked.changes is (marked.disputed or action is not EffectAction.SET)
    return marked.disputed


@pytest.mark.parametrize(
    ("attribute", "value", "claimed", "disputed"),
    [
        ("size", 4, ("size", 8), True),
        ("size", 4, ("size", 4), False),
        ("size", 4, ("other", 8), False),
        ("size", 4, ("*", None), True),
        ("tags", {"owner": "a", "x": "y"}, ("tags.owner", "b"), True),
        ("tags", {"owner": "a", "x": "y"}, ("tags.owner", "a"), False),
        ("tags", {"x": "y"}, ("tags.owner", "a"), True),
        ("tags.owner", "a", ("tags", {"owner": "b"}), True),
        ("tags.owner", "a", ("tags", {"owner": "a", "x": "y"}), False),
    ],
)
def test_what_is_disputed(attribute: str, value: Json, claimed: tuple[str, Json], disputed: bool) -> None:
    assert _disputed(attribute, value, claimed) is disputed


def test_only_a_set_on_the_same_resource_is_disputed() -> None:
    assert not _disputed("size", 4, ("size", 8), address="aws_x.b")
    assert not _disputed("*", None, ("size", 8), action=EffectAction.DELETE)
