"""The map of a stack: edges are direct, groups open and close, and a large stack stays small to look at."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.context.stack_map import MOST_NODES, StackMaps, tree_of
from gateway.core.errors import NotFound
from gateway.core.model.verdict import Mode
from gateway.core.settings.stacks import StackSettings
from gateway.terraform.stacks import Stacks

NETWORK = "module.network"


def state_with(resources: list[dict[str, Any]]) -> str:
    return json.dumps({"version": 4, "terraform_version": "1.9.0", "serial": 1, "lineage": "x", "outputs": {}, "resources": resources})  # fmt: skip


def entry(kind: str, name: str, module: str = "", needs: tuple[str, ...] = (), count: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = {
        "mode": "managed",
        "type": kind,
        "name": name,
        "provider": 'provider["registry.terraform.io/hashicorp/aws"]',
        "instances": [
            {
                "schema_version": 0,
                "attributes": {"id": f"{name}-{number}"},
                "dependencies": list(needs),
                **({"index_key": number} if count > 1 else {}),
            }
            for number in range(count)
        ],
    }
    return found | ({"module": module} if module else {})


def maps_of(directory: Path, resources: list[dict[str, Any]]) -> StackMaps:
    (directory / "main.tf").write_text("")
    (directory / "terraform.tfstate").write_text(state_with(resources))
    source = StackSettings(name="prod", path=directory)
    return StackMaps(stacks=Stacks.load([source], default_mode=Mode.ENFORCE))


@pytest.fixture
def layered(tmp_path: Path) -> StackMaps:
    vpc, subnet = f"{NETWORK}.aws_vpc.this", f"{NETWORK}.aws_subnet.this"
    return maps_of(
        tmp_path,
        [
            entry("aws_vpc", "this", NETWORK),
            entry("aws_subnet", "this", NETWORK, (vpc,), count=3),
            entry("aws_instance", "web", "", (vpc, subnet)),
            entry("aws_sqs_queue", "alone"),
        ],
    )


def names_and_edges(found: dict[str, Any]) -> tuple[set[str], set[tuple[str, str]]]:
    names = [node["id"] for node in found["nodes"]]
    return set(names), {(names[each["from"]], names[each["to"]]) for each in found["edges"]}


async def test_a_small_stack_is_open_with_its_direct_edges(layered: StackMaps) -> None:
    names, edges = names_and_edges(await layered.of("", opened=None, at="", marked={}))
    vpc, subnet = f"{NETWORK}.aws_vpc.this", f"{NETWORK}.aws_subnet.this"
    assert names == {vpc, subnet, "aws_instance.web", "aws_sqs_queue.alone"}
    assert edges == {(subnet, vpc), ("aws_instance.web", subnet)}


async def test_a_closed_module_is_one_node_with_the_edges_and_marks_of_all_in_it(layered: StackMaps) -> None:
    marked = {"held": [f"{NETWORK}.aws_subnet.this[1]", "aws_nothing.here"], "changed": ["aws_instance.web"]}
    found = await layered.of("prod", opened=[], at="", marked=marked)
    names, edges = names_and_edges(found)
    assert names == {NETWORK, "aws_instance.web", "aws_sqs_queue.alone"}
    assert edges == {("aws_instance.web", NETWORK)}
    nodes = {node["id"]: node for node in found["nodes"]}
    assert (nodes[NETWORK]["blocks"], nodes[NETWORK]["instances"]) == (2, 4)
    assert nodes[NETWORK]["marks"] == {"held": 1, "waits": 0, "drifted": 0, "changed": 0}
    assert nodes["aws_instance.web"]["marks"]["changed"] == 1
    assert found["open"] == []


async def test_what_is_asked_for_is_shown_in_any_case(layered: StackMaps) -> None:
    found = await layered.of("", opened=[], at=f"{NETWORK}.aws_subnet.this[0]", marked={})
    assert [node["id"] for node in found["nodes"] if node["here"]] == [f"{NETWORK}.aws_subnet.this"]
    assert found["open"] == [NETWORK]


async def test_a_stack_that_there_is_not_is_said(layered: StackMaps) -> None:
    with pytest.raises(NotFound, match="no stack 'other'"):
        await layered.of("other", opened=None, at="", marked={})


async def test_a_thousand_resources_are_few_nodes_until_somebody_opens_them(tmp_path: Path) -> None:
    many = [entry("aws_sqs_queue", f"q{number}") for number in range(700)]
    many += [
        entry("aws_instance", f"i{number}", f'module.cell["{number % 10}"]', (f"aws_sqs_queue.q{number}",))
        for number in range(300)
    ]
    maps = maps_of(tmp_path, many)
    found = await maps.of("", opened=None, at="", marked={})
    assert found["resources"] == 1000
    assert len(found["nodes"]) <= 50
    opened = await maps.of("", opened=["/aws_sqs_queue"], at="aws_sqs_queue.q699", marked={})
    assert len(opened["nodes"]) == MOST_NODES
    assert opened["left_off"] == 710 - MOST_NODES
    assert any(node["here"] for node in opened["nodes"])


async def test_blocks_and_edges_are_worked_out_once_for_a_revision(
    layered: StackMaps, monkeypatch: pytest.MonkeyPatch
) -> None:
    await layered.of("", opened=None, at="", marked={})
    monkeypatch.setattr("gateway.context.stack_map.tree_of", lambda _stack: pytest.fail("worked out again"))
    await layered.of("", opened=[], at="", marked={})


def test_a_tree_has_each_block_once(tmp_path: Path) -> None:
    maps = maps_of(tmp_path, [entry("aws_subnet", "this", NETWORK, count=5)])
    [block] = tree_of(maps.stacks.all[0]).blocks
    assert (block.address, block.instances, block.groups) == (f"{NETWORK}.aws_subnet.this", 5, (NETWORK,))
