"""The record of a call that was not carried out has a limited size, whatever the call, and still says who, what and why."""

import json
from dataclasses import replace
from typing import Any

import pytest

from gateway.ledger.serialize import canonical_text
from gateway.ledger.summary import MAX_DENIED, MAX_HELD, refused_body
from gateway.model.verdict import Verdict


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


def _body(effects: list[Any], findings: list[Any], **parameters: Any) -> dict[str, Any]:
    return {
        "caller": {"kind": "agent", "key_id": "SNTLA", "roles": [], "on_behalf_of": ""},
        "call": {"service": "sqs", "operation": "SetQueueAttributes", "parameters": parameters, "digest": "d"},
        "motive": {"intent": "cost", "motivation": "routine", "text": "t" * 1000, "evidence": ["e" * 200] * 10},
        "effects": effects,
        "decision": {"verdict": "deny", "findings": findings, "supersedes": [], "binding": None},
        "claims": [],
    }


HUGE = "x" * 100_000
LARGE: dict[str, dict[str, Any]] = {
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
    "long parameters": _body([_effect(1)], [_finding()], Body=HUGE, **{f"P{n}": n for n in range(1000)}),
    "everything": _body([_effect(n, HUGE) for n in range(100)], [_finding(reason=HUGE)] * 100, Body=HUGE),
}


@pytest.mark.parametrize("case", LARGE)
def test_a_denied_call_stores_no_more_than_the_limit(case: str) -> None:
    body = LARGE[case]
    kept: Any = refused_body(body, Verdict.DENY)
    assert len(canonical_text(body)) > MAX_DENIED >= len(canonical_text(kept))
    assert kept["caller"] == body["caller"]
    assert kept["motive"] == body["motive"]
    assert kept["call"]["digest"] == "d"
    assert kept["cut"]["effects"] == max(0, len(body["effects"]) - len(kept["effects"]))
    assert kept["cut"]["findings"] == max(0, len(body["decision"]["findings"]) - len(kept["decision"]["findings"]))
    assert all(effect["value"] is None for effect in kept["effects"])


@pytest.mark.parametrize("case", LARGE)
def test_a_held_call_keeps_what_the_approver_reads(case: str) -> None:
    body = LARGE[case]
    kept: Any = refused_body(body, Verdict.HOLD)
    assert kept["call"] == body["call"]
    assert len(canonical_text({**kept, "call": {}})) <= MAX_HELD


@pytest.mark.parametrize("verdict", [Verdict.DENY, Verdict.HOLD])
def test_a_small_call_is_kept_whole(verdict: Verdict) -> None:
    body = _body([_effect(1, "x" * 5000)], [_finding()])
    assert refused_body(body, verdict) is body


def test_the_objections_are_what_is_kept_of_the_findings() -> None:
    findings = [_finding("allow", reason=HUGE)] * 50 + [_finding("hold", "Ask.")] * 3 + [_finding("deny", "No.")] * 3
    kept: Any = refused_body(_body([_effect(1)], findings), Verdict.DENY)
    assert [finding["verdict"] for finding in kept["decision"]["findings"]][:7] == ["deny"] * 3 + ["hold"] * 3 + [
        "allow"
    ]


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
