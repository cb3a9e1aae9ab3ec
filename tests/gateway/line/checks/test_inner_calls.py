"""Each inner call is judged as if it had been sent alone: by policies, by its class, and by bounds."""

from collections.abc import Mapping
from datetime import timedelta

import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.model.contract import AgentGrant, Contract
from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, CallClass, EffectAction, InnerCall, Mutation
from gateway.core.model.verdict import Verdict
from gateway.line.checks.bounds import BoundsCheck
from gateway.line.checks.call_class import CallClassCheck
from gateway.line.checks.inner_calls import each_alone
from gateway.line.checks.policy import GuardrailsCheck
from tests.kit import nouns

OWN = nouns.effect("aws_scheduler_schedule.s", "target.arn", "x")
STOPPED = nouns.effect("aws_ecs_service.web", "desired_count", 0, by="ecs:UpdateService", implied=True)
SENT = nouns.effect("aws_sqs_queue.orders", "*", action=EffectAction.INVOKE, by="sqs:SendMessage", implied=True)


def inner(service: str, operation: str, call_class: CallClass = CallClass.MUTATION, *effects: object) -> InnerCall:
    return InnerCall(call=Call(service=service, operation=operation), call_class=call_class, effects=effects)  # type: ignore[arg-type]


def carrying(*calls: InnerCall, kind: ActorKind = ActorKind.AGENT) -> Mutation:
    effects = [OWN, *(effect for call in calls for effect in call.effects)]
    call = Call(service="scheduler", operation="CreateSchedule")
    return nouns.mutation(*effects, call=call, inner=calls, caller=nouns.caller("a", kind))


class Asked:
    """An engine that notes what it is asked, and objects to one operation."""

    revision = "r1"
    flip_window = timedelta(days=1)

    def __init__(self) -> None:
        self.documents: list[Mapping[str, Json]] = []

    async def ask(self, _entrypoint: str, document: Json) -> Json:
        assert isinstance(document, Mapping)
        mutation = document["mutation"]
        assert isinstance(mutation, Mapping)
        self.documents.append(mutation)
        objections: list[Json] = []
        if mutation["operation"] == "UpdateService":
            objections = [{"id": "SEN-1", "verdict": "deny", "message": "No.", "address": "", "attribute": ""}]
        return {"evaluated": {"one": True}, "findings": objections}


async def test_policies_are_asked_about_each_call_with_what_it_changes() -> None:
    mutation = carrying(
        inner("ecs", "UpdateService", CallClass.MUTATION, STOPPED),
        inner("sqs", "SendMessage", CallClass.DATA, SENT),
        inner("ec2", "DescribeInstances", CallClass.READ),
    )
    engine = Asked()
    facts = nouns.facts(*nouns.subjects(mutation.effects))
    found = await GuardrailsCheck(engine, lambda: ("one",)).examine(mutation, facts)
    assert [(each.rule, each.verdict) for each in found.findings] == [("SEN-1", Verdict.DENY)]
    asked = [(each["service"], each["class"], len(each["effects"])) for each in engine.documents]  # type: ignore[arg-type]
    assert asked == [("scheduler", "mutation", 3), ("ecs", "mutation", 1), ("sqs", "data", 1)]
    assert [each["operation"] for each in engine.documents[0]["inner"]] == [  # type: ignore[index, union-attr, call-overload]
        "UpdateService", "SendMessage", "DescribeInstances",
    ]  # fmt: skip


def test_calls_that_policies_cannot_tell_apart_are_asked_about_once() -> None:
    calls = tuple(
        inner(
            "ecs", "UpdateService", CallClass.MUTATION, nouns.effect(f"aws_ecs_service.w{number}", "desired_count", 0)
        )
        for number in range(50)
    )
    mutation = carrying(*calls)
    ((alone, about),) = each_alone(mutation, nouns.facts(*nouns.subjects(mutation.effects)))
    assert (len(alone.effects), len(about.subjects)) == (50, 50)


@pytest.mark.parametrize("kind", ActorKind)
@pytest.mark.parametrize("call_class", CallClass)
async def test_credentials_are_refused_to_all_and_secrets_to_agents(kind: ActorKind, call_class: CallClass) -> None:
    mutation = carrying(inner("x", "Y", call_class), kind=kind)
    (finding,) = (await CallClassCheck().examine(mutation, nouns.facts())).findings
    to_agents = kind is ActorKind.AGENT and call_class in (CallClass.SECRET, CallClass.CRYPTO)
    refused = call_class is CallClass.CREDENTIAL or to_agents
    assert (finding.verdict is Verdict.DENY, finding.absolute) == (refused, refused)
    assert finding.rule == ("never.by_proxy" if refused else "classes.passed")


@pytest.mark.parametrize(("granted", "denied"), [((), True), (("CreateSchedule",), True), (("SendMessage",), False)])
async def test_an_agent_needs_the_grant_for_the_inner_operation(granted: tuple[str, ...], denied: bool) -> None:
    mutation = nouns.mutation(
        SENT, call=Call(service="scheduler", operation="CreateSchedule"), inner=(inner("sqs", "SendMessage"),)
    )
    grant = AgentGrant(source="c:1", allow_invoke=frozenset(granted))
    contract = Contract(managed_by_agent=True, grants=(grant,))
    facts = nouns.facts(nouns.subject(SENT, contract=contract, exists=True))
    found = (await BoundsCheck().examine(mutation, facts)).findings
    assert any(each.rule == "bounds.invoke_not_allowed" for each in found) == denied


async def test_the_reason_why_a_call_is_not_understood_is_said() -> None:
    mutation = nouns.mutation(
        call=Call(service="scheduler", operation="CreateSchedule"),
        inner=(inner("sqs", "SendMessage"),),
        not_understood="x is a kind of target that is not unpacked",
    )
    (finding,) = (await BoundsCheck().examine(mutation, nouns.facts())).findings
    assert "it does not know all that it makes AWS do (x is a kind of target that is not unpacked)" in finding.reason
