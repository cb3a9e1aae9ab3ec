"""Each stage has one type of body, whose text is canonical JSON, and the ledger's README names it."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.errors import LedgerBroken
from gateway.core.model.json import canonical
from gateway.core.model.motive import Intent, Motivation
from gateway.core.records.codec import BODIES, body_of, decode, encode
from gateway.core.records.decided import DecidedBody
from gateway.core.records.motive import RecordedMotive
from gateway.core.records.record import Body, Stage
from gateway.core.records.settled import SettledBody
from gateway.ledger.chain.derive.expected_table import sorted_text
from tests.kit.bodies import sample_body, sample_record
from tests.kit.doubles import NOW

README = Path(__file__).parents[4] / "gateway" / "ledger" / "README.md"


def test_every_stage_has_a_type_which_the_readme_names() -> None:
    assert set(BODIES) == set(Stage)
    text = README.read_text()
    for stage, body in BODIES.items():
        says = (body.__doc__ or "").partition("\n")[0]
        file = f"{body.__module__.rpartition('.')[2]}.py"
        assert f"| `{stage.value}` | `{body.__name__}` | `{file}` | {says} |" in text


def test_every_member_of_a_body_is_one_that_json_has() -> None:
    assert all(msgspec.json.schema(body) for body in BODIES.values())


@pytest.mark.parametrize("stage", Stage)
def test_a_body_comes_back_as_it_was_written(stage: Stage) -> None:
    body = sample_body(stage, {})
    text = encode(body)
    assert decode(stage, text) == body
    assert text.encode() == canonical(body.members) == canonical(json.loads(text))


@pytest.mark.parametrize(
    ("stage", "text"), [("decided", "{}"), ("decided", "nonsense"), ("settled", '{"outcome":7}'), ("unheard_of", "{}")]
)
def test_a_text_that_is_no_body_of_the_stage_is_an_error(stage: str, text: str) -> None:
    with pytest.raises(LedgerBroken, match=f"of stage {stage}"):
        decode(stage, text)


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
