"""The published lists of ways to more rights in AWS, sent through classes, bounds and guardrails by every kind of actor.

`tests/cases/policies/escalations.json` names each path's calls and, for each call and kind, what must be said and by which rule.
"Reviewed" is a pipeline that asks for what the Terraform code declares. A path is closed to a kind where one of its calls is.
"""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gateway.aws.models import call_classes
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.contract import Contract
from gateway.core.model.facts import Facts, Subject
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call, Effect, Mutation
from gateway.core.model.verdict import Finding, Mode, Verdict
from gateway.effects.resolver import EffectResolver
from gateway.line.checks.bounds import BoundsCheck
from gateway.line.checks.call_class import CallClassCheck
from gateway.line.checks.policy import GuardrailsCheck
from gateway.policy.bundle import SHIPPED, read_bundle
from gateway.policy.embedded import Embedded
from gateway.policy.sources import shipped
from tests.gateway.effects.conftest import FakeInventory

CASES: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / "cases" / "policies" / "escalations.json").read_text()
)
CALLS: dict[str, dict[str, Any]] = CASES["calls"]
PATHS: list[dict[str, Any]] = CASES["paths"]
KINDS = ("agent", "service", "human", "pipeline", "reviewed")
NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
ACCOUNT = "123456789012"
RANK = (Verdict.ALLOW, Verdict.HOLD, Verdict.DENY)


@pytest.fixture(scope="module")
def engine() -> Iterator[Embedded]:
    running = Embedded(read_bundle(shipped() / SHIPPED), deadline_ms=1000, memory_mb=64)
    yield running
    asyncio.run(running.close())


@pytest.fixture(scope="module")
def resolver() -> EffectResolver:
    return EffectResolver(FakeInventory({}))


async def said(engine: Embedded, resolver: EffectResolver, name: str, kind: str) -> list[Finding]:
    """Every objection to the call, the sternest first."""
    service, operation = name.split(":")
    call = Call(
        service=service,
        operation=operation,
        parameters=CALLS[name]["parameters"],
        account=ACCOUNT,
        region="us-east-1",
    )
    effects = tuple(replace(effect, declared=kind == "reviewed") for effect in resolver.effects(call))
    mutation = Mutation(
        id="mut_1",
        caller=Caller(
            actor="attacker", kind=ActorKind.PIPELINE if kind == "reviewed" else ActorKind(kind), key_id="SNTL"
        ),
        call=call,
        call_class=call_classes.shipped().of(service, operation),
        motive=Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT, text="", evidence=("A-1",)),
        effects=effects,
    )
    subjects = tuple(_subject(effect) for effect in effects)
    facts = Facts(now=NOW, stack="s", mode=Mode.ENFORCE, subjects=subjects, account=ACCOUNT)
    checks = (CallClassCheck(), BoundsCheck(), GuardrailsCheck(engine, engine.packages))
    found = [finding for check in checks for finding in (await check.examine(mutation, facts)).findings]
    objections = [finding for finding in found if finding.verdict is not Verdict.ALLOW]
    return sorted(objections, key=lambda finding: -RANK.index(finding.verdict))


def _subject(effect: Effect) -> Subject:
    return Subject(
        effect=effect, before=None, declared=effect.value if effect.declared else None, attributes_before={},
        attributes_after={}, contract=Contract(), exists=effect.action != "create",
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CALLS)
async def test_each_call(engine: Embedded, resolver: EffectResolver, name: str, kind: str) -> None:
    wanted, *rules = CALLS[name][kind].split()
    objections = await said(engine, resolver, name, kind)
    verdict = objections[0].verdict if objections else Verdict.ALLOW
    assert verdict == wanted
    assert {finding.rule for finding in objections if finding.verdict is verdict} == set(rules)
    assert CALLS[name].get("why") or all(CALLS[name][each] != "allow" for each in KINDS), "what is allowed says why"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "reviewed"])
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path["id"])
def test_each_path_is_closed(path: dict[str, Any], kind: str) -> None:
    assert any(CALLS[name][kind] != "allow" for name in path["calls"])


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path["id"])
def test_a_reviewed_path_says_why_it_is_open(path: dict[str, Any]) -> None:
    opened = all(CALLS[name]["reviewed"] == "allow" for name in path["calls"])
    assert opened == ("reviewed" in path)


def test_the_lists_are_whole() -> None:
    counted = {name: sum(path["list"] == name for path in PATHS) for name in CASES["lists"]}
    assert counted == {name: source["paths"] for name, source in CASES["lists"].items()}
    assert {name for path in PATHS for name in path["calls"]} == set(CALLS)
