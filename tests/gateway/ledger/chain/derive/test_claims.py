"""A claim can change until it has ended and is settled; one that was superseded, until the mutation that did it is settled."""

from typing import Any

import pytest

from gateway.core.records.record import Stage
from gateway.ledger.chain.derive.claims import ExpectedClaims
from gateway.ledger.chain.derive.expected_table import OneOf
from gateway.ledger.store.statements import Session


@pytest.fixture
def part(session: Session) -> ExpectedClaims:
    return ExpectedClaims(session)


def take(feed: Any, part: ExpectedClaims, name: str, *, supersedes: tuple[str, ...] = (), effects: Any = None) -> None:
    given = effects or [{"address": "a", "attribute": "x", "action": "set", "value": {"b": [1.5, None], "ä": "ü"}}]
    feed(
        part,
        Stage.DECIDED,
        name,
        decision={"carried_out": True, "supersedes": list(supersedes)},
        effects=given,
        claims=[{"id": f"c-{name}", "address": "a", "attribute": given[0]["attribute"]}],
    )


def test_its_value_is_the_text_of_the_effect(part: ExpectedClaims, feed: Any) -> None:
    take(feed, part, "m")
    row = part.table.rows["c-m",]
    assert (row["value"], row["unsettled"], row["motive"]) == ('{"b":[1.5,null],"ä":"ü"}', 1, None)


def test_two_effects_on_its_attribute_leave_two_values(part: ExpectedClaims, feed: Any) -> None:
    effect = {"address": "a", "attribute": "x", "action": "set"}
    take(feed, part, "m", effects=[{**effect, "value": value} for value in (1, 2, 2, 3)])
    assert part.table.rows["c-m",]["value"] == OneOf(["1", "2", "3"])


def test_a_deletion_claims_the_whole_resource(part: ExpectedClaims, feed: Any) -> None:
    take(feed, part, "m", effects=[{"address": "a", "attribute": "*", "action": "delete", "value": None}])
    assert part.table.rows["c-m",]["value"] == "null"


@pytest.mark.parametrize(
    ("stage", "body"),
    [
        (Stage.RELEASED, {"claims": ["c-m"]}),
        (Stage.EXPIRED, {"claim": "c-m"}),
        (Stage.RECONCILED, {"merged": True, "claims_ended": ["c-m"]}),
    ],
)
def test_what_has_ended_is_forgotten(part: ExpectedClaims, feed: Any, stage: Stage, body: dict[str, Any]) -> None:
    take(feed, part, "m")
    feed(part, Stage.SETTLED, "m", outcome="applied")
    assert part.table.rows["c-m",]["unsettled"] == 0
    feed(part, stage, "m", **body)
    assert not part.table.rows


def test_a_failure_ends_its_claims_and_reopens_what_it_superseded(part: ExpectedClaims, feed: Any) -> None:
    take(feed, part, "m1")
    feed(part, Stage.SETTLED, "m1", outcome="applied")
    take(feed, part, "m2", supersedes=("c-m1",))
    assert part.table.rows["c-m1",]["ended_by"] == "m2"
    feed(part, Stage.SETTLED, "m2", outcome="in_doubt")
    assert set(part.table.rows) == {("c-m1",), ("c-m2",)}
    feed(part, Stage.SETTLED, "m2", outcome="failed", claims_ended=["c-m2"], claims_reopened=["c-m1"])
    assert [key for key, row in part.table.rows.items() if row["end"] is None] == [("c-m1",)]


def test_memory_holds_only_open_claims(part: ExpectedClaims, feed: Any) -> None:
    previous: tuple[str, ...] = ()
    part.table._compare = part.table._final.clear  # type: ignore[method-assign]
    for number in range(2_000):
        take(feed, part, f"m{number}", supersedes=previous)
        feed(part, Stage.SETTLED, f"m{number}", outcome="applied")
        previous = (f"c-m{number}",)
        assert len(part.table.rows) + len(part.table._final) + len(part._unsettled) + len(part._superseded) < 210
