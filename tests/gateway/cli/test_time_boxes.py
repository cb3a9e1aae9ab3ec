"""`sentinel extend`, `end` and `claims` about a change for a time, against a running gateway."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.cli.time_boxes import show_time_boxes
from gateway.core.model.time_box import TimeBoxState
from gateway.core.records.record import Stage
from gateway.core.times import SystemClock
from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def test_it_is_shown_extended_ended_and_left(
    gate: Gate, speak_as: Callable[..., None], sentinel: Callable[..., Any], document: Callable[..., tuple[int, Any]]
) -> None:
    agent = gate.client("autoscaling", motive=("availability", "incident; evidence=A-1; for=1h"))
    agent.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6)
    mutation = gate.records(stage=Stage.DECIDED)[-1].mutation_id
    speak_as(gate, "human")
    shown = sentinel("claims").stdout
    assert "For a time" in shown
    assert "goes back to" in shown
    assert document("extend", mutation, "--for", "2h")[1]["time_boxes"][0]["state"] == "standing"
    done = sentinel("extend", mutation, "--for", "3h", "--reason", "not over")
    assert f"{mutation} goes back at " in done.stdout
    assert "Policy grants" not in done.stdout, "an incident's claim may last four hours, so it moved with the change"
    far = document("extend", mutation, "--wanted-for", "6d")[1]
    assert far["warning"].startswith("Policy grants its claim until 2"), far
    assert "Policy grants its claim until" in sentinel("extend", mutation, "--wanted-for", "6d").stdout
    assert sentinel("extend", mutation, "--for", "soon").exit_code == 1
    assert "not over" in sentinel("records", "--stage", "rescheduled").stdout
    assert "has ended" in sentinel("end", mutation, "--reason", "done").stdout
    assert document("end", "mut_" + "0" * 26)[1]["code"] == "not_found"

    boxes = gate.ledger
    parts = gate.run(boxes.time_boxes(mutation_id=mutation))
    now = SystemClock().now()
    gate.run(boxes.leave_time_box(mutation, parts, TimeBoxState.LEFT, by="", reason="A bound says no.", at=now))
    [entry] = document("left")[1]["left"]
    assert (entry["kind"], entry["goes_back_to"], entry["reason"]) == ("not_put_back", 4, "A bound says no.")
    assert "A bound says no." in sentinel("left").stdout
    assert "left to you" in sentinel("claims").stdout


def test_what_a_later_change_has_is_not_shown_to_go_back(
    gate: Gate, speak_as: Callable[..., None], sentinel: Callable[..., Any], document: Callable[..., tuple[int, Any]]
) -> None:
    agent = gate.client("autoscaling", motive=("availability", "incident; evidence=A-1; for=1h"))
    agent.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6)
    boxed = gate.records(stage=Stage.DECIDED)[-1].mutation_id
    kept = gate.client("autoscaling", motive=("availability", "incident; evidence=A-1"))
    kept.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6)
    speak_as(gate, "human")
    assert "a later change has it: stays" in sentinel("claims").stdout
    assert document("extend", boxed, "--for", "2h")[1]["code"] == "not_allowed"


def test_without_any_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    show_time_boxes([])
    assert capsys.readouterr().out == ""
