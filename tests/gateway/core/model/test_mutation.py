"""Digests are equal only for identical calls; a mutation without effects is not understood."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.mutation import Call, CallClass, EffectAction
from tests.kit import nouns

CALL = Call(service="sqs", operation="DeleteQueue", parameters={"QueueUrl": "u", "N": 1}, account="1", region="r")


@pytest.mark.parametrize(
    "change",
    [
        {"service": "sns"},
        {"operation": "PurgeQueue"},
        {"account": "2"},
        {"region": "s"},
        {"parameters": {"QueueUrl": "u"}},
        {"parameters": {"QueueUrl": "u", "N": "1"}},
        {"parameters": {"QueueUrl": "u", "N": True}},
        {"parameters": {"QueueUrl": "u", "N": 1, "M": None}},
        {"account": "1r", "region": ""},
    ],
)
def test_another_call_has_another_digest(change: dict[str, Any]) -> None:
    assert replace(CALL, **change).digest != CALL.digest


def test_the_order_of_parameters_and_the_wire_protocol_do_not_matter() -> None:
    assert replace(CALL, parameters={"N": 1, "QueueUrl": "u"}).digest == CALL.digest
    assert replace(CALL, protocol="json").digest == CALL.digest


def test_without_effects_it_is_not_understood() -> None:
    effect = nouns.effect("aws_sqs_queue.a", "*", action=EffectAction.DELETE)
    caller = Caller(actor="a", kind=ActorKind.AGENT, key_id="SNTL1")
    mutation = nouns.mutation(caller=caller, call=CALL)
    assert not mutation.understood
    assert replace(mutation, effects=(effect,)).understood


def test_only_reads_secrets_and_key_use_change_no_state() -> None:
    unchanging = {CallClass.READ, CallClass.SECRET, CallClass.CRYPTO}
    assert {call_class for call_class in CallClass if not call_class.changes_state} == unchanging
