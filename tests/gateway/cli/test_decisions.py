"""`sentinel holds`, against a running gateway: the list, one held call whole, and what `sentinel approve` shows."""

import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from gateway.__main__ import app
from gateway.cli.decisions import _approved, _missing, show_hold
from gateway.core.model.caller import ActorKind
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

Document = Callable[..., tuple[int, Any]]
Speak = Callable[..., None]
COMMANDS = ["systemctl stop kafka", "echo [red]done[/red]\x1b[2J"]
HOLD: dict[str, Any] = {
    **dict.fromkeys(("mutation_id", "state", "requester", "kind", "on_behalf_of", "service", "operation", "account", "region"), "x"),
    "since": "2026-11-21T09:00:00Z",
    "motive": None,
    "approvers": None,
    "reasons": [],
    "whole": True,
    "parameters": {},
}  # fmt: skip
SEND = {"DocumentName": "AWS-RunShellScript", "Parameters": {"commands": COMMANDS}, "InstanceIds": ["i-0123456789"]}


@pytest.fixture
def held(gate: Gate, speak_as: Speak, document: Document, request: pytest.FixtureRequest) -> str:
    """The id of a held mutation of the agent's; the commands run as the human."""
    speak_as(gate, "agent")
    parameters = json.dumps({**SEND, "Comment": request.node.name[-50:]})
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


@pytest.fixture
def before_on_call(gate: Gate, held: str, speak_as: Speak) -> str:
    """The same, while the commands run as a person who may approve it and break the glass."""
    gate.issue("on-call", kind=ActorKind.HUMAN, roles=("approver", "break-glass"))
    speak_as(gate, "on-call")
    return held


def test_the_list_names_operation_rule_reason_requester_and_time(
    gate: Gate, held: str, sentinel: Callable[..., Any], document: Document
) -> None:
    listed = " ".join(sentinel("holds").stdout.split())
    for part in ("ssm:SendCommand", "agent", "SEN-", "1 person: approver"):
        assert part in listed
    code, reply = document("holds")
    assert (code, held in {hold["mutation_id"] for hold in reply["holds"]}) == (0, True)


def test_calls_that_are_alike_share_a_row(
    gate: Gate, held: str, speak_as: Speak, sentinel: Callable[..., Any], document: Document
) -> None:
    """So that an agent that floods people with calls does not hide those of others."""
    gate.issue("flooder", kind=ActorKind.AGENT)
    speak_as(gate, "flooder")
    motive = ("--intent", "availability", "--motivation", "incident", "--why", "lag")
    for count in range(5):
        code, reply = document("propose", "ssm", "SendCommand", json.dumps({**SEND, "Comment": str(count)}), *motive)
        assert code == 3, reply
    speak_as(gate, "human")
    listed = sentinel("holds").stdout
    assert listed.count("flooder") == 1, listed
    assert held in listed
    assert "and 4 more like it:" in listed
    assert len(document("holds")[1]["holds"]) >= 6


def test_what_holds_a_call_is_said_once_to_who_proposed_it(
    gate: Gate, speak_as: Speak, sentinel: Callable[..., Any]
) -> None:
    speak_as(gate, "agent")
    motive = ("--intent", "availability", "--motivation", "incident")
    done = sentinel("propose", "events", "CancelReplay", '{"ReplayName": "once"}', *motive)
    assert done.exit_code == 3
    for part in ("[SEN-C001]", "[bounds.not_understood]", "Apply it with its plan"):
        assert done.stdout.count(part) == 1


def test_the_list_says_who_has_approved_and_who_is_missing() -> None:
    rule = {"people": 2, "roles": [["approver"], ["dba", "owner"]], "reason": "Two must."}
    hold = {"approvers": rule, "approved_by": [], "missing": 2}
    both = "people: approver and dba or owner"
    assert (_approved(hold), _missing(hold)) == ("", f"2 {both}")
    one = {**hold, "approved_by": ["alice"], "missing": 1}
    assert (_approved(one), _missing(one)) == ("approved by alice", f"1 more {both.replace('people', 'person')}")
    assert _missing({**one, "approved_by": ["alice", "bob"], "missing": 0}) == ""


