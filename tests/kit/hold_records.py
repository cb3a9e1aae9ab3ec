"""Records of a held change, as the ledger returns them, for tests that need no gateway."""

from dataclasses import replace
from typing import Any

import msgspec

from gateway.core.records.decided import RecordedEffect
from gateway.core.records.record import Record, Stage
from tests.kit.bodies import sample_record
from tests.kit.doubles import NOW

HELD = "mut_01m7xz6hz9jtmrenb3s98tt6vc"


def effect(address: str = "aws_sqs_queue.jobs", attribute: str = "delay_seconds", **more: Any) -> dict[str, Any]:
    """An effect as records hold it."""
    return {
        "address": address,
        "attribute": attribute,
        "action": "set",
        "value": 9,
        "before": 0,
        "declared": 0,
        "changes": True,
        "resource_type": address.split(".", maxsplit=1)[0],
        "identity": {},
        "in_code": True,
        "sensitive": False,
        "implied": False,
        **more,
    }


def recorded_effect(
    address: str = "aws_sqs_queue.jobs", attribute: str = "delay_seconds", **more: Any
) -> RecordedEffect[Any]:
    """The same as notices read it."""
    return msgspec.convert(effect(address, attribute, **more), RecordedEffect)


def held_record(*effects: dict[str, Any], seq: int = 7, **changes: Any) -> Record:
    """The DECIDED record of a held call; `changes` are members of its body."""
    finding = {"check": "policy", "verdict": "hold", "rule": "guardrail.wide", "reason": "A person must see it."}
    body: dict[str, Any] = {
        "caller": {"kind": "agent", "key_id": "SNTL0", "roles": [], "on_behalf_of": "alice"},
        "call": {
            "service": "sqs",
            "operation": "SetQueueAttributes",
            "account": "111122223333",
            "region": "eu-west-1",
            "parameters": {"QueueUrl": "https://q"},
            "whole": True,
        },
        "motive": {"intent": "availability", "motivation": "incident", "text": "lag grows", "evidence": ["A-1"]},
        "effects": list(effects or (effect(),)),
        "decision": {
            "verdict": "hold",
            "carried_out": False,
            "mode": "enforce",
            "findings": [
                {**finding, "address": "aws_sqs_queue.jobs", "attribute": "delay_seconds", "source": "x.rego:3"}
            ],
            "supersedes": ["clm_1"],
        },
        "facts": {"dependants": ["aws_lambda_function.worker"]},
        **changes,
    }
    return _record(Stage.DECIDED, body, seq=seq)


def record(stage: Stage, body: dict[str, Any], **members: Any) -> Record:
    """A record of another stage."""
    return replace(_record(stage, body, seq=8), **members)


def _record(stage: Stage, body: dict[str, Any], *, seq: int) -> Record:
    return sample_record(
        stage=stage,
        at=NOW,
        mutation_id=HELD,
        actor="agent-1",
        stack="shop",
        body=body,
        seq=seq,
        hash=f"{seq:064x}"[::-1],
    )
