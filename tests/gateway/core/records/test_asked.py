"""The questions of a decision in their compact form: small, the same again, and never with a secret."""

import json
import zlib
from hashlib import sha256
from typing import Any

import pytest

from gateway.core.base85 import b85decode
from gateway.core.model.json import canonical, written_once
from gateway.core.model.verdict import Asked
from gateway.core.records.asked import DICTIONARIES, LARGEST, VERSION, LeftOutFor, RecordedAsked
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


@pytest.mark.parametrize("value", [{"b": [1.5, None], "a": "é"}, {"b": 1, "a": 1e300}])
def test_what_is_packed_is_the_canonical_json_whether_a_document_was_written_before_or_not(
    value: dict[str, Any],
) -> None:
    question = Asked(check="policy", entrypoint="x/y", document=value)
    unwritten = RecordedAsked.of([question], judged=value)
    written_once(value)
    assert RecordedAsked.of([question], judged=value) == unwritten
    assert unwritten is not None
    inflate = zlib.decompressobj(wbits=-zlib.MAX_WBITS, zdict=DICTIONARIES[VERSION])
    whole = {"asked": [["policy", "x/y", 0, (), None]], "documents": [value], "judged": value}
    assert inflate.decompress(b85decode(unwritten.packed)) == canonical(whole)


def test_a_usual_decision_takes_a_few_hundred_characters_however_many_checks_ask_about_it() -> None:
    one = len(recorded(QUESTION).packed)
    assert one < 350
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


def test_the_first_version_can_be_written_for_programs_that_know_no_other() -> None:
    first = RecordedAsked.of([QUESTION], version=1)
    assert first is not None
    assert (first.version, first.questions()) == (1, recorded(QUESTION).questions())
    assert len(first.packed) > 1.3 * len(recorded(QUESTION).packed)


def test_a_version_that_nobody_knows_is_no_question() -> None:
    with pytest.raises(ValueError, match="version 9"):
        RecordedAsked(version=9, packed=OLD).questions()


def test_each_dictionary_is_what_it_was() -> None:
    """Of one that changes by a byte, no record can be read any more: write another version."""
    assert {version: sha256(text).hexdigest()[:16] for version, text in DICTIONARIES.items()} == PINNED


PINNED = {1: "b347db545e619917", 2: "acbc99a66b92af61"}


def test_the_first_version_stays_readable() -> None:
    """Records of it are in ledgers: this text was written by the Sentinel that introduced it."""
    old: Any = RecordedAsked(version=1, packed=OLD)
    [question] = old.questions()
    assert question.entrypoint == "sentinel/guardrails/result"
    assert question.document == {"mutation": {"service": "sqs"}, "now_ns": 1}


OLD = "c)P<Wfh(h+sKzLAkxK-G=YWkfC1kGvEd>CU!YOk"
