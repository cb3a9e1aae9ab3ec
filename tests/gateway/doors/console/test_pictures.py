"""Pictures: positions are numbers, every shape says in words what it shows, and long histories stay in the frame."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.doors.console.pictures import MOST_NODES, graph, short_address, timeline

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def entry(minutes: int, before: Any, value: Any, actor: str = "bot") -> dict[str, Any]:
    change = {"attribute": "size", "value": value, "before": before}
    motive = {"intent": "cost", "motivation": "budget"}
    at = (NOW - timedelta(minutes=minutes)).isoformat()
    return {
        "at": at,
        "actor": actor,
        "motive": motive,
        "outcome": "applied",
        "changes": [change, {**change, "attribute": "x"}],
    }


def test_numbers_have_a_scale_and_each_step_its_holder() -> None:
    picture = timeline([entry(30, 8, 4, "rival"), entry(60, 2, 8)], "size", NOW)
    assert picture is not None
    first, second = picture.steps
    assert [first.y, second.y] == pytest.approx([20, 150 - 130 * 2 / 6])
    assert [first.x, first.end, second.x, second.end] == pytest.approx([90, 535, 535, 980])
    assert [text for _, text in picture.ticks] == ["2", "8"]
    assert picture.path.startswith("M80,150.0H90.0V20.0")
    assert second.told == "2026-11-22 11:30:00 UTC: rival set 4 for cost / budget (applied)"
    assert second.named


def test_other_values_have_a_line_each() -> None:
    picture = timeline([entry(5, "a", "b"), entry(10, None, "a")], "size", NOW)
    assert picture is not None
    assert len({step.y for step in picture.steps}) == 2
    many = timeline([entry(number, number - 1, f"v{number}") for number in range(1, 60)], "size", NOW)
    assert many is not None
    assert all(20 <= step.y <= 150 for step in many.steps)
    assert not all(step.named for step in many.steps)


def test_what_was_never_changed_has_no_picture() -> None:
    assert timeline([entry(5, 1, 2)], "other", NOW) is None
    assert timeline([], "size", NOW) is None
    just_now = timeline([entry(0, 1, 1)], "size", NOW)
    assert just_now is not None


def test_the_graph_has_two_columns_and_an_end() -> None:
    near = [{"address": f"aws_a.n{number}", "direct": True, "critical": number == 0} for number in range(3)]
    far = [{"address": f"aws_a.f{number}", "direct": False, "critical": False} for number in range(40)]
    picture = graph("aws_a.this", [*near, *far])
    assert len(picture.nodes) == 3 + MOST_NODES
    assert picture.left_out == 40 - MOST_NODES
    assert picture.nodes[0].told == "aws_a.n0 depends on it directly, and is critical"
    assert len(picture.edges) == len(picture.nodes)
    assert all(node.y + 26 < picture.height for node in picture.nodes)
    assert graph("aws_a.this", []).nodes == ()


def test_a_long_address_keeps_its_end() -> None:
    assert short_address("a" * 60 + ".end").endswith(".end")
    assert len(short_address("a" * 60)) == 40