def test_the_list_fits_a_terminal_and_keeps_the_id_whole(held: str, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = StringIO()
    shown = Console(file=screen, width=120, force_terminal=True, color_system=None, highlight=False)
    monkeypatch.setattr("gateway.cli.output.console", shown)
    assert CliRunner().invoke(app, ["holds"]).exit_code == 0
    lines = screen.getvalue().splitlines()
    assert max(map(len, lines)) <= 120
    assert any(held in line for line in lines)


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
    done = sentinel("approve", held, "--yes")
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


@pytest.mark.parametrize("said", [None, "n\n", "y\n"])
@pytest.mark.parametrize(
    "command", [("approve",), ("break-glass", "--reason", "INC-7")], ids=lambda each: "-".join(each[:1])
)
def test_without_a_terminal_nothing_passes_unless_yes_is_given(
    command: tuple[str, ...], said: str | None, before_on_call: str, document: Document
) -> None:
    held, (name, *options) = before_on_call, command
    done = CliRunner().invoke(app, [name, held, *options], input=said)
    assert done.exit_code == 1
    assert "systemctl stop kafka" in done.stdout
    assert "--yes" in done.stderr
    assert document(name, held, *options) == (1, {"code": "not_confirmed", "detail": done.stderr.strip()})
    assert document("holds", held)[1]["state"] == "open"
    assert document(name, held, *options, "--yes")[0] == 0


def test_breaking_the_glass_shows_the_call_and_asks(
    before_on_call: str, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = before_on_call
    monkeypatch.setattr("gateway.cli.decisions._at_a_terminal", lambda: True)
    no = CliRunner().invoke(app, ["break-glass", held, "--reason", "INC-7"], input="n\n")
    assert no.exit_code == 1
    assert no.stdout.index("systemctl stop kafka") < no.stdout.index("Break the glass for exactly this call?")
    assert document("holds", held)[1]["state"] == "open"
    yes = CliRunner().invoke(app, ["break-glass", held, "--reason", "INC-7"], input="y\n")
    assert (yes.exit_code, document("holds", held)[1]["state"]) == (0, "approved"), yes.output


def test_what_goes_is_red(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = StringIO()
    shown = Console(file=screen, force_terminal=True, color_system="standard", width=400)
    monkeypatch.setattr("gateway.cli.decisions.console", shown)
    gone = {
        "address": "aws_cloudwatch_log_group.app",
        "attribute": "*",
        "action": "delete",
        "before": None,
        "value": None,
    }
    show_hold({**HOLD, "effects": [gone, {**gone, "attribute": "name", "action": "set", "value": "b"}]})
    red, plain = [line for line in screen.getvalue().splitlines() if "changes" in line]
    assert red.startswith(
        "\x1b[1;31m  changes delete aws_cloudwatch_log_group.app. This resource goes, with everything"
    )
    assert plain == '  changes aws_cloudwatch_log_group.app.name: null → "b"'


def test_an_agent_sees_its_own_and_nothing_of_another(
    gate: Gate, held: str, speak_as: Speak, document: Document
) -> None:
    speak_as(gate, "rival")
    assert held not in str(document("holds", "--state", "all"))
    code, missing = document("holds", held)
    assert (code, missing["code"]) == (1, "not_found")
    assert (
        missing["detail"]
        == f"No mutation {held} that you may see is or was held. `sentinel holds` lists those that are."
    )
    assert document("holds", "nonsense")[1]["code"] == "malformed"


def test_without_holds_the_list_says_so(gate: Gate, speak_as: Speak, sentinel: Callable[..., Any]) -> None:
    speak_as(gate, "rival")
    assert sentinel("holds").stdout == "No holds.\n"
