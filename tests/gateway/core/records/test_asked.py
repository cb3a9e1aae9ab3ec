"""The questions of a decision in their compact form: small, the same again, and never with a secret."""

import json
from typing import Any

from gateway.core.model.verdict import Asked
from gateway.core.records.asked import LARGEST, VERSION, LeftOutFor, RecordedAsked
from gateway.line.checks.policy_input import policy_input
from tests.kit.nouns import effect, facts, mutation, subject

EXAMPLE = effect(value=5)
DOCUMENT = policy_input(mutation(EXAMPLE), facts(subject(EXAMPLE)))
QUESTION = Asked(check="policy", entrypoint="sentinel/guardrails/result", document=DOCUMENT)


def recorded(*asked: Asked) -> RecordedAsked:
    """Their form."""
    form = RecordedAsked.of(asked)
    assert form is not None
    return form


def test_questions_come_back_as_they_were() -> None:
    other = Asked(
        check="policy", entrypoint="x/y", document={"é": [1.5, None, True]}, lifted=("a b",), untold=(("a", "b"),)
    )
    form = recorded(QUESTION, other)
    assert form.version == VERSION
    first, second = form.questions()
    assert first.document == json.loads(json.dumps(DOCUMENT))
    assert second == other


def test_a_usual_decision_takes_a_few_hundred_characters_however_many_checks_ask_about_it() -> None:
    one = len(recorded(QUESTION).packed)
    assert one < 500
    both = recorded(QUESTION, Asked(check="arbitration", entrypoint="sentinel/arbitration/result", document=DOCUMENT))
    assert len(both.packed) < one + 60


def test_what_is_too_large_or_decided_by_a_secret_is_left_out_with_its_reason() -> None:
    noise = [f"{number * 7919 % 104729:x}" for number in range(9000)]
    for large in ({"noise": noise}, {"long": "x" * 300_000}):
        form = recorded(Asked(check="policy", entrypoint="x", document=large))
        assert form == RecordedAsked(left_out=LeftOutFor.SIZE)
    inexact = Asked(check="policy", entrypoint="x", document=DOCUMENT, exact=False)
    assert recorded(QUESTION, inexact) == RecordedAsked(left_out=LeftOutFor.SECRET)
    assert RecordedAsked.of(()) is None
    assert LARGEST < 4096


def test_the_first_version_stays_readable() -> None:
    """Records of it are in ledgers: this text was written by the Sentinel that introduced it."""
    old: Any = RecordedAsked(version=1, packed=OLD)
    [question] = old.questions()
    assert question.entrypoint == "sentinel/guardrails/result"
    assert question.document == {"mutation": {"service": "sqs"}, "now_ns": 1}


OLD = "c)P<Wfh(h+sKzLAkxK-G=YWkfC1kGvEd>CU!YOk"
