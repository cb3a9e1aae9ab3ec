"""Where another object is wanted than the one that a reference names, the reference changes; where the object changed, it stays."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from gateway.core.model.json import Json
from reconciler.model import Wanted
from reconciler.rewrite.value_edits import edit_values

CODE = """resource "aws_task" "web" {
  family = "web"
}

resource "aws_task" "other" {
  family = "other"
}

resource "aws_net" "n" {
  for_each = toset(["a", "b", "c"])
  zone     = each.key
}

resource "aws_service" "s" {
  task = aws_task.web.arn
  net  = aws_net.n["a"].id
  size = aws_task.web.cpu
}

resource "aws_service" "t" {
  for_each = toset(["a", "b", "c"])
  net      = aws_net.n[each.key].id
}
"""
LIVE: Mapping[str, Mapping[str, Json]] = {
    "aws_task.web": {"arn": "arn:task/web:1", "cpu": "256"},
    "aws_task.other": {"arn": "arn:task/other:1", "cpu": "512"},
    'aws_net.n["a"]': {"id": "net-a"},
    'aws_net.n["b"]': {"id": "net-b"},
    'aws_net.n["c"]': {"id": "net-c"},
    "aws_lake.l": {"id": "net-z"},
    "data.aws_task.d": {"arn": "arn:task/data:1"},
}


def _edited(root: Path, attribute: str, value: Json, address: str = "aws_service.s") -> str:
    wanted = Wanted(address=address, attribute=attribute, value=value)
    result = edit_values(root, [wanted], {Path("main.tf"): CODE.encode()}, live=LIVE)
    return result.left[0].reason if result.left else "".join(each.new.decode() for each in result.edits)


@pytest.mark.parametrize(
    ("attribute", "value", "line"),
    [
        ("task", "arn:task/web:2", '  task = "arn:task/web:2"'),
        ("task", "arn:task/other:1", "  task = aws_task.other.arn"),
        ("task", "arn:task/data:1", '  task = "arn:task/data:1"'),
        ("net", "net-b", '  net  = aws_net.n["b"].id'),
        ("net", "net-z", '  net  = "net-z"'),
    ],
)
def test_another_object_is_named_by_reference_where_the_stack_has_it(
    attribute: str, value: str, line: str, tmp_path: Path
) -> None:
    wanted = Wanted(address="aws_service.s", attribute=attribute, value=value)
    result = edit_values(tmp_path, [wanted], {Path("main.tf"): CODE.encode()}, live=LIVE)
    assert not result.left
    after = result.files[Path("main.tf")].decode().splitlines()
    assert [each for each in after if each not in CODE.splitlines()] == [line]


@pytest.mark.parametrize(("attribute", "value"), [("size", "512"), ("task", ""), ("task", None)])
def test_what_the_object_itself_has_is_left(attribute: str, value: Json, tmp_path: Path) -> None:
    assert "another object" in _edited(tmp_path, attribute, value)


def test_an_object_that_is_not_known_or_has_the_value_itself_is_left(tmp_path: Path) -> None:
    wanted = [Wanted(address="aws_service.s", attribute="task", value="arn:task/web:2")]
    (left,) = edit_values(tmp_path, wanted, {Path("main.tf"): CODE.encode()}).left
    assert "another object" in left.reason
    moved = {**LIVE, "aws_task.web": {"arn": "arn:task/web:2"}}
    assert edit_values(tmp_path, wanted, {Path("main.tf"): CODE.encode()}, live=moved).files == {}


def test_the_other_instances_of_a_block_keep_theirs(tmp_path: Path) -> None:
    assert "another object" in _edited(tmp_path, "net", "net-b", 'aws_service.t["a"]')
