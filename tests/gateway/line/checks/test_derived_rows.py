"""The check `derived_rows`: what would be held without derived rows may pass only where these leave nothing open that anybody judges."""

from typing import Any

import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.model.claim import Relation, StandingClaim
from gateway.core.model.contract import AgentGrant, Bound, Contract
from gateway.core.model.mutation import Basis, Call, CallClass, Effect, EffectAction, InnerCall
from gateway.core.model.path import WHOLE
from gateway.core.model.verdict import Verdict
from gateway.line.checks.derived_rows import DerivedRowsCheck
from tests.kit import nouns

GROUP = "aws_athena_workgroup.g"
CREATE, SET, DELETE, INVOKE = EffectAction.CREATE, EffectAction.SET, EffectAction.DELETE, EffectAction.INVOKE
UPDATE = Call(service="athena", operation="UpdateWorkGroup")
DELETABLE = Contract(managed_by_agent=True, source="a.hcl:1", grants=(AgentGrant(source="a.hcl:1", allow_delete=True),))


def touched(action: EffectAction = INVOKE, **members: Any) -> Effect:
    usual: dict[str, Any] = {"action": action, "basis": Basis.RESOURCE, "may_change": ("description",)}
    return nouns.effect(GROUP, WHOLE, **(usual | members))


async def held(
    effect: Effect,
    kind: ActorKind = ActorKind.HUMAN,
    *,
    call: Call = UPDATE,
    call_class: CallClass = CallClass.MUTATION,
    claims: tuple[StandingClaim, ...] = (),
    **subject: Any,
) -> list[tuple[str, str]]:
    """Rule and reason of each hold."""
    mutation = nouns.mutation(effect, caller=nouns.caller("me", kind), call=call, call_class=call_class)
    facts = nouns.facts(nouns.subject(effect, **subject), claims=claims)
    findings = (await DerivedRowsCheck().examine(mutation, facts)).findings
    assert all(each.verdict is (Verdict.ALLOW if each.rule == "derived_rows.passed" else Verdict.HOLD) for each in findings)  # fmt: skip
    return [(each.rule, each.reason) for each in findings if each.verdict is Verdict.HOLD]


@pytest.mark.parametrize("kind", [ActorKind.HUMAN, ActorKind.PIPELINE, ActorKind.AGENT])
async def test_a_change_of_a_resource_that_nobody_limits_passes(kind: ActorKind) -> None:
    """Of an agent the contract must grant the operation besides, which the check `bounds` sees to."""
    assert await held(touched(), kind) == []


async def test_what_hand_made_rows_say_is_not_held() -> None:
    effect = nouns.effect(GROUP, WHOLE, action=DELETE)

    assert await held(effect, call_class=CallClass.EXECUTE, call=Call(service="iam", operation="DeleteThing")) == []


@pytest.mark.parametrize("basis", [Basis.DERIVED, Basis.RESOURCE])
@pytest.mark.parametrize(
    "call_class", [CallClass.EXECUTE, CallClass.CREDENTIAL, CallClass.SECRET, CallClass.DATA, CallClass.CRYPTO]
)
async def test_a_call_of_another_class_than_a_change_is_held(basis: Basis, call_class: CallClass) -> None:
    found = await held(touched(basis=basis), call_class=call_class)

    assert [rule for rule, _ in found] == ["derived_rows.class"]


@pytest.mark.parametrize("basis", [Basis.DERIVED, Basis.RESOURCE])
@pytest.mark.parametrize(
    ("service", "resource_type"),
    [("iam", "aws_x"), ("sso-admin", "aws_x"), ("x", "aws_iam_role"), ("eks", "aws_eks_access_entry")],
)
async def test_a_change_of_identity_is_held(basis: Basis, service: str, resource_type: str) -> None:
    effect = nouns.effect(f"{resource_type}.x", "description", "d", basis=basis)

    found = await held(effect, call=Call(service=service, operation="UpdateThing"))

    assert ("derived_rows.identity", True) in [(rule, "sentinel apply" in reason) for rule, reason in found]


