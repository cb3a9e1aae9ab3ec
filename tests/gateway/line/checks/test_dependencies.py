"""The check `dependencies`: a resource in use is not deleted, and changes below critical resources need a person."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.model.claim import Relation, StandingClaim
from gateway.core.model.contract import Contract
from gateway.core.model.facts import Dependant, Facts, Subject
from gateway.core.model.mutation import Call, EffectAction
from gateway.core.model.path import WHOLE
from gateway.core.model.verdict import Finding, Mode, Verdict
from gateway.line.checks.dependencies import DependenciesCheck
from tests.kit import nouns
from tests.kit.growth import assert_linear, finish

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ROLE = "aws_iam_role.r"
PLAIN = Dependant(address="aws_sqs_queue.q", direct=True, source="main.tf:3")
CRITICAL = Dependant(address="aws_lambda_function.f", direct=False, critical=True, source="main.tf:9")
OWN = Dependant(address="aws_lambda_function.g", direct=True, critical=True, managed_by_agent=True)


def subject(
    *dependants: Dependant,
    action: EffectAction = EffectAction.SET,
    address: str = ROLE,
    bounded: tuple[str, ...] = (),
    value: str = "new",
) -> Subject:
    attribute = "policy" if action is EffectAction.SET else WHOLE
    return nouns.subject(
        nouns.effect(address, attribute, value, action=action),
        "old",
        contract=Contract(managed_by_agent=True, bounded=bounded, source="c.sentinel.hcl:3"),
        dependants=dependants,
    )


async def findings(*subjects: Subject, kind: ActorKind = ActorKind.AGENT, claims: tuple[StandingClaim, ...] = ()) -> tuple[Finding, ...]:  # fmt: skip
    mutation = nouns.mutation(*(each.effect for each in subjects), id="mut_1", caller=nouns.caller("someone", kind))
    facts = Facts(now=NOW, stack="s", mode=Mode.ENFORCE, subjects=subjects, claims=claims)
    return (await DependenciesCheck().examine(mutation, facts)).findings


def deleted(address: str, attribute: str = WHOLE) -> StandingClaim:
    claim = nouns.claim(address, attribute, None, actor="ci", kind=ActorKind.PIPELINE, since=NOW)
    return StandingClaim(claim=claim, relation=Relation.DEPENDANT)


@pytest.mark.parametrize("kind", list(ActorKind))
async def test_a_resource_in_use_is_not_deleted(kind: ActorKind) -> None:
    (finding,) = await findings(subject(PLAIN, CRITICAL, action=EffectAction.DELETE), kind=kind)

    assert (finding.verdict, finding.rule) == (Verdict.DENY, "dependencies.in_use")
    assert "because aws_sqs_queue.q (main.tf:3), aws_lambda_function.f (main.tf:9, indirectly) depend on it" in finding.reason  # fmt: skip


async def test_five_dependants_are_named_and_the_rest_counted() -> None:
    many = [Dependant(address=f"aws_x.d{at}", direct=True) for at in range(8)]

    (finding,) = await findings(subject(*many, action=EffectAction.DELETE))

    assert "aws_x.d0, aws_x.d1, aws_x.d2, aws_x.d3, aws_x.d4 and 3 more depend on it" in finding.reason


async def test_resources_deleted_together_may_depend_on_each_other() -> None:
    (finding,) = await findings(
        subject(PLAIN, action=EffectAction.DELETE), subject(action=EffectAction.DELETE, address=PLAIN.address)
    )

    assert finding.verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    ("service", "also", "dependant", "verdict"),
    [
        ("terraform", EffectAction.CREATE, PLAIN, Verdict.ALLOW),
        ("terraform", EffectAction.SET, PLAIN, Verdict.DENY),
        ("iam", EffectAction.CREATE, PLAIN, Verdict.DENY),
        ("terraform", EffectAction.SET, replace(PLAIN, recorded=False), Verdict.ALLOW),
        ("iam", EffectAction.SET, replace(PLAIN, recorded=False), Verdict.DENY),
    ],
)
async def test_a_plan_may_make_anew_what_is_in_use_and_delete_what_only_the_code_uses(
    service: str, also: EffectAction, dependant: Dependant, verdict: Verdict
) -> None:
    gone = subject(dependant, action=EffectAction.DELETE)
    effects = (gone.effect, nouns.effect(ROLE, "policy", "new", action=also))
    call = Call(service=service, operation="apply", parameters={})
    mutation = nouns.mutation(*effects, caller=nouns.caller("ci", ActorKind.PIPELINE), call=call)
    facts = Facts(now=NOW, stack="s", mode=Mode.ENFORCE, subjects=(gone,), claims=())
    (finding,) = (await DependenciesCheck().examine(mutation, facts)).findings
    assert finding.verdict is verdict


@pytest.mark.parametrize(
    ("dependants", "changed", "verdict"),
    [
        ((replace(CRITICAL, direct=True),), (), Verdict.HOLD),
        ((replace(CRITICAL, direct=True),), (CRITICAL.address,), Verdict.ALLOW),
        ((PLAIN, CRITICAL), (), Verdict.HOLD),
        ((PLAIN, CRITICAL), (PLAIN.address,), Verdict.ALLOW),
        ((OWN,), (), Verdict.ALLOW),
    ],
)
async def test_a_plan_that_replaces_what_critical_resources_need_changes_these_or_waits_for_a_human(
    dependants: tuple[Dependant, ...], changed: tuple[str, ...], verdict: Verdict
) -> None:
    gone = subject(*dependants, action=EffectAction.DELETE)
    created = nouns.effect(ROLE, "policy", "new", action=EffectAction.CREATE)
    effects = (gone.effect, created, *(nouns.effect(address, "role", "new") for address in changed))
    call = Call(service="terraform", operation="apply", parameters={})
    mutation = nouns.mutation(*effects, id="mut_1", caller=nouns.caller("ci", ActorKind.PIPELINE), call=call)
    facts = Facts(now=NOW, stack="s", mode=Mode.ENFORCE, subjects=(gone,), claims=())
    (finding,) = (await DependenciesCheck().examine(mutation, facts)).findings
    assert finding.verdict is verdict
    if verdict is Verdict.HOLD:
        assert "aws_lambda_function.f" in finding.reason
        assert "`sentinel approve mut_1`" in finding.reason


async def test_a_dependant_deleted_through_sentinel_does_not_count() -> None:
    (finding,) = await findings(
        subject(PLAIN, action=EffectAction.DELETE), kind=ActorKind.PIPELINE, claims=(deleted(PLAIN.address),)
    )
    (other,) = await findings(
        subject(PLAIN, action=EffectAction.DELETE),
        kind=ActorKind.PIPELINE,
        claims=(deleted(PLAIN.address, attribute="delay_seconds"),),
    )

    assert finding.verdict is Verdict.ALLOW
    assert other.verdict is Verdict.DENY


async def test_an_agent_is_held_if_critical_resources_depend_on_the_change() -> None:
    (finding,) = await findings(subject(PLAIN, CRITICAL, OWN))

    assert (finding.verdict, finding.rule) == (Verdict.HOLD, "dependencies.critical")
    assert "aws_lambda_function.f (main.tf:9, indirectly)" in finding.reason
    assert "aws_sqs_queue.q" not in finding.reason
    assert "`sentinel approve mut_1`" in finding.reason


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        (subject(PLAIN), ActorKind.AGENT),
        (subject(OWN), ActorKind.AGENT),
        (subject(), ActorKind.AGENT),
        (subject(CRITICAL, bounded=("policy",)), ActorKind.AGENT),
        (subject(CRITICAL, value="old"), ActorKind.AGENT),
        (subject(CRITICAL), ActorKind.HUMAN),
        (subject(CRITICAL), ActorKind.PIPELINE),
        (subject(CRITICAL, action=EffectAction.INVOKE), ActorKind.AGENT),
        (subject(action=EffectAction.DELETE), ActorKind.AGENT),
    ],
)
async def test_everything_else_passes(asked: Subject, kind: ActorKind) -> None:
    (finding,) = await findings(asked, kind=kind)

    assert (finding.verdict, finding.rule) == (Verdict.ALLOW, "dependencies.passed")


@pytest.mark.parametrize("action", [EffectAction.SET, EffectAction.DELETE])
@pytest.mark.parametrize("same", [True, False], ids=["one resource", "many resources"])
def test_the_work_is_linear_in_effects(action: EffectAction, same: bool) -> None:
    dependants = [Dependant(address=f"aws_sqs_queue.q{number}", direct=True, critical=True) for number in range(240)]

    def make(count: int) -> Callable[[], object]:
        own = dependants[: count if same else 1]
        subjects = [subject(*own, action=action, address=ROLE if same else f"{ROLE}{n}") for n in range(count)]
        return lambda: finish(findings(*subjects))

    assert_linear(make, 60)
