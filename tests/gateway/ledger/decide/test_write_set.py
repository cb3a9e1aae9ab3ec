"""What a decision stores: its claims, and a record that holds the call whole unless it is denied."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from msgspec import structs

from gateway.core.model.caller import ActorKind
from gateway.core.model.json import canonical_text
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.verdict import Verdict
from gateway.core.records.codec import encode
from gateway.core.records.decided import DecidedBody
from gateway.core.records.record import Stage
from gateway.ledger.decide.write_set import MAX_DENIED, MAX_HELD, MAX_HELD_PLAN, refused_body, write_set
from tests.kit import nouns
from tests.kit.bodies import sample_body
from tests.kit.growth import assert_linear


def test_of_two_effects_on_one_attribute_the_last_is_claimed(scene: Any) -> None:
    first, last = scene.mutation(5), scene.mutation(6)
    change = replace(first, effects=first.effects + last.effects)
    [claim] = write_set(change, scene.facts(change), scene.decision()).claims
    assert claim.value == 6


def test_effects_without_facts_count_as_changes(scene: Any) -> None:
    change = scene.mutation()
    facts = replace(scene.facts(change), subjects=())
    write = write_set(change, facts, scene.decision())
    assert len(write.claims) == 1
    body: Any = write.record.body.members
    assert body["effects"][0]["changes"] is True


def test_a_denial_takes_no_claims(scene: Any) -> None:
    change = scene.mutation()
    assert write_set(change, scene.facts(change), scene.decision(Verdict.DENY)).claims == ()


def test_a_denied_call_is_kept_in_few_characters_and_a_held_one_whole(scene: Any) -> None:
    change = scene.mutation("x" * 20_000)
    denied: Any = write_set(change, scene.facts(change), scene.decision(Verdict.DENY)).record.body.members
    held: Any = write_set(change, scene.facts(change), scene.decision(Verdict.HOLD)).record.body.members
    assert (denied["call"]["whole"], held["call"]["whole"]) == (False, True)
    assert held["call"]["parameters"] == {"Value": "x" * 20_000}
    assert len(str(denied["call"])) < 1_000


def test_the_work_of_recording_grows_with_the_number_of_effects(scene: Any) -> None:
    def write(size: int) -> Callable[[], object]:
        change = scene.mutation()
        effects = tuple(replace(change.effects[0], attribute=f"a{number}") for number in range(size))
        many = replace(change, effects=effects)
        facts = scene.facts(many)
        return lambda: write_set(many, facts, scene.decision())

    assert_linear(write, 50)


def _effect(number: int, value: Any = "v") -> dict[str, Any]:
    return {
        "address": f"aws_sqs_queue.q{number}",
        "attribute": "delay",
        "action": "set",
        "value": value,
        "before": value,
        "declared": value,
        "identity": {"name": "q"},
        "changes": True,
    }


def _finding(verdict: str = "deny", reason: str = "Because.", offer: Any = None) -> dict[str, Any]:
    return {"check": "bounds", "verdict": verdict, "rule": "bounds.max", "reason": reason, "offer": offer}


def _body(
    effects: list[Any], findings: list[Any], *, verdict: str = "deny", parameters: Mapping[str, Any] | None = None
) -> DecidedBody[Any]:
    members = {
        "caller": {"kind": "agent", "key_id": "SNTLA", "roles": [], "on_behalf_of": ""},
        "call": {"service": "sqs", "operation": "SetQueueAttributes", "parameters": parameters or {}, "digest": "d"},
        "motive": {"intent": "cost", "motivation": "routine", "text": "t" * 1000, "evidence": ["e" * 200] * 10},
        "effects": effects,
        "decision": {"verdict": verdict, "findings": findings, "supersedes": [], "binding": None},
        "claims": [],
    }
    body: Any = sample_body(Stage.DECIDED, members)
    return body  # type: ignore[no-any-return]  # the body of this stage


def _held(body: DecidedBody[Any]) -> DecidedBody[Any]:
    return structs.replace(body, decision=structs.replace(body.decision, verdict=Verdict.HOLD))


HUGE = "x" * 100_000
LARGE: dict[str, DecidedBody[Any]] = {
    "a long value": _body([_effect(1, HUGE)], [_finding()]),
    "a long list, three times in each effect": _body(
        [_effect(n, ["10.0.0.0/8"] * 500) for n in range(40)], [_finding()]
    ),
    "very many effects": _body([_effect(n) for n in range(1000)], [_finding()]),
    "very many findings": _body([_effect(1)], [_finding(reason=f"No {n}.") for n in range(1000)]),
    "a long reason": _body([_effect(1)], [_finding(reason=HUGE)]),
    "a long offer": _body([_effect(1)], [_finding(offer={"nearest": [HUGE]})]),
    "a long address": _body([{**_effect(1), "address": f"aws_sqs_queue{{{HUGE}}}"}], [_finding()]),
    "a long identity": _body([{**_effect(1), "identity": {HUGE: HUGE}}], [_finding()]),
    "a long attribute": _body([{**_effect(1), "attribute": HUGE}], [_finding()]),
    "long parameters": _body(
        [_effect(1)], [_finding()], parameters={"Body": HUGE, **{f"P{n}": n for n in range(1000)}}
    ),
    "everything": _body(
        [_effect(n, HUGE) for n in range(100)], [_finding(reason=HUGE)] * 100, parameters={"Body": HUGE}
    ),
}


@pytest.mark.parametrize("case", LARGE)
def test_a_denied_call_stores_no_more_than_the_limit(case: str) -> None:
    body = LARGE[case]
    kept = refused_body(body)
    assert len(encode(body)) > MAX_DENIED >= len(encode(kept))
    assert kept.caller == body.caller
    assert kept.motive == body.motive
    assert kept.call.digest == "d"
    assert kept.cut is not None
    assert kept.cut.effects == max(0, len(body.effects) - len(kept.effects))
    assert kept.cut.findings == max(0, len(body.decision.findings) - len(kept.decision.findings))
    assert all(effect.value is None for effect in kept.effects)


@pytest.mark.parametrize("case", LARGE)
def test_a_held_call_keeps_what_the_approver_reads(case: str) -> None:
    body = _held(LARGE[case])
    kept = refused_body(body)
    assert kept.call == body.call
    assert len(canonical_text({**kept.members, "call": {}})) <= MAX_HELD


def _plan(kind: ActorKind, effects: list[Any]) -> DecidedBody[Any]:
    body = _held(_body(effects, [_finding("hold")], parameters={"plan": "d"}))
    call = structs.replace(body.call, service="terraform", operation="apply")
    return structs.replace(body, call=call, caller=structs.replace(body.caller, kind=kind))


def test_a_held_plan_is_kept_whole_so_that_it_can_be_approved_except_an_agents() -> None:
    many = [_effect(n, "v" * 100) for n in range(1000)]
    by_pipeline, by_agent = _plan(ActorKind.PIPELINE, many), _plan(ActorKind.AGENT, many)
    assert len(encode(by_pipeline)) > MAX_HELD
    assert refused_body(by_pipeline) is by_pipeline
    assert len(encode(refused_body(by_agent))) <= MAX_HELD
    beyond = _plan(ActorKind.PIPELINE, [_effect(n, HUGE) for n in range(10)])
    assert len(encode(beyond)) > MAX_HELD_PLAN > MAX_HELD >= len(encode(refused_body(beyond)))


@pytest.mark.parametrize("verdict", [Verdict.DENY, Verdict.HOLD])
def test_a_small_call_is_kept_whole(verdict: Verdict) -> None:
    body = _body([_effect(1, "x" * 5000)], [_finding()], verdict=verdict.value)
    assert refused_body(body) is body


def test_the_objections_are_what_is_kept_of_the_findings() -> None:
    findings = [_finding("allow", reason=HUGE)] * 50 + [_finding("hold", "Ask.")] * 3 + [_finding("deny", "No.")] * 3
    kept = refused_body(_body([_effect(1)], findings))
    assert [finding.verdict for finding in kept.decision.findings][:7] == ["deny"] * 3 + ["hold"] * 3 + ["allow"]


async def test_a_denied_call_of_64_kilobytes_stores_less_than_it_had(scene: Any) -> None:
    change = scene.mutation(["10.0.0.0/8"] * 5000)
    findings = scene.decision(Verdict.DENY)
    await scene.ledger.record_decision(change, scene.facts(change), findings)
    rows = await scene.ledger.read(lambda session: session._driver.execute("SELECT body FROM records").fetchall())
    assert len(rows[-1][0]) <= MAX_DENIED
    assert json.loads(rows[-1][0])["cut"] == {"effects": 0, "findings": 0}
    assert await scene.ledger.verify() == len(rows)


async def test_the_records_resources_are_those_it_holds(scene: Any) -> None:
    change = scene.mutation()
    many = tuple(replace(change.effects[0], attribute=f"a{number}" + "b" * 100) for number in range(1000))
    change = replace(change, effects=many)
    await scene.ledger.record_decision(change, scene.facts(change), scene.decision(Verdict.DENY))
    count = await scene.ledger.read(
        lambda session: session._driver.execute("SELECT count(*) FROM record_resources").fetchone()[0]
    )
    assert 0 < count <= 20


@pytest.mark.parametrize(
    ("kind", "motivation", "wanted_for", "ends_with_outcome"),
    [
        (ActorKind.PIPELINE, Motivation.ROUTINE, None, True),
        (ActorKind.PIPELINE, Motivation.ROUTINE, timedelta(minutes=5), False),
        (ActorKind.PIPELINE, Motivation.LAUNCH, None, False),
        (ActorKind.AGENT, Motivation.ROUTINE, None, False),
    ],
)
def test_the_claims_of_a_routine_apply_end_with_the_outcome(
    kind: ActorKind, motivation: Motivation, wanted_for: timedelta | None, ends_with_outcome: bool
) -> None:
    motive = Motive(intent=Intent.CONSISTENCY, motivation=motivation, wanted_for=wanted_for)
    effect = nouns.effect(value=9)
    mutation = nouns.mutation(effect, caller=nouns.caller("ci", kind), motive=motive)
    facts = nouns.facts(*nouns.subjects([effect], 4))
    [claim] = write_set(mutation, facts, nouns.decision(obligations={"claim_seconds": 3600})).claims
    assert claim.until is not None
    assert (claim.until - facts.now < timedelta(seconds=1)) == ends_with_outcome
