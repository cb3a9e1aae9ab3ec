"""The nouns of the line with usual members: a test names only the members that it is about."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from gateway.core.model.approval import Binding
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.claim import Claim
from gateway.core.model.contract import Contract
from gateway.core.model.facts import Facts, Subject
from gateway.core.model.ids import new_id
from gateway.core.model.json import Json
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call, CallClass, Effect, EffectAction, Mutation
from gateway.core.model.outcome import Applied, Reply
from gateway.core.model.time_box import TimeBoxPart
from gateway.core.model.verdict import Decision, Finding, Mode, Verdict
from gateway.terraform.address import type_of_named

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
QUEUE = "aws_sqs_queue.orders"
INCIDENT = Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT, text="lag grows", evidence=("A-1",))
BUDGET = Motive(intent=Intent.COST, motivation=Motivation.BUDGET)
ROUTINE = Motive(intent=Intent.CONSISTENCY, motivation=Motivation.ROUTINE)
APPLIED = Applied(reply=Reply(status=200, headers=(), body=b"<ok/>"), request_id="r-1")
BOUND = Binding(
    caller="c", motive="m", effects="e", code="t", bundle="b", reasons=("bounds.max",), contests=(), approvers="a"
)
"""The binding of a hold that no check was asked about."""


def caller(actor: str = "agent", kind: ActorKind = ActorKind.AGENT, *roles: str, **members: Any) -> Caller:
    """An agent without roles."""
    return Caller(actor=actor, kind=kind, roles=roles, **{"key_id": f"SNTL{actor.upper()}", **members})


def approver(actor: str = "alice", *roles: str) -> Caller:
    """A human who may approve."""
    return caller(actor, ActorKind.HUMAN, "approver", *roles)


def effect(address: str = QUEUE, attribute: str = "delay_seconds", value: Json = None, **members: Any) -> Effect:
    """A declared resource's attribute is set."""
    usual: dict[str, Any] = {"action": EffectAction.SET, "resource_type": type_of_named(address)}
    return Effect(address=address, attribute=attribute, value=value, **(usual | members))


def mutation(*effects: Effect, **members: Any) -> Mutation:
    """A call of an agent without a motive. Each has an id of its own."""
    usual: dict[str, Any] = {
        "id": new_id("mut"),
        "caller": caller(),
        "call": Call(service="sqs", operation="SetQueueAttributes"),
        "call_class": CallClass.MUTATION,
        "motive": None,
        "effects": effects,
    }
    return Mutation(**(usual | members))


def subject(of: Effect, before: Json = None, declared: Json = None, **members: Any) -> Subject:
    """An effect on a resource of which nothing else is known, without a contract."""
    usual: dict[str, Any] = {"attributes_before": {}, "attributes_after": {}, "contract": Contract()}
    return Subject(effect=of, before=before, declared=declared, **(usual | members))


def subjects(effects: Iterable[Effect], value: Json = 4) -> tuple[Subject, ...]:
    """The effects on attributes that all are declared with one value and have it."""
    return tuple(subject(each, value, value) for each in effects)


def facts(*about: Subject, **members: Any) -> Facts:
    """Facts of a stack that enforces, at `NOW`."""
    usual: dict[str, Any] = {"now": NOW, "stack": "shop", "mode": Mode.ENFORCE, "subjects": about}
    return Facts(**(usual | members))


def finding(verdict: Verdict = Verdict.ALLOW, rule: str = "SEN-1", reason: str = "Because.", **members: Any) -> Finding:
    """What the check of policies says."""
    return Finding(verdict=verdict, rule=rule, reason=reason, **({"check": "policy"} | members))


def decision(verdict: Verdict = Verdict.ALLOW, **members: Any) -> Decision:
    """A decision of one finding."""
    usual: dict[str, Any] = {"findings": (finding(verdict),), "binding": BOUND}
    return Decision(**(usual | members))


def claim(address: str = QUEUE, attribute: str = "delay_seconds", value: Json = 6, **members: Any) -> Claim:
    """An open claim of an agent, without a time limit."""
    usual: dict[str, Any] = {
        "id": "clm_1",
        "mutation_id": "mut_1",
        "actor": "agent",
        "kind": ActorKind.AGENT,
        "motive": None,
        "since": NOW,
    }
    return Claim(address=address, attribute=attribute, value=value, **(usual | members))


def time_box_part(**members: Any) -> TimeBoxPart:
    """An attribute that an agent set for a time that is over."""
    usual: dict[str, Any] = {
        "mutation_id": "mut_1",
        "address": QUEUE,
        "attribute": "delay_seconds",
        "value": 6,
        "base": 4,
        "root": "mut_1",
        "actor": "agent",
        "stack": "shop",
        "since": NOW,
        "until": NOW,
    }
    return TimeBoxPart(**(usual | members))
