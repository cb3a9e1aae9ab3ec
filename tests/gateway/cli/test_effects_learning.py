"""`sentinel effects learn`, `list` and `accept`, without anything live: what there is to learn from, and who may say so."""

import asyncio
import getpass
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.core.derived_rows import AttributeSource, Confidence, DerivedRow, Origin
from gateway.core.model.mutation import Call, EffectAction, Mutation
from gateway.core.settings import Settings
from gateway.effects.learning import RowProposal
from gateway.effects.proposals import Proposals
from gateway.ledger.sealed_ledger import open_sealed_ledger
from tests.kit import nouns
from tests.kit.mutations import record_hold, record_mutation

Document = Callable[..., tuple[int, Any]]
RESIZE = Call(service="braket", operation="ResizeJob", parameters={"JobName": "orders"})
ROW = DerivedRow(
    service="braket",
    operation="ResizeJob",
    resource_type="aws_braket_job",
    actions=frozenset({EffectAction.SET}),
    origin=Origin.LEARNED,
    confidence=Confidence.RESOURCE,
    identity={"JobName": AttributeSource(attribute="name")},
)


@pytest.fixture
def recorded(elsewhere: Path) -> dict[str, Mutation]:
    """A ledger with a call that was understood, one that was not, and one that was held."""

    async def write() -> dict[str, Mutation]:
        async with open_sealed_ledger(Settings(data=elsewhere / ".sentinel")) as ledger:
            understood = await record_mutation(ledger, [(nouns.effect(value=2), 1)])
            unknown = await record_mutation(ledger, [], call=RESIZE)
            return {"understood": understood, "unknown": unknown, "held": await record_hold(ledger)}

    return asyncio.run(write())


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("understood", "Sentinel understood it."),
        ("held", "Sentinel understood it."),
        ("unknown", "It names no resource of its service in the state of a stack."),
    ],
)
def test_it_says_why_there_is_nothing_to_learn(
    recorded: dict[str, Mutation], document: Document, name: str, reason: str
) -> None:
    code, found = document("effects", "learn", recorded[name].id)
    assert (code, found["learned"][0]["proposal"], found["learned"][0]["reason"]) == (0, None, reason)


def test_an_unknown_mutation_and_a_ledger_without_any(
    recorded: dict[str, Mutation], document: Document, sentinel: Callable[..., Any]
) -> None:
    assert document("effects", "learn", "mut_nothing")[1]["learned"][0]["reason"] == "The ledger has no such mutation."
    assert document("effects", "learn") == (0, {"learned": []})
    assert "No applied call is left" in sentinel("effects", "learn").stdout


def test_proposals_are_shown_with_their_evidence(
    elsewhere: Path, document: Document, sentinel: Callable[..., Any]
) -> None:
    assert document("effects", "list") == (0, {"proposals": []})
    Proposals(elsewhere / ".sentinel").add(RowProposal(row=ROW, mutations=("mut_1",), evidence=("It fits.",)))
    ((stored,),) = [document("effects", "list")[1]["proposals"]]
    assert (stored["service"], stored["row"]["operation"], stored["accepted_by"]) == ("braket", "ResizeJob", "")
    said = sentinel("effects", "list").stdout
    assert "from mut_1" in said
    assert "It fits." in said


def test_an_accepted_row_is_in_the_directory_of_the_settings(
    elsewhere: Path, document: Document, sentinel: Callable[..., Any]
) -> None:
    stored = Proposals(elsewhere / ".sentinel").add(RowProposal(row=ROW, mutations=("mut_1",), evidence=()))
    code, refused = document("effects", "accept", stored.id)
    assert (code, "effects.learned names no directory" in refused["detail"]) == (1, True)
    (elsewhere / "sentinel.toml").write_text('[effects]\nlearned = "rows"\n')
    assert document("effects", "accept", "eff_nothing")[0] == 1
    code, done = document("effects", "accept", stored.id, "--by", "alice")
    who = f"alice (signed in as {getpass.getuser()})"
    assert (code, done) == (0, {"proposal": stored.id, "file": "rows/braket.json", "by": who})
    written = json.loads((elsewhere / "rows" / "braket.json").read_text())
    assert written["sources"] == {"ResizeJob aws_braket_job": f"accepted by {who}, from mut_1"}
    assert "accepted by" in sentinel("effects", "accept", stored.id).stdout
