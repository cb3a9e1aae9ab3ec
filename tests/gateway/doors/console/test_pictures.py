"""Pictures: positions are numbers, every shape says in words what it shows, and long histories stay in the frame."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.doors.console.pictures import MOST_NODES, claims_picture, graph, short_address, timeline

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
    long = timeline([entry(5, [{"from_port": 22, "cidr_blocks": ["10.0.0.0/8"] * 9}], "b")], "size", NOW)
    assert long is not None
    assert [text for _, text in long.ticks] == ['"b"', '[ { "cidr…'], "what is written on the left fits there"


def test_what_was_never_changed_has_no_picture() -> None:
    assert timeline([entry(5, 1, 2)], "other", NOW) is None
    assert timeline([], "size", NOW) is None
    just_now = timeline([entry(0, 1, 1)], "size", NOW)
    assert just_now is not None


def resource(address: str, dependants: list[dict[str, Any]], needs: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"address": address, "dependants": dependants, "needs": needs}


def test_the_graph_has_what_it_needs_left_and_what_needs_it_right_and_an_end() -> None:
    near = [{"address": f"aws_a.n{number}", "direct": True, "critical": number == 0} for number in range(3)]
    far = [{"address": f"aws_a.f{number}", "direct": False, "critical": False} for number in range(40)]
    picture = graph([resource("aws_a.this", [*near, *far], ("aws_a.vpc",))])
    assert picture.others == 1 + 3 + MOST_NODES
    assert picture.left_out == 40 - MOST_NODES
    by_name = {node.address: node for node in picture.nodes}
    assert by_name["aws_a.n0"].told == "aws_a.n0: depends on it directly, and is critical"
    x = [by_name[name].x for name in ("aws_a.vpc", "aws_a.this", "aws_a.n0", "aws_a.f0")]
    assert x == sorted(set(x))
    assert len(picture.edges) == picture.others
    assert all(node.y + 26 < picture.height and node.x + 300 < picture.width for node in picture.nodes)
    assert graph([resource("aws_a.this", [])]).others == 0


def test_the_graph_of_several_resources_joins_what_they_share() -> None:
    shared = [{"address": "aws_a.alarm", "direct": True, "critical": False}]
    one, other = (resource(name, shared, ("aws_a.vpc",)) for name in ("aws_a.one", "aws_a.other"))
    picture = graph([one, {**other, "needs": ("aws_a.vpc", "aws_a.one")}])
    assert [node.address for node in picture.nodes] == ["aws_a.vpc", "aws_a.one", "aws_a.other", "aws_a.alarm"]
    assert len(picture.edges) == 5


def test_claims_stand_on_one_time_axis() -> None:
    def claim(number: int, attribute: str, begins: int, ends: int | None, *, ended: bool) -> dict[str, Any]:
        end = None if ends is None else (NOW + timedelta(hours=ends)).isoformat()
        since = (NOW + timedelta(hours=begins)).isoformat()
        times = {"since": since, "until": None if ended else end, "ended_at": end if ended else None}
        return {
            "id": f"clm_{number}",
            "mutation_id": "mut_1",
            "attribute": attribute,
            "value": 6,
            "actor": "bot",
            **times,
        }

    past, standing, endless = claim(1, "size", -4, -2, ended=True), claim(2, "size", -2, 4, ended=False), claim(3, "tags", -1, None, ended=False)  # fmt: skip
    picture = claims_picture([past, standing, endless], NOW)
    assert picture is not None
    sizes, tags = picture.lanes
    assert [bar.x for bar in sizes.bars] == pytest.approx([190, 387.5])
    assert [bar.width for bar in sizes.bars] == pytest.approx([197.5, 592.5])
    assert [bar.standing for bar in sizes.bars] == [False, True]
    assert tags.bars[0].x + tags.bars[0].width == pytest.approx(980)
    assert picture.now == pytest.approx(585)
    assert sizes.bars[0].told == "bot held size at 6 from 2026-11-22 08:00:00 to 2026-11-22 10:00:00 UTC"
    assert tags.bars[0].told.startswith("bot holds tags")
    assert tags.bars[0].told.endswith("released or superseded")
    assert claims_picture([], NOW) is None
    many = claims_picture([claim(number, f"a{number}", -1, 0, ended=True) for number in range(20)], NOW)
    assert many is not None
    assert many.left_out == 8


def test_a_long_address_keeps_its_end() -> None:
    assert short_address("a" * 60 + ".end").endswith(".end")
    assert len(short_address("a" * 60)) == 40
