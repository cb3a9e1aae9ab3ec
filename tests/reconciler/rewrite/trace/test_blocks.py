"""Blocks are added where they come from: in place, or in the collection of a dynamic block."""

import json
from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.terraform.lang.evaluate import EvaluationScope
from gateway.terraform.lang.grammar import parse_expression
from gateway.terraform.lang.values import Unknown
from reconciler.model import Wanted
from reconciler.rewrite.trace.blocks import DynamicContent
from reconciler.rewrite.value_edits import edit_values


def _edited(root: Path, collection: str, content: str, rows: list[Json]) -> str:
    code = f"""locals {{
  doors = {collection}
}}

resource "r" "a" {{
  dynamic "door" {{
    for_each = local.doors
    content {{
{content}
    }}
  }}
}}
"""
    wanted = Wanted(address="r.a", attribute="door", value=rows)
    result = edit_values(root, [wanted], {Path("main.tf"): code.encode()})
    if result.left:
        return result.left[0].reason
    return result.files[Path("main.tf")].decode().split("\n")[1].strip()


@pytest.mark.parametrize(
    ("collection", "content", "rows", "after"),
    [
        ("[80, 443]", "port = door.value", [{"port": 443}], "doors = [443]"),
        ("[80]", "port = door.value", [{"port": 80}, {"port": 22}], "doors = [80, 22]"),
        ('toset(["a"])', "name = door.value", [{"name": "b"}, {"name": "a"}], 'doors = toset(["a", "b"])'),
        (
            '[{ p = 1, n = "x" }]',
            "      port = door.value.p\n      name = door.value.n",
            [{"port": 1, "name": "x"}, {"port": 2, "name": "y"}],
            'doors = [{ p = 1, n = "x" }, { p = 2, n = "y" }]',
        ),
        ("{ a = 1 }", "      name = door.key\n      port = door.value", [], "doors = {}"),
        (
            "{ a = 1 }",
            "      name = door.key\n      port = door.value",
            [{"name": "a", "port": 1}, {"name": "b", "port": 2}],
            "doors = { a = 1, b = 2 }",
        ),
        ("[1]", "port = door.value + 1", [{"port": 2}, {"port": 3}], "doors = [1, 2]"),
        (
            '[{ p = 1, nets = "a" }]',
            '      port = lookup(door.value, "p", 80)\n      nets = split(",", lookup(door.value, "nets", "all"))',
            [{"port": 1, "nets": ["a"]}, {"port": 80, "nets": ["b", "c"]}, {"port": 5, "nets": ["all"]}],
            'doors = [{ p = 1, nets = "a" }, { nets = "b,c" }, { p = 5 }]',
        ),
    ],
)
def test_the_collection_gets_the_items(
    collection: str, content: str, rows: list[Json], after: str, tmp_path: Path
) -> None:
    assert _edited(tmp_path, collection, content, rows) == after


@pytest.mark.parametrize(
    ("collection", "content", "rows"),
    [
        ("[1]", "      port = door.value * 2", [{"port": 2}, {"port": 3}]),
        ("[1]", "port = door.value", [{"port": 1}, {"port": 2, "name": "x"}]),
        ("{ a = 1 }", "port = door.value", [{"port": 1}, {"port": 2}]),
        ("[1]", '      port = door.value\n      kind = "x"', [{"port": 1, "kind": "x"}, {"port": 2, "kind": "y"}]),
    ],
)
def test_what_no_item_makes_is_written_beside(collection: str, content: str, rows: list[Json], tmp_path: Path) -> None:
    assert _edited(tmp_path, collection, content, rows) == f"doors = {collection}"


def test_a_block_is_taken_away_however_it_is_made(tmp_path: Path) -> None:
    assert _edited(tmp_path, "[1]", "port = door.value + 1", []) == "doors = []"


MODULE = b"""variable "mode" {
  type    = string
  default = null
}

resource "aws_lambda_function" "this" {
  dynamic "tracing_config" {
    for_each = var.mode == null ? [] : [true]

    content {
      mode = var.mode
    }
  }
}
"""
FILES = {Path("main.tf"): b'module "f" {\n  source = "./vendor/f"\n}\n', Path("vendor/f/main.tf"): MODULE}


def _wanted(value: Json) -> list[Wanted]:
    return [Wanted(address="module.f.aws_lambda_function.this", attribute="tracing_config", value=value)]


def test_the_call_gives_what_the_content_reads() -> None:
    result = edit_values(Path("/nowhere"), _wanted([{"mode": "Active"}]), FILES)
    assert result.files == {Path("main.tf"): b'module "f" {\n  source = "./vendor/f"\n\n  mode = "Active"\n}\n'}


@pytest.mark.parametrize("value", [[{"mode": "A"}, {"mode": "B"}], [{"other": 1}], "x"])
def test_other_values_are_left(value: Json) -> None:
    result = edit_values(Path("/nowhere"), _wanted(value), FILES)
    assert (result.files, len(result.left)) == ({}, 1)


SCOPE = EvaluationScope(names={"rules": {"web": [80, 80, "tcp"], "_": [0, 0, "-1"]}})


def _content(**written: str) -> DynamicContent:
    return DynamicContent("x", {name: parse_expression(text) for name, text in written.items()}, SCOPE)


