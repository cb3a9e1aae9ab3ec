"""`sentinel propose`, `approve`, `reject`, `release`, against a running gateway."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

Document = Callable[..., tuple[int, Any]]
Speak = Callable[..., None]
UNKNOWN = "mut_" + "0" * 26


def with_unknown_effects(name: str) -> tuple[str, ...]:
    """A call without known effects, so that it is held."""
    return ("propose", "events", "CancelReplay", json.dumps({"ReplayName": name}),
            "--intent", "performance", "--motivation", "schedule")  # fmt: skip


@pytest.fixture
def held(gate: Gate, speak_as: Speak, document: Document, request: pytest.FixtureRequest) -> str:
    """The id of a held mutation of the agent's."""
    speak_as(gate, "agent")
    code, reply = document(*with_unknown_effects(request.node.name[:50]))
    assert code == 3, reply
    return str(reply["mutation"]["id"])


def test_a_dry_run_decides_and_changes_nothing(
    gate: Gate, speak_as: Speak, document: Document, propose: Sequence[str]
) -> None:
    speak_as(gate, "agent")
    before = list(gate.upstream.asked)
    code, reply = document(*propose, "--dry-run")
    assert code == 0, reply
    assert reply["decision"]["verdict"] == "allow"
    assert reply["outcome"] is None
    assert gate.upstream.asked == before


def test_an_allowed_change_is_applied_and_the_same_key_only_once(
    gate: Gate, speak_as: Speak, sentinel: Callable[..., Any], propose: Sequence[str]
) -> None:
    speak_as(gate, "agent")
    once = sentinel(*propose, "--idempotency-key", "one")
    assert (once.exit_code, once.stdout.startswith("Applied (mutation mut_")) == (0, True), once.output
    asked = list(gate.upstream.asked)
    again = sentinel(*propose, "--idempotency-key", "one")
    assert (again.exit_code, again.stdout.startswith("Applied before, not again")) == (0, True), again.output
    assert gate.upstream.asked == asked


@pytest.mark.parametrize("verdict", ["hold", "deny"])
def test_what_is_only_observed_is_applied_whatever_the_verdict(
    verdict: str, monkeypatch: pytest.MonkeyPatch, sentinel: Callable[..., Any], propose: Sequence[str]
) -> None:
    async def observed(*_: object, **__: object) -> dict[str, Any]:
        finding = {"verdict": verdict, "rule": "bounds.max", "reason": "Too much."}
        decision = {"verdict": verdict, "mode": "observe", "findings": [finding]}
        return {"mutation": {"id": UNKNOWN}, "decision": decision, "outcome": {"outcome": "applied"}}

    monkeypatch.setattr("gateway.cli.decisions.call_api_as", observed)
    done = sentinel(*propose)
    assert (done.exit_code, done.stdout.startswith(f"Applied (mutation {UNKNOWN})")) == (0, True), done.output
    assert "only observes" in done.stdout
    assert "Too much." in done.stdout


def test_a_refusal_is_exit_code_1_and_says_why(
    gate: Gate, speak_as: Speak, sentinel: Callable[..., Any], document: Document
) -> None:
    speak_as(gate, "agent")
    wanted = (
        "propose",
        "dynamodb",
        "DeleteTable",
        '{"TableName": "kafka-offsets"}',
        "--intent",
        "cost",
        "--motivation",
        "budget",
    )
    done = sentinel(*wanted)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "Sentinel refused dynamodb:DeleteTable" in done.stderr
    code, reply = document(*wanted)
    assert (code, reply["code"], reply["decision"]["verdict"]) == (1, "refused", "deny")
    code, reply = document(*wanted, "--dry-run")
    assert (code, reply["decision"]["verdict"]) == (1, "deny")


def test_a_call_without_known_effects_is_held_with_exit_code_3(
    gate: Gate, speak_as: Speak, sentinel: Callable[..., Any]
) -> None:
    speak_as(gate, "agent")
    done = sentinel(*with_unknown_effects("[red]rule[/red]"))
    assert done.exit_code == 3
    assert "sentinel approve mut_" in done.stdout


