"""Proposals are stored, shown and accepted; an accepted row is in a file under review, and only then in force."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.core.derived_rows import AttributeSource, Confidence, DerivedRow, Origin, derived_rows, file_text
from gateway.core.errors import NotFound, SettingsInvalid
from gateway.core.model.mutation import Call, EffectAction
from gateway.effects.learned_rows import accept, check_learned, learned_rows
from gateway.effects.learning import RowProposal
from gateway.effects.proposals import Proposals
from gateway.effects.resolver import EffectResolver
from tests.gateway.effects.conftest import FakeInventory

ROW = DerivedRow(
    service="braket",
    operation="ResizeJob",
    resource_type="aws_sqs_queue",
    actions=frozenset({EffectAction.SET}),
    origin=Origin.LEARNED,
    confidence=Confidence.ATTRIBUTES,
    identity={"QueueName": AttributeSource(attribute="name")},
    attributes={"Delay": AttributeSource(attribute="delay_seconds")},
)
PROPOSAL = RowProposal(row=ROW, mutations=("mut_1",), evidence=("It fits.",))
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def test_a_proposal_is_stored_once_and_grows_with_evidence(tmp_path: Path) -> None:
    proposals = Proposals(tmp_path)
    stored = proposals.add(PROPOSAL)
    assert stored.to_proposal() == PROPOSAL
    assert proposals.add(PROPOSAL) == stored
    again = proposals.add(replace(PROPOSAL, mutations=("mut_2",), evidence=("It fits.", "Twice.")))
    assert (again.id, again.mutations, again.evidence) == (stored.id, ("mut_1", "mut_2"), ("It fits.", "Twice."))
    assert [each.id for each in proposals.all()] == [stored.id]


def test_an_accepted_row_is_in_force_at_the_next_start_and_not_before(tmp_path: Path) -> None:
    proposals, directory = Proposals(tmp_path / "data"), tmp_path / "learned"
    stored = proposals.add(PROPOSAL)
    call = Call(service="braket", operation="ResizeJob", parameters={"QueueName": "orders", "Delay": 5})
    inventory = FakeInventory({"aws_sqs_queue.orders": {"name": "orders", "id": "orders", "delay_seconds": 1}})
    assert derived_rows("braket", "ResizeJob", directory) == ()
    path = proposals.accept(stored.id, directory, by="alice", at=NOW)
    assert path == directory / "braket.json"
    assert "accepted by alice, from mut_1" in path.read_text()
    assert [(each.accepted_by, each.accepted_at[:10]) for each in proposals.all()] == [("alice", "2026-03-01")]
    derived_rows.__globals__["_lines"].cache_clear()  # as a new process has it
    assert derived_rows("braket", "ResizeJob", directory) == (ROW,)
    resolver = EffectResolver(inventory, rows=lambda service, operation: derived_rows(service, operation, directory))
    assert {each.address for each in resolver.effects(call)} == {"aws_sqs_queue.orders"}
    assert EffectResolver(inventory).effects(call) == ()


def test_rows_of_other_operations_stay_and_an_earlier_one_is_replaced(tmp_path: Path) -> None:
    accept(tmp_path, replace(ROW, operation="Other"), by="alice", mutations=("mut_1",))
    accept(tmp_path, ROW, by="alice", mutations=("mut_1",))
    accept(tmp_path, replace(ROW, confidence=Confidence.RESOURCE), by="bob", mutations=("mut_2",))
    rows = {row.operation: row.confidence for row in learned_rows(tmp_path, "braket")}
    assert rows == {"Other": Confidence.ATTRIBUTES, "ResizeJob": Confidence.RESOURCE}
    text = (tmp_path / "braket.json").read_text()
    assert "accepted by bob, from mut_2" in text
    assert text.count("accepted by") == 2


def test_a_directory_with_rows_that_were_not_learned_is_refused(tmp_path: Path) -> None:
    check_learned(None)
    check_learned(tmp_path / "not-there")
    (tmp_path / "braket.json").write_text(file_text("braket", {}, (replace(ROW, origin=Origin.TRACED),)))
    with pytest.raises(SettingsInvalid, match="has rows that were not learned: ResizeJob"):
        check_learned(tmp_path)
    assert derived_rows("braket", "ResizeJob", tmp_path) == ()
    (tmp_path / "braket.json").write_text('{"rows": [\n{"operation": "ResizeJob"\n]}')
    with pytest.raises(SettingsInvalid, match="cannot be read"):
        check_learned(tmp_path)


def test_an_unknown_proposal_is_not_accepted(tmp_path: Path) -> None:
    for key in ("eff_nothing", "../../x", ""):
        with pytest.raises(NotFound):
            Proposals(tmp_path).accept(key, tmp_path, by="alice", at=NOW)
