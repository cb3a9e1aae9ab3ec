"""`sentinel settle`, against a running gateway."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

Document = Callable[..., tuple[int, Any]]
Speak = Callable[..., None]
UNKNOWN = "mut_" + "0" * 26


@pytest.fixture
def doubtful(gate: Gate, speak_as: Speak, document: Document, propose: Sequence[str]) -> Iterator[str]:
    """The id of a mutation whose reply was cut off."""
    speak_as(gate, "agent")
    gate.upstream.behaviour = "cut"
    code, reply = document(*propose)
    gate.upstream.behaviour = "ok"
    assert code == 1, reply
    assert "sentinel settle mut_" in reply["detail"]
    yield str(gate.records()[-1].mutation_id)
    gate.release_all()


@pytest.mark.parametrize("outcome", ["applied", "failed"])
def test_an_approver_settles_it_with_a_reason(
    outcome: str, doubtful: str, gate: Gate, speak_as: Speak, sentinel: Callable[..., Any]
) -> None:
    speak_as(gate, "human")
    asked = list(gate.upstream.asked)
    done = sentinel("settle", doubtful, f"--{outcome}", "--reason", "I looked at [the] group.")
    assert (done.exit_code, done.stdout) == (0, f"Settled {doubtful} as {outcome}.\n"), done.output
    body = gate.records(mutation_id=doubtful)[-1].body.members
    assert (body["outcome"], body["why"]) == (outcome, "I looked at [the] group.")
    assert body["settled_by"] == {"means": "human", "actor": "human"}
    assert gate.upstream.asked == asked
    assert sentinel("settle", doubtful, "--applied", "--reason", "again").exit_code == 1


@pytest.mark.parametrize(
    "options",
    [(), ("--applied",), ("--applied", "--failed", "--reason", "x"), ("--reason", "x"), ("--failed", "--reason", " ")],
)
def test_half_an_answer_settles_nothing(
    options: tuple[str, ...], doubtful: str, gate: Gate, speak_as: Speak, document: Document
) -> None:
    speak_as(gate, "human")
    code, reply = document("settle", doubtful, *options)
    assert (code, reply["code"]) == (1, "malformed")
    assert gate.records(mutation_id=doubtful)[-1].body.members["outcome"] == "in_doubt"


def test_the_agent_itself_may_not(doubtful: str, gate: Gate, speak_as: Speak, document: Document) -> None:
    code, reply = document("settle", doubtful, "--failed", "--reason", "I want my key back.")
    assert (code, reply["code"]) == (1, "not_allowed")


@pytest.mark.parametrize("unknown", [(UNKNOWN, "not_found"), ("nonsense", "malformed"), ("../claims", "malformed")])
def test_an_unknown_mutation_is_an_error(
    unknown: tuple[str, str], gate: Gate, speak_as: Speak, document: Document
) -> None:
    given, expected = unknown
    speak_as(gate, "human")
    code, reply = document("settle", given, "--applied", "--reason", "seen")
    assert (code, reply["code"]) == (1, expected)
