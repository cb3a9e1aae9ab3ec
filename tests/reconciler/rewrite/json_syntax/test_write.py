"""Edits of the HCL become edits of the JSON that change nothing else, whatever the file looks like."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.terraform.json_syntax.tree import JsonArray, JsonNode, JsonObject, parse_tree
from gateway.terraform.json_syntax.view import parse_json
from reconciler.model import Wanted
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.editors.splice import common_start
from reconciler.rewrite.json_syntax.write import write_as_json
from reconciler.rewrite.value_edits import edit_values

FILE = Path("main.tf.json")
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cn", "Co"]) | st.sampled_from('"\\/ab'), max_size=6)
SCALARS = st.booleans() | st.integers(-99, 999) | TEXTS
NAMES = st.sampled_from(["a", "b", "c", "name", "x_y"])
MAPS = st.dictionaries(NAMES, SCALARS, min_size=1, max_size=3)
SEPARATORS = st.sampled_from([(", ", ": "), (",", ":"), (" , ", " : "), (",\t", ":  ")])
STYLES = st.tuples(
    st.sampled_from([None, 1, 2, 4, "\t"]), SEPARATORS, st.booleans(), st.sampled_from(["", "\n", "\r\n"])
)


@st.composite
def _files(draw: st.DrawFn) -> tuple[bytes, dict[str, dict[str, Any]]]:
    """A JSON file in some style with queues that have plain values, maps and lists, and what they declare."""
    queues = draw(
        st.dictionaries(
            st.sampled_from(["q", "r", "s"]),
            st.fixed_dictionaries(
                {"name": TEXTS},
                optional={"delay": SCALARS, "tags": MAPS, "list": st.lists(TEXTS, min_size=1, max_size=3)},
            ),
            min_size=1,
        )
    )
    indent, separators, ascii_, end = draw(STYLES)
    code = {"//": "kept", "resource": {"aws_sqs_queue": queues}, "locals": {"z": draw(SCALARS)}}
    written = json.dumps(_escaped(code), indent=indent, separators=separators, ensure_ascii=ascii_) + end
    return (written.replace("\n", "\r\n") if end == "\r\n" else written).encode(), queues


def _escaped(value: Any) -> Any:
    """The value as a template that stands for it."""
    if isinstance(value, str):
        return value.replace("${", "$${").replace("%{", "%%{")
    if isinstance(value, dict):
        return {name: _escaped(item) for name, item in value.items()}
    return [_escaped(item) for item in value] if isinstance(value, list) else value


def _node(source: bytes, *steps: str) -> JsonNode:
    node = parse_tree(FILE, source)
    for step in steps:
        assert isinstance(node, JsonObject)
        node = next(member.value for member in node.members if member.key == step)
    return node


def _edited(root: Path, source: bytes, name: str, attribute: str, value: Any) -> bytes | None:
    """The file after an edit; None if it is left."""
    wanted = [Wanted(address=f"aws_sqs_queue.{name}", attribute=attribute, value=value)]
    result = edit_values(root, wanted, {FILE: source})
    after = result.files.get(FILE)
    for each in result.edits:
        assert source[: each.start] + each.new + source[each.end :] == after or len(result.edits) > 1
    return None if result.left else source if after is None else after


def _same_outside(before: bytes, after: bytes, start: int, end: int) -> bool:
    """Whether everything before `start` and behind `end` is as it was."""
    return after.startswith(before[:start]) and after.endswith(before[end:]) and len(after) >= start + len(before) - end


EMPTY = Path(__file__).parent / "no_such_directory"


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(_files(), st.data())
def test_a_value_is_replaced_and_no_byte_around_it_changes(file: tuple[bytes, Any], data: st.DataObject) -> None:
    source, queues = file
    name = data.draw(st.sampled_from(sorted(queues)))
    attribute = data.draw(st.sampled_from(sorted(queues[name])))
    value = data.draw({"tags": MAPS, "list": st.lists(TEXTS, min_size=1, max_size=4)}.get(attribute, SCALARS))
    after = _edited(EMPTY, source, name, attribute, value)
    if after is None:
        return  # a text that Terraform cannot hold, or that only differs by its form
    node = _node(source, "resource", "aws_sqs_queue", name, attribute)
    assert _same_outside(source, after, node.start, node.end)
    found = json.loads(after)
    written = found["resource"]["aws_sqs_queue"][name].pop(attribute)
    expected = json.loads(source)
    del expected["resource"]["aws_sqs_queue"][name][attribute]
    assert found == expected
    if isinstance(value, str):
        assert written == _escaped(value)


@settings(max_examples=50, deadline=None)
@given(_files(), st.data())
def test_what_is_added_is_one_insertion_and_what_is_removed_one_cut(
    file: tuple[bytes, Any], data: st.DataObject
) -> None:
    source, queues = file
    name = data.draw(st.sampled_from(sorted(queues)))
    after = _edited(EMPTY, source, name, "delay_seconds", 7)
    assert after is not None
    start = common_start(source, after)
    assert start + common_start(source[start:][::-1], after[start:][::-1]) == len(source)
    assert json.loads(after)["resource"]["aws_sqs_queue"][name]["delay_seconds"] == 7
    document = parse_json(FILE, after)
    (block,) = document.blocks(document.root, "resource", "aws_sqs_queue", name)
    node = document.attributes(block)["delay_seconds"]
    without = document.source[: node.start_byte] + document.source[node.end_byte :]
    assert write_as_json(document, without) == source


HAND = """{
  "terraform": {"required_version": ">= 1.5"},
  "resource": {
    "aws_sqs_queue": {
      "a": {"name": "a"},
      "b": {"name": "b"}
    },
    "aws_sns_topic": {"t": {"name": "t"}},
    "aws_autoscaling_group": {
      "g": {
        "tag": {"key": "a", "value": "b", "propagate_at_launch": true},
        "lifecycle": {"ignore_changes": ["tags"]}
      }
    }
  }
}
"""


def _written(old: str, new: str, source: str = HAND) -> str:
    """The file after a change of its HCL."""
    document = parse_json(FILE, source.encode())
    hcl = document.source.decode()
    assert hcl.count(old) == 1, hcl
    return write_as_json(document, hcl.replace(old, new).encode()).decode()


def test_a_new_block_stands_with_its_siblings() -> None:
    block = 'resource "aws_sqs_queue" "c" {\n  name = aws_sns_topic.t.name\n}\n'
    after = _written('resource "aws_sns_topic"', f'{block}resource "aws_sns_topic"')
    assert after == HAND.replace(
        '"b": {"name": "b"}\n', '"b": {"name": "b"},\n      "c": {"name": "${aws_sns_topic.t.name}"}\n'
    )


def test_new_kinds_of_blocks_get_their_own_members() -> None:
    blocks = 'variable "v" {\n  type = string\n}\nimport {\n  to = aws_sqs_queue.a\n  id = "x"\n}\nimport {\n  to = aws_sqs_queue.b\n  id = "y"\n}\n'
    after = json.loads(_written("terraform {", f"{blocks}terraform {{"))
    assert after["variable"] == {"v": {"type": "string"}}
    assert after["import"] == [{"to": "aws_sqs_queue.a", "id": "x"}, {"to": "aws_sqs_queue.b", "id": "y"}]
    del after["variable"], after["import"]
    assert after == json.loads(HAND)


def test_what_is_gone_leaves_no_empty_object() -> None:
    after = _written('resource "aws_sns_topic" "t" {\n  name = "t"\n}\n', "")
    assert after == HAND.replace('    "aws_sns_topic": {"t": {"name": "t"}},\n', "")
    after = _written('resource "aws_sqs_queue" "a" {\n  name = "a"\n}\n', "")
    assert after == HAND.replace('      "a": {"name": "a"},\n', "")


def test_a_renamed_block_stays_where_it_was_or_is_moved() -> None:
    after = json.loads(_written('"aws_sns_topic" "t"', '"aws_sns_topic" "new"'))
    assert after["resource"]["aws_sns_topic"] == {"new": {"name": "t"}}


def test_a_second_nested_block_makes_a_list() -> None:
    block = '  tag {\n    key = "c"\n    value = "d"\n    propagate_at_launch = false\n  }\n'
    one = '"tag": {"key": "a", "value": "b", "propagate_at_launch": true}'
    after = _written("  lifecycle {", f"{block}  lifecycle {{")
    listed = '"tag": [{"key": "a", "value": "b", "propagate_at_launch": true}, {"key": "c", "value": "d", "propagate_at_launch": false}]'
    assert after == HAND.replace(one, listed)
    third = _written("  lifecycle {", f"{block.replace(chr(34) + 'c', chr(34) + 'e')}  lifecycle {{", after)
    assert [row["key"] for row in json.loads(third)["resource"]["aws_autoscaling_group"]["g"]["tag"]] == ["a", "c", "e"]
    document = parse_json(FILE, after.encode())
    first = document.source.decode().index("  tag {")
    without = (
        document.source.decode()[:first]
        + document.source.decode()[document.source.decode().index("  tag {", first + 1) :]
    )
    assert json.loads(write_as_json(document, without.encode()))["resource"]["aws_autoscaling_group"]["g"]["tag"] == [
        {"key": "c", "value": "d", "propagate_at_launch": False}
    ]


def test_an_item_of_references_is_added() -> None:
    after = _written("      tags,\n", "      tags,\n      min_size,\n")
    assert after == HAND.replace('["tags"]', '["tags", "min_size"]')


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('resource "aws_sns_topic" "t" {\n', 'resource "other_thing" "t" {\n  setting {\n  }\n'),
        ('  required_version = ">= 1.5"', "  required_version = f(1)"),
        ('  tag {\n    key = "a"', '  tag {\n    key = "0"\n  }\n  tag {\n    key = "a"'),
    ],
)
def test_what_json_cannot_say_is_refused(old: str, new: str) -> None:
    with pytest.raises(CannotEdit, match=r"main\.tf\.json|JSON syntax"):
        _written(old, new)


def test_blocks_in_lists_stay_there() -> None:
    source = '{"resource": [{"aws_sqs_queue": [{"a": {"name": "a"}}]}], "locals": [{"x": 1}, {"y": 2}]}'
    after = _written("  y = 2", "  y = 3", source)
    assert after == source.replace('"y": 2', '"y": 3')
    block = 'resource "aws_sqs_queue" "b" {\n  name = "b"\n}\n'
    after = _written("locals {\n  x", f"{block}locals {{\n  x", source)
    assert json.loads(after)["resource"] == [{"aws_sqs_queue": [{"a": {"name": "a"}}, {"b": {"name": "b"}}]}]
    assert isinstance(_node(after.encode(), "locals"), JsonArray)
