"""`sentinel stop`, `resume` and `stops`, against a running gateway."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.core.model.caller import ActorKind
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
WHY = ("--reason", "It runs amok")


@pytest.fixture(autouse=True)
def chief(gate: Gate, speak_as: Callable[..., None]) -> None:
    """A person with the role."""
    gate.issue("chief", kind=ActorKind.HUMAN, roles=("operator",))
    speak_as(gate, "chief")


def test_stop_list_and_resume(sentinel: Callable[..., Any], document: Callable[..., tuple[int, Any]]) -> None:
    assert sentinel("stops").stdout == "Nothing is stopped.\n"
    assert sentinel("stops", "--all").stdout == "Nothing was ever stopped.\n"
    assert sentinel("stop", "--actor", "rival", *WHY).stdout.startswith("Stopped the actor rival (stp_")
    code, made = document("stop", "--stack", "kafka", *WHY)
    assert (code, made["scope"], made["name"], made["by"]) == (0, "stack", "kafka", "chief")
    _, all_of_it = document("stop", "--all", *WHY)
    shown = sentinel("stops").stdout.replace("\n", "")
    assert all(part in shown for part in ("the actor rival", "the stack kafka", "every change", "It runs amok"))
    done = sentinel("resume", made["id"], "--reason", "Mended")
    assert done.stdout == "Resumed the stack kafka, which chief had stopped.\n"
    assert document("resume", all_of_it["id"])[1]["ended_by"] == "chief"
    _, reply = document("stops")
    assert [each["name"] for each in reply["stops"]] == ["rival"]
    assert len(document("stops", "--all")[1]["stops"]) == 3
    assert "by chief" in sentinel("stops", "--all").stdout
    assert sentinel("resume", reply["stops"][0]["id"]).exit_code == 0


@pytest.mark.parametrize(
    "what", [(), ("--all", "--actor", "agent"), ("--stack", "kafka", "--service", "sqs"), ("--actor", "")]
)
def test_exactly_one_thing_is_stopped(what: tuple[str, ...], document: Callable[..., Any], gate: Gate) -> None:
    code, reply = document("stop", *what, *WHY)
    assert (code, reply["code"]) == (1, "malformed")
    assert "exactly one" in reply["detail"]


def test_a_reason_is_needed(sentinel: Callable[..., Any]) -> None:
    assert sentinel("stop", "--all").exit_code == 2


@pytest.mark.parametrize("wrong", ["mut_01m7xz6hz9jtmrenb3s98tt6vc", "stp_1", "stp_../../keys", ""])
def test_what_is_no_id_is_refused_before_it_is_sent(wrong: str, document: Callable[..., Any]) -> None:
    code, reply = document("resume", wrong)
    assert (code, reply["code"]) == (1, "malformed")


def test_an_agent_may_not(gate: Gate, speak_as: Callable[..., None], document: Callable[..., Any]) -> None:
    speak_as(gate, "agent")
    code, reply = document("stop", "--all", *WHY)
    assert (code, reply["code"]) == (1, "not_allowed")
