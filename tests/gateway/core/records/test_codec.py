"""Each stage has one type of body, whose text is canonical JSON, and the document for investigators lists its members."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.errors import LedgerBroken
from gateway.core.model.json import canonical, canonical_text
from gateway.core.model.motive import Intent, Motivation
from gateway.core.records.codec import BODIES, bodies_of, body_of, decode, decode_tolerantly, encode
from gateway.core.records.decided import DecidedBody
from gateway.core.records.motive import RecordedMotive
from gateway.core.records.record import Body, Record, Stage
from gateway.core.records.settled import SettledBody
from gateway.ledger.chain.derive.expected_table import sorted_text
from tests.kit.bodies import sample_body, sample_record
from tests.kit.doubles import NOW

DOCUMENT = Path(__file__).parents[4] / "docs" / "investigators.md"


def test_every_stage_has_a_type_whose_members_the_document_lists() -> None:
    assert set(BODIES) == set(Stage)
    told: dict[str, set[str]] = {}
    stages: list[str] = []
    for line in DOCUMENT.read_text().partition("## What a record holds")[2].splitlines():
        if line.startswith("| "):
            _, first, rest = line.split("|", 2)
            stages = re.findall(r"`(\w+)`", first) or stages
            for stage in stages:
                told.setdefault(stage, set()).update(re.findall(r"`(\w+)`", rest))
    told["broke_glass"] |= told["approved"]
    told["drift_settled"] |= told["reconciled"]
    for stage, body in BODIES.items():
        assert {field.encode_name for field in msgspec.structs.fields(body)} <= told[stage], stage


def test_every_member_of_a_body_is_one_that_json_has() -> None:
    assert all(msgspec.json.schema(body) for body in BODIES.values())


@pytest.mark.parametrize("stage", Stage)
def test_a_body_comes_back_as_it_was_written(stage: Stage) -> None:
    body = sample_body(stage, {})
    text = encode(body)
    assert decode(stage, text) == body
    assert text.encode() == canonical(body.members) == canonical(json.loads(text))


@pytest.mark.parametrize("stage", Stage)
def test_the_text_of_a_body_is_as_python_writes_it(stage: Stage) -> None:
    kinds = {field.encode_name: field.type for field in msgspec.structs.fields(BODIES[stage])}
    members = sample_body(stage, {name: "Größe 😀\u2028\x7f" for name, kind in kinds.items() if kind in (str, Any)})
    plain = json.dumps(members.members, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert encode(members) == plain


@pytest.mark.parametrize(
    ("stage", "text"), [("decided", "{}"), ("decided", "nonsense"), ("settled", '{"outcome":7}'), ("unheard_of", "{}")]
)
def test_a_text_that_is_no_body_of_the_stage_is_an_error(stage: str, text: str) -> None:
    with pytest.raises(LedgerBroken, match=f"of stage {stage}"):
        decode(stage, text)


def test_a_body_that_does_not_fit_is_kept_as_it_stands_and_no_reader_takes_it_for_another() -> None:
    body = decode_tolerantly("decided", '{"call":3,"decision":{"contest":7}}')
    record = Record(at=NOW, body=body, seq=7)
    assert (record.stage, body.members) == (Stage.DECIDED, {"call": 3, "decision": {"contest": 7}})
    with pytest.raises(TypeError, match="The body of record 7 cannot be read"):
        body_of(record, DecidedBody)
    assert list(bodies_of([record], DecidedBody)) == []
    with pytest.raises(TypeError, match="not written"):
        encode(body)


@pytest.mark.parametrize(("stage", "text"), [("unheard_of", "{}"), ("decided", "nonsense"), ("decided", "[]")])
def test_a_text_that_is_no_object_of_a_known_stage_is_an_error(stage: str, text: str) -> None:
    with pytest.raises(LedgerBroken, match=f"of stage {stage}"):
        decode_tolerantly(stage, text)


@pytest.mark.parametrize("stage", Stage)
def test_members_that_a_later_version_added_are_passed_over(stage: Stage) -> None:
    body = sample_body(stage, {})
    text = canonical_text({**body.members, "strange": [1, {"x": None}]})
    assert decode(stage, text) == body


def test_a_body_is_asked_for_by_its_own_type() -> None:
    record = sample_record(stage=Stage.SETTLED, at=NOW, body={"outcome": "applied"})
    assert body_of(record, SettledBody).outcome == "applied"
    with pytest.raises(TypeError, match="is of stage settled, not decided"):
        body_of(record, DecidedBody)


def test_a_member_with_its_default_is_absent() -> None:
    body: Body = SettledBody(outcome="failed", sent=None, reason="")
    assert body.members == {"outcome": "failed", "sent": None, "reason": ""}


_TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(_TEXTS, st.lists(_TEXTS).map(tuple), st.integers(0, 2**63 - 1) | st.none())
def test_the_quick_text_of_a_part_is_its_canonical_text(
    text: str, evidence: tuple[str, ...], seconds: int | None
) -> None:
    motive = RecordedMotive(
        intent=Intent.COST, motivation=Motivation.BUDGET, text=text, evidence=evidence, wanted_seconds=seconds
    )
    assert sorted_text(motive).encode() == canonical(msgspec.to_builtins(motive))
