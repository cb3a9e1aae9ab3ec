"""The published lists of ways to more rights in AWS, sent through classes, bounds and guardrails by every kind of actor.

`tests/cases/policies/escalations.json` names each path's calls and, for each call and kind, what must be said and by which rule.
"Reviewed" is a pipeline that asks for what the Terraform code declares. A path is closed to a kind where one of its calls is.
"""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
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
from gateway.line.checks.derived_rows import DerivedRowsCheck
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
    classes = call_classes.shipped()
    return EffectResolver(
        FakeInventory({}),
        class_of=lambda call: call_classes.class_of_call(call, classes.of(call.service, call.operation)),
    )


async def said(
    engine: Embedded, resolver: EffectResolver, name: str, kind: str, parameters: dict[str, Any] | None = None
) -> list[Finding]:
    """Every objection to the call, the sternest first."""
    service, operation = name.split(":")
    call = Call(
        service=service,
        operation=operation,
        parameters=CALLS[name]["parameters"] if parameters is None else parameters,
        account=ACCOUNT,
        region="us-east-1",
    )
    found = resolver.explain(call)
    effects = tuple(replace(effect, declared=kind == "reviewed") for effect in found.effects)
    inner = tuple(
        replace(each, effects=tuple(replace(effect, declared=kind == "reviewed") for effect in each.effects))
        for each in found.inner
    )
    mutation = Mutation(
        id="mut_1",
        caller=Caller(
            actor="attacker", kind=ActorKind.PIPELINE if kind == "reviewed" else ActorKind(kind), key_id="SNTL"
        ),
        call=call,
        call_class=call_classes.shipped().of(service, operation),
        motive=Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT, text="", evidence=("A-1",)),
        effects=effects,
        inner=inner,
        not_understood=found.not_understood,
    )
    subjects = tuple(_subject(effect) for effect in effects)
    facts = Facts(now=NOW, stack="s", mode=Mode.ENFORCE, subjects=subjects, account=ACCOUNT)
    checks = (CallClassCheck(), BoundsCheck(), DerivedRowsCheck(), GuardrailsCheck(engine, engine.packages))
    findings = [finding for check in checks for finding in (await check.examine(mutation, facts)).findings]
    objections = [finding for finding in findings if finding.verdict is not Verdict.ALLOW]
    return sorted(objections, key=lambda finding: -RANK.index(finding.verdict))


def _subject(effect: Effect) -> Subject:
    return Subject(
        effect=effect, before=None, declared=effect.value if effect.declared else None, attributes_before={},
        attributes_after={}, contract=Contract(), exists=effect.action != "create",
    )  # fmt: skip


async def test_each_call(engine: Embedded, resolver: EffectResolver) -> None:
    wrong = []
    for name, kind in product(CALLS, KINDS):
        wanted, *rules = CALLS[name][kind].split()
        objections = await said(engine, resolver, name, kind)
        verdict = objections[0].verdict if objections else Verdict.ALLOW
        found = {finding.rule for finding in objections if finding.verdict is verdict}
        wrong += [(name, kind, verdict, found)] if (verdict, found) != (wanted, set(rules)) else []
    assert wrong == [], "\n".join(map(str, wrong))


def test_what_is_allowed_says_why() -> None:
    allowed = [name for name, call in CALLS.items() if any(call[each] == "allow" for each in KINDS)]
    assert [name for name in allowed if not CALLS[name].get("why")] == []


def _scheduled(service: str, operation: str, parameters: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A schedule that makes the call."""
    sdk = {"stepfunctions": "sfn", "events": "eventbridge", "logs": "cloudwatchlogs"}.get(
        service, service.replace("-", "")
    )
    arn = f"arn:aws:scheduler:::aws-sdk:{sdk}:{operation[0].lower()}{operation[1:]}"
    given = {name[0].upper() + name[1:]: value for name, value in parameters.items()}
    target = {"Arn": arn, "RoleArn": f"arn:aws:iam::{ACCOUNT}:role/r", "Input": json.dumps(given)}
    window = {"Mode": "OFF"}
    every = {"Name": "n", "GroupName": "g", "ScheduleExpression": "rate(1 day)", "FlexibleTimeWindow": window}
    return "scheduler:CreateSchedule", {**every, "Target": target}


def _in_a_machine(service: str, operation: str, parameters: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A state machine that makes the call."""
    _, schedule = _scheduled(service, operation, parameters)
    resource = schedule["Target"]["Arn"].replace(":scheduler:", ":states:")
    task = {"Type": "Task", "Resource": resource, "Parameters": json.loads(schedule["Target"]["Input"]), "End": True}
    definition = json.dumps({"StartAt": "A", "States": {"A": task}})
    role = schedule["Target"]["RoleArn"]
    return "stepfunctions:CreateStateMachine", {"name": "m", "definition": definition, "roleArn": role}


def _in_a_document(service: str, operation: str, parameters: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A document whose automation makes the call, with the rights of the outer call."""
    inputs = {"Service": service, "Api": operation, **parameters}
    step = {"name": "s", "action": "aws:executeAwsApi", "inputs": inputs}
    content = json.dumps({"schemaVersion": "0.3", "mainSteps": [step]})
    return "ssm:CreateDocument", {"Name": "d", "DocumentType": "Automation", "Content": content}


@pytest.mark.slow
@pytest.mark.parametrize("by", [_scheduled, _in_a_machine, _in_a_document])
async def test_no_call_is_judged_more_mildly_by_proxy(engine: Embedded, resolver: EffectResolver, by: Any) -> None:
    wrong = []
    for name, kind in product(CALLS, KINDS):
        outer, parameters = by(*name.split(":"), CALLS[name]["parameters"])
        by_proxy = await said(engine, resolver, outer, kind, parameters)
        sternest = RANK.index(by_proxy[0].verdict) if by_proxy else 0
        # `test_each_call` shows that this is the verdict on the call itself.
        directly = RANK.index(Verdict(CALLS[name][kind].split()[0]))
        wrong += [(name, kind, sternest)] if sternest < directly or (kind == "agent" and not sternest) else []
    assert wrong == [], "\n".join(map(str, wrong))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "reviewed"])
def test_each_path_is_closed(kind: str) -> None:
    assert [path["id"] for path in PATHS if all(CALLS[name][kind] == "allow" for name in path["calls"])] == []


def test_a_reviewed_path_says_why_it_is_open() -> None:
    opened = {path["id"] for path in PATHS if all(CALLS[name]["reviewed"] == "allow" for name in path["calls"])}
    assert opened == {path["id"] for path in PATHS if "reviewed" in path}


def test_the_lists_are_whole() -> None:
    counted = {name: sum(path["list"] == name for path in PATHS) for name in CASES["lists"]}
    assert counted == {name: source["paths"] for name, source in CASES["lists"].items()}
    assert {name for path in PATHS for name in path["calls"]} == set(CALLS)
