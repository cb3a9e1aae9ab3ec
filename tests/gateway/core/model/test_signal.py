"""What a signal is called, and what a proof proves."""

from dataclasses import replace

from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.signal import MOST_REFERENCES, MotiveProof, reference, references_of, scopes_to_json
from tests.kit.history import event

INCIDENT = Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT, evidence=("x",))
CHECKED = frozenset({Motivation.INCIDENT})


def test_the_id_follows_from_source_and_key() -> None:
    assert event("a").id == event("a").id != event("b").id
    assert event("a", source="x").id != event("a", source="y").id


def test_it_is_known_by_key_name_and_references_in_any_case() -> None:
    found = references_of(replace(event("K-1"), name="Lag Ä", references=("HTTPS://X", " ", "k-1")))
    assert {"k-1", "lag ä", "alerts:k-1", "alerts:lag ä", "https://x", event("K-1").id} == set(found)
    assert reference(" K-1 ") == "k-1"
    assert len(references_of(replace(event("a"), references=tuple(map(str, range(99)))))) == MOST_REFERENCES


def test_a_proof_counts_only_where_the_motivation_is_checked() -> None:
    proof = MotiveProof(checked=CHECKED, by_address={"a": ("sig_1",), "b": ()})
    assert [proof.proves(INCIDENT, where) for where in (["a"], ["a", "b"], ["c"], [])] == [True, False, False, False]
    assert proof.proves(None, ["a"]) is None
    assert proof.proves(replace(INCIDENT, motivation=Motivation.ROUTINE), ["a"]) is None
    assert [proof.of_claim(INCIDENT, ids) for ids in (["sig_1"], [])] == [True, False]
    assert MotiveProof().of_claim(INCIDENT, ["sig_1"]) is None


def test_scopes_have_a_json_form() -> None:
    assert scopes_to_json(event("a").scopes) == [{"stack": "shop", "addresses": ["aws_sqs_queue.*"]}]