def test_a_human_approves_and_the_identical_call_is_applied_once(
    gate: Gate, held: str, speak_as: Speak, document: Document, request: pytest.FixtureRequest
) -> None:
    speak_as(gate, "human")
    code, reply = document("approve", held, "--lasts", "10m", "--yes")
    assert (code, reply["approver"]) == (0, "human"), reply
    speak_as(gate, "agent")
    assert document(*with_unknown_effects(request.node.name[:50]))[0] == 0
    assert document(*with_unknown_effects(request.node.name[:50]))[0] == 3


def test_an_agent_does_not_approve_its_own_call(gate: Gate, held: str, document: Document) -> None:
    code, reply = document("approve", held, "--yes")
    assert (code, reply["code"]) == (1, "not_allowed")


def test_a_rejected_call_cannot_be_approved(
    gate: Gate, held: str, speak_as: Speak, sentinel: Callable[..., Any]
) -> None:
    speak_as(gate, "human")
    done = sentinel("reject", held, "--reason", "[bold]not now[/bold]")
    assert (done.exit_code, done.stdout) == (0, f"Rejected {held}.\n")
    assert "rejected" in sentinel("approve", held, "--yes").stderr


def test_a_rejection_needs_a_reason(gate: Gate, held: str, speak_as: Speak, document: Document) -> None:
    speak_as(gate, "human")
    code, reply = document("reject", held)
    assert (code, reply["code"]) == (2, "usage")
    assert "--reason" in reply["detail"]
    code, reply = document("reject", held, "--reason", " ")
    assert (code, reply["code"]) == (1, "malformed")
    assert document("holds", held)[1]["state"] == "open"


def test_released_claims_are_counted(
    gate: Gate, speak_as: Speak, sentinel: Callable[..., Any], document: Document, propose: Sequence[str]
) -> None:
    gate.release_all()
    speak_as(gate, "agent")
    _, reply = document(*propose)
    speak_as(gate, "human")
    done = sentinel("release", reply["mutation"]["id"])
    assert (done.exit_code, done.stdout) == (0, f"Released 1 claim(s) of {reply['mutation']['id']}.\n"), done.output


@pytest.mark.parametrize("act", [("approve", "--yes"), ("reject", "--reason", "no"), ("release",)])
@pytest.mark.parametrize("unknown", [(UNKNOWN, "not_found"), ("nonsense", "malformed"), ("../claims", "malformed")])
def test_an_unknown_mutation_is_an_error(
    act: tuple[str, ...], unknown: tuple[str, str], gate: Gate, speak_as: Speak, document: Document
) -> None:
    given, expected = unknown
    speak_as(gate, "human")
    code, reply = document(act[0], given, *act[1:])
    assert (code, reply["code"]) == (1, expected)


BAD = {
    "parameters are not JSON": ("propose", "sqs", "CreateQueue", "{"),
    "parameters are no object": ("propose", "sqs", "CreateQueue", "[]"),
    "an unknown parameter": ("propose", "sqs", "CreateQueue", '{"Colour": "red"}'),
    "an unknown service": ("propose", "nowhere", "CreateQueue"),
    "a service that is none": ("propose", "[red]", "CreateQueue"),
    "a read": ("propose", "sqs", "ListQueues"),
    "half a motive": ("propose", "sqs", "CreateQueue", "{}", "--intent", "cost"),
    "words without a motive": ("propose", "sqs", "CreateQueue", "{}", "--why", "because"),
    "a bad duration": ("propose", "sqs", "CreateQueue", '{"QueueName": "q"}', "--intent", "cost", "--motivation", "budget", "--for", "soon"),
    "a consent of a bad duration": ("approve", UNKNOWN, "--lasts", "for ever", "--yes"),
}  # fmt: skip


@pytest.mark.parametrize("command", BAD.values(), ids=BAD)
def test_bad_input_is_one_document_and_no_request(
    command: tuple[str, ...], gate: Gate, speak_as: Speak, document: Document
) -> None:
    speak_as(gate, "human" if command[0] == "approve" else "agent")
    asked = list(gate.upstream.asked)
    code, reply = document(*command)
    assert code == 1, reply
    assert reply["detail"].endswith((".", "h30m.", "]")), reply
    assert gate.upstream.asked == asked