@pytest.mark.parametrize(
    ("expression", "value", "item"),
    [
        ("x.value", 5, 5),
        ("(x.value)", "a", "a"),
        ("x.value.port", 5, {"port": 5}),
        ('x.value["port"]', 5, {"port": 5}),
        ("x.value.a.b", 5, {"a": {"b": 5}}),
        ('lookup(x.value, "port", 80)', 80, {}),
        ('lookup(x.value, "port", 80)', 81, {"port": 81}),
        ("try(x.value.port, null)", None, {}),
        ("try(x.value.port, null)", 5, {"port": 5}),
        ('try(x.value.port, x.value["ports"], 1)', 5, {"port": 5}),
        ('coalesce(lookup(x.value, "a", null), "b")', "c", {"a": "c"}),
        ('lookup(x.value, "from", rules[lookup(x.value, "rule", "_")][0])', 5, {"from": 5}),
        ('lookup(x.value, "from", rules[lookup(x.value, "rule", "_")][0])', 0, {}),
        ('split(",", lookup(x.value, "nets", "n"))', ["n"], {}),
        ('split(",", lookup(x.value, "nets", "n"))', ["a", "b"], {"nets": "a,b"}),
        ("[x.value.net]", ["a"], {"net": "a"}),
        ("tolist([x.value.net])", ["a"], {"net": "a"}),
        ('"${x.value.net}/32"', "10.0.0.1/32", {"net": "10.0.0.1"}),
        ("x.value + 1", 5, 4),
        ("10 - x.value.n", 3, {"n": 7}),
        ("-x.value", 5, -5),
        ('x.value.on ? "Allow" : "Deny"', "Deny", None),
        ("try(x.value.a, null) == null ? x.value.b : 1", 5, {"b": 5}),
    ],
)
def test_an_item_gives_one_attribute_its_value(expression: str, value: Json, item: Json) -> None:
    content = _content(port=expression)
    if item is None:
        with pytest.raises(Unknown, match=r"the same for all items|no item gives"):
            content.item_of({"port": value})
    else:
        assert content.item_of({"port": value}) == (None, item)


def test_an_item_gives_all_attributes_and_holds_nothing_that_defaults_give() -> None:
    content = _content(
        about='lookup(x.value, "about", "none")', first='lookup(x.value, "first", 0)', name="x.key", kind='"tcp"'
    )
    row: dict[str, Json] = {"about": "none", "first": 5, "name": "a", "kind": "tcp", "self": False, "more": []}
    assert content.item_of(row) == ("a", {"first": 5})


@pytest.mark.parametrize(
    ("written", "row", "why"),
    [
        ({"a": "x.value.a"}, {"a": 1, "b": 2}, "does not set b"),
        ({"a": "5"}, {"a": 6}, "the same for all items"),
        ({"a": "x.value", "b": "x.value"}, {"a": 1, "b": 2}, "no item gives b"),
        ({"a": "[x.value]"}, {"a": [1, 2]}, "no item gives a"),
        ({"a": "x.value + other.size"}, {"a": 5}, "no item gives a"),
        ({"a": "md5(x.value)"}, {"a": "q"}, "the same for all items"),
        ({"a": 'try(x.value.a, "")', "b": 'try(x.value.a, "q")'}, {"a": "", "b": "r"}, "different items"),
        ({"a": "x.value.a", "b": "x.value"}, {"a": 1, "b": 2}, "no item gives b"),
    ],
)
def test_no_item_makes_the_block(written: dict[str, str], row: dict[str, Json], why: str) -> None:
    with pytest.raises(Unknown, match=why):
        _content(**written).item_of(row)


_NESTED = """locals {
  statements = [
    { actions = ["sqs:SendMessage"], services = ["events.amazonaws.com"] },
  ]
}

data "aws_iam_policy_document" "this" {
  dynamic "statement" {
    for_each = local.statements

    content {
      actions   = statement.value.actions
      resources = ["*"]

      principals {
        type        = "Service"
        identifiers = statement.value.services
      }

      dynamic "condition" {
        for_each = lookup(statement.value, "conditions", [])

        content {
          test     = condition.value.test
          variable = condition.value.variable
          values   = condition.value.values
        }
      }
    }
  }
}

resource "aws_sqs_queue_policy" "this" {
  policy = data.aws_iam_policy_document.this.json
}
"""


def _statement(action: str, service: str, **more: Json) -> Json:
    return {"Effect": "Allow", "Action": action, "Resource": "*", "Principal": {"Service": service}, **more}


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({}, '{ actions = ["sns:Publish"], services = ["sns.amazonaws.com"] }'),
        (
            {"Condition": {"StringEquals": {"aws:SourceAccount": "1"}}},
            (
                '{ actions = ["sns:Publish"], services = ["sns.amazonaws.com"], '
                'conditions = [{ test = "StringEquals", variable = "aws:SourceAccount", values = ["1"] }] }'
            ),
        ),
    ],
)
def test_an_item_makes_a_block_with_the_blocks_in_it(more: dict[str, Json], line: str, tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_NESTED)
    statements: list[Json] = [
        _statement("sqs:SendMessage", "events.amazonaws.com"),
        _statement("sns:Publish", "sns.amazonaws.com", **more),
    ]
    policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
    wanted = Wanted(address="aws_sqs_queue_policy.this", attribute="policy", value=policy)
    edited = edit_values(tmp_path, [wanted])
    assert edited.left == ()
    assert edited.files[Path("main.tf")].decode() == _NESTED.replace(
        '["events.amazonaws.com"] },\n', f'["events.amazonaws.com"] }},\n    {line},\n'
    )
