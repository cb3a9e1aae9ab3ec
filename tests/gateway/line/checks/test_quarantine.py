"""A quarantined resource is held for everybody but people."""

from typing import Any

import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.model.mutation import Mutation
from gateway.core.model.verdict import Verdict
from gateway.line.checks.quarantine import QuarantineCheck
from tests.kit import nouns
from tests.kit.nouns import effect

UNUSED: Any = None


def _mutation(kind: ActorKind, *addresses: str) -> Mutation:
    return nouns.mutation(
        *(effect(address, "delay_seconds", 1) for address in addresses), caller=nouns.caller("x", kind)
    )


@pytest.mark.parametrize("kind", list(ActorKind))
async def test_people_pass_and_others_are_held(kind: ActorKind) -> None:
    check = QuarantineCheck(lambda address: "It is quarantined." if address == "aws_sqs_queue.a" else "")
    found = (await check.examine(_mutation(kind, "aws_sqs_queue.a", "aws_sqs_queue.b"), UNUSED)).findings
    if kind is ActorKind.HUMAN:
        assert [each.verdict for each in found] == [Verdict.ALLOW]
    else:
        assert [(each.verdict, each.rule, each.address) for each in found] == [
            (Verdict.HOLD, "quarantine.foreign", "aws_sqs_queue.a")
        ]
    passed = (await check.examine(_mutation(kind, "aws_sqs_queue.b"), UNUSED)).findings
    assert [each.verdict for each in passed] == [Verdict.ALLOW]