async def test_a_service_may_not_touch_what_no_contract_grants_it() -> None:
    assert await held(touched(), ActorKind.SERVICE)


async def test_an_agent_creates_only_with_values_that_can_be_judged() -> None:
    assert await held(touched(CREATE), ActorKind.AGENT)
    assert await held(touched(CREATE, basis=Basis.DERIVED), ActorKind.AGENT) == []


async def test_what_nothing_declares_is_held() -> None:
    assert await held(touched(declared=False))


@pytest.mark.parametrize("operation", ["RebootGroup", "FailoverGroup", "RestoreGroup", "PurgeGroup", "StopGroup", "ResetGroup"])  # fmt: skip
async def test_what_is_more_than_a_change_of_settings_is_held_unless_a_contract_grants_it(operation: str) -> None:
    call = Call(service="athena", operation=operation)

    assert await held(touched(), ActorKind.HUMAN, call=call)
    assert await held(touched(), ActorKind.PIPELINE, call=call)
    assert await held(touched(), ActorKind.AGENT, call=call) == []  # bounds asks for `allow_invoke`


@pytest.mark.parametrize("operation", ["UpdateWorkGroup", "ModifyGroup", "TagResource", "AddTagsToResource"])
async def test_a_change_of_the_resource_itself_passes_for_people(operation: str) -> None:
    assert await held(touched(resource_type="aws_athena_work_group"), call=Call(service="x", operation=operation)) == []


@pytest.mark.parametrize("operation", ["PutGroupSchedule", "UpdateStorage", "AddMember"])
async def test_a_change_of_something_beside_the_resource_is_held_for_people(operation: str) -> None:
    """IAM knows such an operation by the resource that it belongs to, and no attribute of that shows what it does."""
    assert await held(touched(), call=Call(service="x", operation=operation))
    assert await held(touched(), ActorKind.AGENT, call=Call(service="x", operation=operation)) == []


@pytest.mark.parametrize("kind", [ActorKind.HUMAN, ActorKind.AGENT, ActorKind.PIPELINE])
@pytest.mark.parametrize(
    ("operation", "parameters"),
    [
        ("PutDomainPermissionsPolicy", {}),
        ("ShareWorkGroup", {}),
        ("UpdateWorkGroup", {"PubliclyAccessible": True}),
        ("UpdateWorkGroup", {"Configuration": [{"ExecutionRole": "arn:x"}]}),
        ("UpdateWorkGroup", {"Configuration": {"KmsKey": "k"}}),
    ],
)
async def test_what_may_open_a_resource_is_held_though_its_type_has_no_such_attribute(
    kind: ActorKind, operation: str, parameters: dict[str, Any]
) -> None:
    call = Call(service="athena", operation=operation, parameters=parameters)

    assert [rule for rule, _ in await held(touched(), kind, call=call)] == ["derived_rows.resource"]


@pytest.mark.parametrize("kind", [ActorKind.HUMAN, ActorKind.PIPELINE, ActorKind.SERVICE])
@pytest.mark.parametrize("action", [CREATE, SET])
@pytest.mark.parametrize(
    ("operation", "attribute", "value"),
    [
        ("CreateGrant", "name", "x"),
        ("UpdateThing", "grantee_principal", "arn:aws:iam::999999999999:root"),
        ("UpdateThing", "delivery_destination_policy", "{}"),
        ("UpdateThing", "provisioning_role_arn", "arn:aws:iam::123456789012:role/admin"),
        ("UpdateThing", "peer_owner_id", "999999999999"),
        ("UpdateThing", "settings", [{"kms_key": "k"}]),
    ],
)
async def test_a_value_about_rights_is_held_though_no_guardrail_names_its_attribute(
    kind: ActorKind, action: EffectAction, operation: str, attribute: str, value: Any
) -> None:
    """The guardrails' lists have the names of hand-made rows; the attributes of a thousand types more nobody has reviewed."""
    effect = nouns.effect(GROUP, attribute, value, action=action, basis=Basis.DERIVED)
    call = Call(service="x", operation=operation)

    assert [rule for rule, _ in await held(effect, kind, call=call)] == ["derived_rows.resource"]
    assert await held(effect, kind, call=call, declared=value) == []  # reviewed with the code
    assert await held(effect, ActorKind.AGENT, call=call) == []  # bounds asks for the attribute in the contract


