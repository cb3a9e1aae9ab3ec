"""`sentinel status`, `changes` and `watch` tell in plain words what was changed, against a running gateway."""

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from gateway.cli import changes as changes_module
from gateway.cli.changes import _follow, change_row, marks
from tests.kit.console import held
from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

Speak = Callable[..., None]


def row(state: str, *marked: str, **more: Any) -> dict[str, Any]:
    names = ("asked", "decided", "applied", "in code", "merged")
    path = [{"name": name, "state": mark} for name, mark in zip(names, marked, strict=True)]
    given = {
        "at": "2026-03-01T12:00:00Z",
        "actor": "ana",
        "headline": "set a",
        "intent": "cost",
        "motivation": "budget",
    }
    return {"id": "mut_1", "state": state, "path": path, "rule": "", "reason": "", **given, **more}


def test_a_row_has_marks_and_the_first_reason() -> None:
    denied = row("denied", "done", "stopped", "unneeded", "unneeded", "unneeded", rule="bounds.max", reason="Over 16.")
    assert marks(denied) == "■✗···"
    assert change_row(denied)[1:] == ["ana", "set a", "cost/budget", "■✗··· denied", "bounds.max: Over 16.", "mut_1"]


def test_changes_are_listed_in_words(gate: Gate, speak_as: Speak, sentinel: Callable[..., Any]) -> None:
    gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6)
    speak_as(gate, "human")
    shown = sentinel("changes", "--words", "desired capacity", "--limit", "3").stdout
    assert "→ 6 on kafka_consumer" in shown
    assert "■■■" in shown
    assert "No changes." in sentinel("changes", "--words", "nothing of the kind").stdout
    assert sentinel("changes", "--since", "yesterday").exit_code == 1


def test_in_a_narrow_terminal_a_change_is_a_few_lines_that_fit(
    gate: Gate, speak_as: Speak, sentinel: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutation = held(gate)
    speak_as(gate, "human")
    narrow = Console(width=80, highlight=False, soft_wrap=True)
    monkeypatch.setattr(changes_module, "console", narrow)
    shown = sentinel("changes", "--limit", "1").stdout.splitlines()
    assert len(shown) <= 5
    assert "■□□□□  held  agent: run events:CancelReplay" in shown[0]
    assert mutation in shown[1]
    assert max(map(len, shown)) <= 80
    assert all(line.startswith(" " * 20) for line in shown[1:])


def test_the_status_is_ten_lines_and_what_sentinel_alone_shows(
    gate: Gate, speak_as: Speak, sentinel: Callable[..., Any], document: Callable[..., tuple[int, Any]]
) -> None:
    held(gate)
    speak_as(gate, "human")
    shown = sentinel("status").stdout
    assert len(shown.splitlines()) == 10
    assert "`sentinel holds`" in shown
    assert [line.split()[0] for line in sentinel().stdout.splitlines()] == [
        line.split()[0] for line in shown.splitlines()
    ]
    code, found = document("status")
    assert code == 0
    assert set(found) == {"gateway", "recent", "holds", "signals", "drift", "left", "stops"}
    speak_as(gate, "agent")
    assert "Only people and pipelines may list the signals" in sentinel("status").stdout


def test_without_a_gateway_sentinel_alone_shows_the_commands(sentinel: Callable[..., Any]) -> None:
    done = sentinel()
    assert done.exit_code == 0
    assert "plan-check" in done.stdout


async def test_watch_shows_what_is_new_or_came_further_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = row("held", "done", "waits", "waits", "waits", "waits")
    done = row("applied", "done", "done", "done", "waits", "waits")
    other = {**asked, "id": "mut_2"}
    looks = iter([[asked], [asked], [other, asked], [other, done], [other, done]])

    class Ended(Exception):
        """The looks have ended."""

    async def look(*_: Any, **__: Any) -> dict[str, Any]:
        try:
            return {"mutations": next(looks)}
        except StopIteration:
            raise Ended from None

    monkeypatch.setattr(changes_module, "call_api_as", look)
    monkeypatch.setattr(changes_module, "_SECONDS", 0)
    shown: list[tuple[str, str]] = []
    with pytest.raises(Ended):
        await _follow(None, lambda change: shown.append((change["id"], change["state"])))
    assert shown == [("mut_2", "held"), ("mut_1", "applied")]


def test_a_line_of_watch_is_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    changes_module._write_line(sys.stdout, row("held", *["waits"] * 5))
    changes_module._show_change(row("denied", *["waits"] * 5, reason="[red]No[/red]", rule="r", actor="\x1b[31mana"))
    first, second = capsys.readouterr().out.splitlines()
    assert json.loads(first)["state"] == "held"
    assert "\x1b[31mana" not in second
    assert "[red]No[/red]" in second
