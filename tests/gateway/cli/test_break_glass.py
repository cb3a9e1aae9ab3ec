"""`sentinel break-glass`, against a running gateway."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.core.model.caller import ActorKind
from tests.gateway.doors.api.test_waiting import cancel_replay, mutation_of
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def test_it_passes_a_hold_and_shows_in_the_records(
    gate: Gate, speak_as: Callable[..., None], sentinel: Callable[..., Any], document: Callable[..., tuple[int, Any]]
) -> None:
    gate.issue("oncall", kind=ActorKind.HUMAN, roles=("break-glass",))
    held = mutation_of(cancel_replay(gate, "glass"))
    speak_as(gate, "oncall")
    assert sentinel("break-glass", held).exit_code == 2
    done = sentinel("break-glass", held, "--reason", "Orders are lost, INC-7", "--yes")
    assert done.exit_code == 0, done.output
    assert f"Passed {held} until " in done.stdout
    (line,) = [line for line in sentinel("records").stdout.splitlines() if "broke_glass" in line]
    assert "oncall" in line
    assert "Orders are lost, INC-7" in line
    told = sentinel("explain", held).stdout
    assert "oncall broke the glass and passed it" in told
    assert "Repeat the identical call before 2" in told
    assert "once a human has approved it" not in told
    passed = mutation_of(cancel_replay(gate, "glass"))
    assert passed != held
    told = " ".join(sentinel("explain", passed).stdout.split())
    assert f"passed in an emergency by oncall (held as {held}; `sentinel explain {held}` says why)" in told
    assert document("holds", held)[1]["state"] == "approved"
    assert document("break-glass", held, "--reason", "again", "--yes")[1]["code"] == "not_allowed"


def test_what_was_rejected_is_explained_so(
    gate: Gate, speak_as: Callable[..., None], sentinel: Callable[..., Any]
) -> None:
    held = mutation_of(cancel_replay(gate, "no"))
    speak_as(gate, "human")
    assert sentinel("reject", held, "--reason", "Not now.").exit_code == 0
    told = sentinel("explain", held).stdout
    assert "It was rejected: ask for something else" in told
    assert "once a human has approved it" not in told