async def test_a_service_creates_by_a_derived_row_only_what_code_declares() -> None:
    assert await held(touched(CREATE, basis=Basis.DERIVED, declared=False), ActorKind.SERVICE)
    assert await held(touched(CREATE, basis=Basis.DERIVED), ActorKind.SERVICE) == []


@pytest.mark.parametrize(
    "contract",
    [
        Contract(source="a.hcl:1", bounded=("description",)),
        Contract(source="a.hcl:1", immutable=("name",)),
        Contract(source="a.hcl:1", critical=True),
        Contract(
            evaluate=lambda _after, _before: (Bound(attribute="", name="condition", limit=True, source="a.tf:3"),)
        ),
    ],
    ids=["bounds", "immutable", "critical", "a condition of the code"],
)
@pytest.mark.parametrize("kind", [ActorKind.HUMAN, ActorKind.AGENT, ActorKind.PIPELINE])
async def test_a_contract_about_attributes_holds_what_does_not_show_them(contract: Contract, kind: ActorKind) -> None:
    assert [rule for rule, _ in await held(touched(), kind, contract=contract)] == ["derived_rows.resource"]
    assert await held(touched(basis=Basis.DERIVED), kind, contract=contract) == []  # bounds judges the attributes


async def test_the_claim_of_another_holds_what_may_change_it() -> None:
    other = StandingClaim(claim=nouns.claim(GROUP, "description", actor="rival"), relation=Relation.SAME)
    own = StandingClaim(claim=nouns.claim(GROUP, "description", actor="me"), relation=Relation.SAME)
    elsewhere = StandingClaim(claim=nouns.claim("aws_sqs_queue.q", actor="rival"), relation=Relation.DEPENDANT)

    assert "rival" in (await held(touched(), claims=(other,)))[0][1]
    assert await held(touched(), claims=(own, elsewhere)) == []


@pytest.mark.parametrize("kind", [ActorKind.HUMAN, ActorKind.PIPELINE, ActorKind.SERVICE, ActorKind.AGENT])
async def test_a_deletion_needs_a_contract_that_grants_it(kind: ActorKind) -> None:
    """People have named the types that hold data only among those of hand-made rows."""
    exact = touched(DELETE, basis=Basis.DERIVED)

    assert await held(exact, kind)
    assert await held(exact, kind, contract=DELETABLE) == []


async def test_a_deletion_with_an_unknown_parameter_is_held_whatever_a_contract_grants() -> None:
    assert await held(touched(DELETE), ActorKind.AGENT, contract=DELETABLE)


async def test_a_call_inside_another_is_judged_as_if_it_had_been_sent_alone() -> None:
    """AWS stops the group later, by the hand of a scheduler whose own call a person wrote the row of."""
    stop = Call(service="athena", operation="StopGroup")
    later = touched(by="athena:StopGroup", implied=True)
    own = nouns.effect("aws_scheduler_schedule.s", "target")

    async def rules(call_class: CallClass) -> set[str]:
        inner = InnerCall(call=stop, call_class=call_class, effects=(later,))
        mutation = nouns.mutation(own, later, caller=nouns.caller("me", ActorKind.HUMAN), inner=(inner,))
        facts = nouns.facts(nouns.subject(own), nouns.subject(later))
        return {each.rule for each in (await DerivedRowsCheck().examine(mutation, facts)).findings}

    assert await rules(CallClass.MUTATION) == {"derived_rows.resource"}
    assert await rules(CallClass.EXECUTE) == {"derived_rows.resource", "derived_rows.class"}
