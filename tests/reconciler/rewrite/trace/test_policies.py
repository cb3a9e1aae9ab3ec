"""A member of a policy leads to the block or argument of the policy document that makes it."""

import json
from pathlib import Path

import pytest

from gateway.core.model.json import Json
from reconciler.model import Wanted
from reconciler.rewrite.value_edits import edit_values

CODE = """data "aws_iam_policy_document" "base" {
  statement {
    sid       = "Base"
    actions   = ["a:Get"]
    resources = ["*"]
  }
}

data "aws_iam_policy_document" "all" {
  source_policy_documents = [data.aws_iam_policy_document.base.json]

  statement {
    sid       = "Own"
    actions   = ["b:Get"]
    resources = ["*"]

    principals {
      type        = "AWS"
      identifiers = ["1"]
    }

    condition {
      test     = "Bool"
      variable = "k"
      values   = ["true"]
    }
  }
}

resource "r" "a" {
  policy = data.aws_iam_policy_document.all.json
}
"""
BASE: dict[str, Json] = {"Sid": "Base", "Effect": "Allow", "Action": "a:Get", "Resource": "*"}
OWN: dict[str, Json] = {
    "Sid": "Own", "Effect": "Allow", "Action": "b:Get", "Resource": "*", "Principal": {"AWS": "1"},
    "Condition": {"Bool": {"k": "true"}},
}  # fmt: skip


def _edited(root: Path, *statements: Json) -> str:
    policy = json.dumps({"Version": "2012-10-17", "Statement": list(statements)})
    result = edit_values(
        root, [Wanted(address="r.a", attribute="policy", value=policy)], {Path("main.tf"): CODE.encode()}
    )
    if result.left:
        return result.left[0].reason
    return result.files[Path("main.tf")].decode() if result.files else CODE


@pytest.mark.parametrize(
    ("statements", "old", "new"),
    [
        ([BASE, OWN], "", ""),
        ([{**BASE, "Action": ["a:Get", "a:Put"]}, OWN], '["a:Get"]', '["a:Get", "a:Put"]'),
        ([BASE, {**OWN, "Action": ["b:Put"]}], '["b:Get"]', '["b:Put"]'),
        ([BASE, {**OWN, "Principal": {"AWS": ["2", "1"]}}], '["1"]', '["1", "2"]'),
        ([BASE, {**OWN, "Condition": {"Bool": {"k": "false"}}}], '["true"]', '["false"]'),
        ([BASE, {**OWN, "Effect": "Deny"}], '\n    actions   = ["b', '\n    effect    = "Deny"\n    actions   = ["b'),
    ],
)
def test_a_member_leads_to_its_argument(statements: list[Json], old: str, new: str, tmp_path: Path) -> None:
    after = _edited(tmp_path, *statements)
    if "effect" in new:
        assert '    effect    = "Deny"\n' in after
        assert after.replace('    effect    = "Deny"\n', "") == CODE
    else:
        assert after == CODE.replace(old, new)


def test_a_condition_and_a_principal_are_taken_away_and_added(tmp_path: Path) -> None:
    without = {name: value for name, value in OWN.items() if name != "Condition"}
    assert "condition {" not in _edited(tmp_path, BASE, without)
    more = _edited(tmp_path, BASE, {**OWN, "Principal": {"AWS": "1", "Service": "s"}})
    assert more.count("principals {") == 2
    assert '      type        = "Service"\n      identifiers = ["s"]\n' in more


def test_a_statement_of_another_document_is_not_taken_away_here(tmp_path: Path) -> None:
    assert "comes from another policy document" in _edited(tmp_path, OWN)


_COUNTED = """variable "rows" {
  default = [
    {
      sid     = "Queues"
      actions = ["sqs:Send", "sqs:Receive"]
    },
    {
      sid     = "Logs"
      actions = ["logs:Put"]
    },
  ]
}

data "aws_iam_policy_document" "rows" {
  count = length(var.rows) > 0 ? 1 : 0

  dynamic "statement" {
    for_each = var.rows

    content {
      sid       = statement.value.sid
      actions   = statement.value.actions
      resources = ["*"]
    }
  }
}

resource "r" "a" {
  policy = data.aws_iam_policy_document.rows[0].json
}
"""


@pytest.mark.parametrize(
    ("actions", "before", "after"),
    [
        (["sqs:Send"], '["sqs:Send", "sqs:Receive"]', '["sqs:Send"]'),
        (["sqs:Send", "sqs:Purge"], '["sqs:Send", "sqs:Receive"]', '["sqs:Send", "sqs:Purge"]'),
    ],
)
def test_a_document_that_is_counted_is_followed_at_its_index(
    tmp_path: Path, actions: list[str], before: str, after: str
) -> None:
    rows = [("Queues", actions), ("Logs", "logs:Put")]
    statements = [{"Sid": sid, "Effect": "Allow", "Action": action, "Resource": "*"} for sid, action in rows]
    policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
    result = edit_values(
        tmp_path, [Wanted(address="r.a", attribute="policy", value=policy)], {Path("main.tf"): _COUNTED.encode()}
    )
    assert not result.left
    assert result.files[Path("main.tf")].decode() == _COUNTED.replace(before, after)


def test_a_document_of_another_index_is_not_there(tmp_path: Path) -> None:
    code = _COUNTED.replace("rows[0].json", "rows[1].json")
    policy = json.dumps({"Version": "2012-10-17", "Statement": []})
    result = edit_values(
        tmp_path, [Wanted(address="r.a", attribute="policy", value=policy)], {Path("main.tf"): code.encode()}
    )
    assert result.left
    assert not result.files


DYNAMIC = """variable "statements" {
  type    = any
  default = []
}

data "aws_iam_policy_document" "all" {
  dynamic "statement" {
    for_each = var.statements

    content {
      sid       = try(statement.value.sid, null)
      effect    = try(statement.value.effect, "Allow")
      actions   = statement.value.actions
      resources = try(statement.value.resources, ["*"])
    }
  }
}

resource "r" "a" {
  policy = data.aws_iam_policy_document.all.json
}
"""


@pytest.mark.parametrize(
    ("more", "written"),
    [
        ({"Sid": "B", "Effect": "Allow", "Action": "b:Get", "Resource": "*"}, ', { sid = "B", actions = ["b:Get"] }'),
        (
            {"Effect": "Deny", "Action": ["b:Get"], "Resource": ["x"]},
            ', { effect = "Deny", actions = ["b:Get"], resources = ["x"] }',
        ),
        ({"Effect": "Allow", "Action": "b:Get", "Resource": "*", "Principal": "*"}, "does not set"),
    ],
)
def test_a_statement_is_added_to_what_a_dynamic_block_of_a_vendored_module_is_made_from(
    more: Json, written: str, tmp_path: Path
) -> None:
    call = 'module "m" {\n  source = "./vendor/m"\n  statements = [{ sid = "A", actions = ["a:Get"] }]\n}\n'
    sources = {Path("main.tf"): call.encode(), Path("vendor/m/main.tf"): DYNAMIC.encode()}
    first: Json = {"Sid": "A", "Effect": "Allow", "Action": "a:Get", "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [first, more]})
    result = edit_values(tmp_path, [Wanted(address="module.m.r.a", attribute="policy", value=policy)], sources)
    if result.left:
        assert any(written in each.reason for each in result.left)
    else:
        assert [each.new.decode() for each in result.edits] == [written]
