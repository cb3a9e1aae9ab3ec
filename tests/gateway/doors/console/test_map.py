"""The map: nodes that overlap nothing, groups that open and close by links, and no text of others that acts."""

from itertools import combinations
from typing import Any

import pytest

from gateway.doors.console.map_picture import map_picture
from tests.gateway.doors.console.test_approvals import propose
from tests.kit.console import text_of, visitor
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def node(name: str, **changed: Any) -> dict[str, Any]:
    marks = {"held": 0, "waits": 0, "drifted": 0, "changed": 0}
    return {"id": name, "kind": "resource", "type": "t", "blocks": 1, "instances": 1, "marks": marks, "here": False, **changed}  # fmt: skip


def edge(one: int, other: int) -> dict[str, int]:
    return {"from": one, "to": other, "count": 1}


def test_a_stack_is_a_map_with_what_is_held_and_changed(gate: Gate) -> None:
    assert propose(gate, "agent", 6).status_code == 200
    page = visitor(gate, "human").get("/console/map")
    shown = text_of(page)
    assert "held by a claim: 1" in shown
    assert "changed in the last day: 1" in shown
    told = "<title>aws_autoscaling_group.kafka_consumer: held by a claim, live differs from code, changed in the last day</title>"
    assert told in page.text
    assert "/console/resource?address=aws_autoscaling_group.kafka_consumer" in page.text
    assert "style=" not in page.text
    gate.release_all()


def test_what_somebody_names_acts_nowhere(gate: Gate) -> None:
    client = visitor(gate, "human")
    hostile = "%22%3E%3Cimg+src%3Dx%3E"
    for query in (f"at={hostile}", f"open={hostile}", f"size={hostile}", f"stack={hostile}"):
        page = client.get(f"/console/map?{query}")
        assert page.status_code in (200, 404), query
        assert "<img" not in page.text
    assert "no stack" in text_of(client.get("/console/map?stack=other"))


def test_what_is_needed_stands_left_and_nodes_do_not_overlap() -> None:
    chain = [node(f"aws_x.n{number}") for number in range(5)]
    picture = map_picture([*chain, node("aws_x.alone")], [edge(0, 1), edge(1, 2), edge(0, 2), edge(3, 2), edge(4, 2)])
    x = {each.id: each.x for each in picture.nodes}
    assert x["aws_x.n2"] < x["aws_x.n1"] < x["aws_x.n0"]
    assert picture.nodes[0].needs == ("aws_x.n1", "aws_x.n2")
    for one, other in combinations(picture.nodes, 2):
        assert abs(one.x - other.x) > 240 or abs(one.y - other.y) >= 34, (one.id, other.id)
    assert all(each.x + 240 <= picture.width and each.y + 34 <= picture.height for each in picture.nodes)


def test_a_circle_of_groups_is_drawn_too() -> None:
    picture = map_picture([node("a"), node("b"), node("c")], [edge(0, 1), edge(1, 2), edge(2, 0)])
    assert len({each.x for each in picture.nodes}) == 3
    assert len(picture.edges) == 3


def test_a_long_chain_and_a_wide_fan_are_drawn() -> None:
    chain = map_picture([node(f"n{number}") for number in range(150)], [edge(each, each + 1) for each in range(149)])
    assert len({each.x for each in chain.nodes}) == 150
    fan = map_picture([node(f"n{number}") for number in range(150)], [edge(each, 0) for each in range(1, 150)])
    assert fan.height < 22 * 60
    assert map_picture([], []).nodes == ()


def test_a_group_says_what_is_in_it_and_leads_to_itself_opened() -> None:
    marks = {"held": 2, "waits": 0, "drifted": 1, "changed": 0}
    [shown] = map_picture([node("module.net", kind="module", blocks=3, instances=12, marks=marks)], []).nodes
    assert (shown.label, shown.note, shown.marks) == ("net", "12 resources", ("held", "drifted"))
    assert shown.told == "module.net, 12 resources: 2 held by a claim, 1 live differs from code. Open this group"
