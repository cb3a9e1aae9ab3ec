"""The policy input holds every documented field, the parameters that are listed, and no secret."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.claim import Relation, StandingClaim
from gateway.core.model.contract import Contract
from gateway.core.model.facts import Dependant, Facts, GroupRules
from gateway.core.model.json import Json
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call, CallClass, Mutation
from gateway.core.model.signal import MotiveProof, Signal, SignalState
from gateway.core.model.verdict import Mode
from gateway.core.service_models import ServiceModels
from gateway.line.checks.policy_input import _SHOWN, PolicyInputs, policy_input, shown_parameters
from tests.kit import nouns

NOW = datetime(2026, 3, 1, 9, 0, 0, 123456, tzinfo=UTC)
MOTIVE = Motive(
    intent=Intent.COST, motivation=Motivation.BUDGET, text="t", evidence=("T-1",), wanted_for=timedelta(seconds=0.5)
)

ALERT = Signal(id="sig_1", source="s", key="k", name="n", state=SignalState.OPEN, at=NOW, since=NOW, heard_at=NOW)
PROOF = MotiveProof(checked=frozenset({Motivation.BUDGET}), signals=(ALERT,), by_address={"aws_x.a": ("sig_1",)})


def made(
    *,
    motive: Motive | None = MOTIVE,
    claims: tuple[StandingClaim, ...] = (),
    sensitive: bool = False,
    judged: Json = None,
    dependants: tuple[Dependant, ...] = (),
) -> Any:
    effect = nouns.effect("aws_x.a", "v", {"hmac_sha256": "ab"} if sensitive else 2, sensitive=sensitive, judged=judged)
    subject = nouns.subject(
        effect,
        "hunter2",
        "hunter2",
        attributes_before={"v": "hunter2"},
        attributes_after={"v": "hunter2"},
        contract=Contract(managed_by_agent=True, critical=True, owner="o"),
        dependants=dependants,
    )
    mutation = Mutation(
        id="mut_1",
        caller=Caller(actor="a", kind=ActorKind.AGENT, key_id="SNTLKEY", roles=("r",)),
        call=Call(service="s", operation="O", parameters={"Password": "hunter2"}),
        call_class=CallClass.MUTATION,
        motive=motive,
        effects=(effect,),
    )
    facts = Facts(
        now=NOW,
        stack="st",
        mode=Mode.OBSERVE,
        subjects=(subject, subject),
        claims=claims,
        flips={"aws_x.a.v": 3},
        held_before=frozenset({"aws_x.a.v"}),
        proof=PROOF,
        account="123456789012",
        group_rules=GroupRules(groups={"aws_x.a": "sg-1"}, rules={"sg-1": ({"from_port": 22},)}),
    )
    return policy_input(mutation, facts)


def test_the_fields_are_those_of_the_readme() -> None:
    given = made()
    assert set(given) == {
        "now_ns",
        "stack",
        "stacks",
        "mode",
        "caller",
        "motive",
        "mutation",
        "security_groups",
        "dependants",
        "claims",
        "flips",
        "signals",
        "cost",
    }
    assert given["security_groups"] == {"of": {"aws_x.a": "sg-1"}, "rules": {"sg-1": [{"from_port": 22}]}}
    assert given["caller"] == {
        "actor": "a",
        "kind": "agent",
        "roles": ["r"],
        "on_behalf_of": "",
        "open_claims": 0,
        "held_before": ["aws_x.a.v"],
    }
    assert given["motive"] == {
        "intent": "cost",
        "motivation": "budget",
        "text": "t",
        "evidence": ["T-1"],
        "wanted_seconds": 1,
        "proven": True,
    }
    assert given["mutation"]["effects"][0] == {
        "address": "aws_x.a", "attribute": "v", "action": "set", "value": 2, "before": "hunter2", "declared_value": "hunter2", "resource_type": "aws_x", "identity": {},
        "declared": True, "implied": False, "by": "", "upserted": False, "basis": "hand", "may_change": [], "may_be": [], "parts": [], "exists": True, "changes": True, "contract": {"managed_by_agent": True, "critical": True, "prevent_delete": False, "owner": "o"},
    }  # fmt: skip
    assert (given["flips"], given["signals"], given["stack"], given["mode"]) == (
        {"aws_x.a.v": 3},
        ["sig_1"],
        "st",
        "observe",
    )


def test_times_are_exact_nanoseconds() -> None:
    assert made()["now_ns"] == 1772355600123456000


def test_secrets_and_keys_are_left_out() -> None:
    text = json.dumps(made(sensitive=True))
    assert "hunter2" not in text
    assert "SNTLKEY" not in text
    assert '{"hmac_sha256": "ab"}' in text


def test_no_motive_is_null() -> None:
    assert made(motive=None)["motive"] is None


def test_claims_with_and_without_motive_and_end() -> None:
    def standing(motive: Motive | None, until: datetime | None, value: Json) -> StandingClaim:
        claim = nouns.claim(
            "aws_x.a", "v", value, actor="b", kind=ActorKind.HUMAN, motive=motive, since=NOW, until=until
        )
        return StandingClaim(claim=claim, relation=Relation.RESOURCE)

    first, second = made(claims=(standing(MOTIVE, NOW + timedelta(hours=1), 1), standing(None, None, None)))["claims"]
    assert first == {
        "id": "clm_1", "address": "aws_x.a", "resource_type": "aws_x", "attribute": "v", "value": 1, "actor": "b", "kind": "human", "intent": "cost", "motivation": "budget", "evidence": ["T-1"], "proven": False,
        "since_ns": 1772355600123456000, "until_ns": 1772359200123456000, "until": "2026-03-01T10:00:00.123456Z", "unsettled": False,
        "relation": "resource",
    }  # fmt: skip
    assert [second[name] for name in ("intent", "motivation", "proven", "evidence", "until_ns", "until")] == [
        None,
        None,
        None,
        [],
        None,
        None,
    ]


def test_a_dependant_of_several_effects_is_shown_once() -> None:
    dependant = Dependant(address="aws_y.b", direct=True, critical=True)
    assert made(dependants=(dependant,))["dependants"] == [{"address": "aws_y.b", "direct": True, "critical": True}]


def test_the_input_is_built_once_for_one_mutation_and_its_facts() -> None:
    effect = nouns.effect("aws_x.a", "v", 2)
    mutation = nouns.mutation(
        effect,
    )
    facts = Facts(now=NOW, stack="st", mode=Mode.ENFORCE, subjects=())
    inputs = PolicyInputs()
    first = inputs.of(mutation, facts)
    assert inputs.of(mutation, facts) is first
    assert first == policy_input(mutation, facts)
    for other in ((mutation, replace(facts, stack="x")), (replace(mutation, id="mut_2"), facts)):
        assert inputs.of(*other) == policy_input(*other)
        assert inputs.of(mutation, facts) == first


def test_the_call_shows_its_account_and_few_parameters() -> None:
    asked = made()["mutation"]
    assert asked["account"] == "123456789012"
    assert asked["parameters"] == {}


def test_a_document_is_judged_as_it_is() -> None:
    (effect, _) = made(sensitive=True, judged='{"Statement":[]}')["mutation"]["effects"]
    assert (effect["value"], effect["before"]) == ('{"Statement":[]}', None)


def shown(service: str, operation: str, **parameters: Any) -> Any:
    return shown_parameters(Call(service=service, operation=operation, parameters=parameters))


def test_what_is_listed_and_given_is_shown_as_json() -> None:
    until = datetime(2120, 1, 1, tzinfo=UTC)
    given = shown("s3", "PutObject", ObjectLockMode="COMPLIANCE", ObjectLockRetainUntilDate=until, Body=b"hunter2")
    assert given == {"ObjectLockMode": "COMPLIANCE", "ObjectLockRetainUntilDate": "2120-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("service", "operation"), [("rds", "ModifyDBInstance"), ("lambda", "Invoke"), ("ssm", "PutParameter"), ("x", "Y")]
)
def test_of_other_operations_nothing_is_shown(service: str, operation: str) -> None:
    assert shown(service, operation, MasterUserPassword="hunter2", Payload=b"hunter2", Value="hunter2") == {}


def test_of_a_restore_only_the_members_are_named() -> None:
    request = {"OutputLocation": {"S3": {"Encryption": {"KMSContext": "hunter2"}}}, "Days": 1}
    assert shown("s3", "RestoreObject", RestoreRequest=request) == {"RestoreRequest": ["Days", "OutputLocation"]}
    assert shown("s3", "RestoreObject", RestoreRequest="odd") == {"RestoreRequest": []}


def test_what_is_null_is_not_shown() -> None:
    assert shown("s3", "PutObject", ObjectLockMode=None) == {}


@pytest.mark.parametrize("name", _SHOWN)
def test_every_row_names_parameters_of_its_operation(name: str) -> None:
    service, operation = name.split(":")
    shape = ServiceModels().shape(service, operation)
    assert shape is not None
    # Rows of S3 share a list of locks, of which each operation has some.
    assert set(_SHOWN[name]) & set(shape.members), name
