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


def test_what_a_program_invents_for_an_attempt_does_not_matter() -> None:
    """Terraform's provider sends another token and another generated name at each apply."""
    one, two = (
        replace(
            CALL,
            parameters={"QueueUrl": "u", "Token": f"t{number}", "Name": f"jobs-{number}", "N": 1},
            tokens=("Token",),
            generated={f"jobs-{number}": "aws_sqs_queue.jobs"},
        )
        for number in (1, 2)
    )
    assert one.digest == two.digest
    assert one.exact_digest != two.exact_digest
    assert [set(each.token_values) for each in (one, two)] == [{"t1"}, {"t2"}]
    assert replace(two, generated={"jobs-2": "aws_sqs_queue.other"}).digest != one.digest
    assert replace(two, parameters={**two.parameters, "N": 2}).digest != one.digest
    assert replace(two, tokens=()).digest != one.digest


def test_without_effects_it_is_not_understood() -> None:
    effect = nouns.effect("aws_sqs_queue.a", "*", action=EffectAction.DELETE)
    caller = Caller(actor="a", kind=ActorKind.AGENT, key_id="SNTL1")
    mutation = nouns.mutation(caller=caller, call=CALL)
    assert not mutation.understood
    assert replace(mutation, effects=(effect,)).understood


def test_only_reads_secrets_and_key_use_change_no_state() -> None:
    unchanging = {CallClass.READ, CallClass.SECRET, CallClass.CRYPTO}
    assert {call_class for call_class in CallClass if not call_class.changes_state} == unchanging
