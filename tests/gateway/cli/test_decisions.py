"""`sentinel holds`, against a running gateway: the list, one held call whole, and what `sentinel approve` shows."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

Document = Callable[..., tuple[int, Any]]
Speak = Callable[..., None]
COMMANDS = ["systemctl stop kafka", "echo [red]done[/red]\x1b[2J"]
SEND = {"DocumentName": "AWS-RunShellScript", "Parameters": {"commands": COMMANDS}, "InstanceIds": ["i-0123456789"]}


@pytest.fixture
def held(gate: Gate, speak_as: Speak, document: Document, request: pytest.FixtureRequest) -> str:
    """The id of a held mutation of the agent's; the commands run as the human."""
    speak_as(gate, "agent")
    parameters = json.dumps({**SEND, "Comment": request.node.name[:50]})
    code, reply = document(
        "propose",
        "ssm",
        "SendCommand",
        parameters,
        "--intent",
        "availability",
        "--motivation",
        "incident",
        "--why",
        "lag",
    )
    assert code == 3, reply
    speak_as(gate, "human")
    return str(reply["mutation"]["id"])


def test_the_list_names_operation_rule_reason_requester_and_time(
    gate: Gate, held: str, sentinel: Callable[..., Any], document: Document
) -> None:
    listed = " ".join(sentinel("holds").stdout.split())
    for part in ("ssm:SendCommand", "agent", "SEN-"):
        assert part in listed
    code, reply = document("holds")
    assert (code, held in {hold["mutation_id"] for hold in reply["holds"]}) == (0, True)


def test_one_hold_is_shown_whole_and_its_text_steers_no_terminal(held: str, sentinel: Callable[..., Any]) -> None:
    done = sentinel("holds", held)
    assert done.exit_code == 0, done.output
    for part in (
        "systemctl stop kafka",
        "[red]done[/red]",
        "i-0123456789",
        "availability/incident",
        "lag",
        "agent (agent)",
    ):
        assert part in done.stdout
    assert "\x1b" not in done.stdout


def test_one_hold_as_json(held: str, document: Document) -> None:
    code, hold = document("holds", held)
    assert (code, hold["mutation_id"], hold["parameters"]["Parameters"]) == (0, held, {"commands": COMMANDS})


def test_approving_shows_the_whole_call(held: str, sentinel: Callable[..., Any]) -> None:
    done = sentinel("approve", held)
    assert done.exit_code == 0, done.output
    assert done.stdout.index("systemctl stop kafka") < done.stdout.index(f"Approved {held}")
    assert held not in sentinel("holds").stdout
    assert "approved" in sentinel("holds", held).stdout


def test_no_at_the_terminal_approves_nothing(
    held: str, sentinel: Callable[..., Any], document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.cli.decisions._at_a_terminal", lambda: True)
    done = sentinel("approve", held)
    assert done.exit_code == 1
    assert document("holds", held)[1]["state"] == "open"
    assert sentinel("approve", held, "--yes").exit_code == 0


def test_an_agent_sees_its_own_and_nothing_of_another(
    gate: Gate, held: str, speak_as: Speak, document: Document
) -> None:
    speak_as(gate, "rival")
    assert held not in str(document("holds", "--state", "all"))
    assert document("holds", held) == (1, {"code": "not_found", "detail": f"No mutation {held} is held."})
    assert document("holds", "nonsense")[1]["code"] == "malformed"


def test_without_holds_the_list_says_so(gate: Gate, speak_as: Speak, sentinel: Callable[..., Any]) -> None:
    speak_as(gate, "rival")
    assert sentinel("holds").stdout == "No holds.\n"
