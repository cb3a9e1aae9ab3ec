"""The blocks and attributes of JSON code, in every form that Terraform reads."""

from pathlib import Path

import pytest

from gateway.core.errors import CodeInvalid
from gateway.terraform.json_syntax.body import JsonBody, read_body
from gateway.terraform.json_syntax.tree import JsonObject

FILE = Path("x.tf.json")


def _read(text: str, name: str = "x.tf.json") -> JsonBody:
    return read_body(Path(name), text.encode())


@pytest.mark.parametrize(
    "text",
    [
        '{"resource": {"a_b": {"one": {}, "two": {}}}}',
        '{"resource": [{"a_b": {"one": {}}}, {"a_b": {"two": {}}}]}',
        '{"resource": {"a_b": [{"one": {}}, {"two": {}}]}}',
        '{"resource": {"a_b": {"one": [{}], "two": {}}}}',
        '{"resource": {"a_b": {"one": {}}}, "locals": null, "resource": {"a_b": {"two": {}}}}',
    ],
)
def test_labels_are_members_and_lists_hold_several_blocks(text: str) -> None:
    body = _read(text)
    assert [block.header for block in body.blocks] == [("resource", "a_b", "one"), ("resource", "a_b", "two")]
    for block in body.blocks:
        assert block.holders[0][0] == body.node
        holder, index = block.holders[-1]
        inner = holder.members[index].value if isinstance(holder, JsonObject) else holder.items[index]
        assert inner == block.body.node


def test_comments_are_no_attributes() -> None:
    body = _read('{"//": "x", "locals": {"//": "y", "a": 1}}')
    assert list(body.attributes) == []
    assert list(body.blocks[0].body.attributes) == ["a"]


def test_values_of_variables_are_attributes_of_the_file() -> None:
    assert list(_read('{"resource": {"a": 1}, "b": 2}', "terraform.tfvars.json").attributes) == ["resource", "b"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", r"Code in JSON syntax must be one JSON object"),
        ('\n{"resources": {}}', r":2: .*'resources' is no kind of block"),
        ('{"resource": {"a_b": 1}}', "the block resource.a_b must be an object"),
        ('{"locals": "x"}', "the block locals must be an object"),
        ('{"locals": {"a": 1, "a": 2}}', "the argument a is set twice"),
        ('{"locals": {"a b": 1}}', "'a b' is not the name of an argument"),
        ('{"locals": 5}', "the block locals must be an object"),
    ],
)
def test_what_terraform_would_refuse_is_an_error_with_its_place(text: str, reason: str) -> None:
    with pytest.raises(CodeInvalid, match=reason):
        _read(text)
