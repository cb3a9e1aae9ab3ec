"""A policy document is evaluated as the provider makes it; `tests/bench/drift` holds it to Terraform itself."""

import json
from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.terraform.config.module import load_module
from gateway.terraform.config.policy_document import one_or_list, statement_of
from gateway.terraform.lang import values
from gateway.terraform.lang.values import Unknown


def _policy(root: Path, body: str, more: str = "") -> Json:
    code = f'data "aws_iam_policy_document" "a" {{\n{body}\n}}\n{more}'
    found = values.mapping(load_module(root, {Path("main.tf"): code.encode()}).data("aws_iam_policy_document.a"), "a")
    parsed: Json = json.loads(values.text(found["json"]))
    return parsed


def test_a_statement_has_its_members(tmp_path: Path) -> None:
    body = """
  statement {
    sid     = "A"
    effect  = "Deny"
    actions = ["a:Get", "a:Put"]
    not_resources = ["x"]
    principals {
      type        = "AWS"
      identifiers = ["1", "2"]
    }
    not_principals {
      type        = "*"
      identifiers = ["*"]
    }
    condition {
      test     = "Bool"
      variable = "k"
      values   = ["true"]
    }
  }"""
    assert _policy(tmp_path, body) == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "A",
                "Effect": "Deny",
                "Action": ["a:Get", "a:Put"],
                "NotResource": "x",
                "Principal": {"AWS": ["1", "2"]},
                "NotPrincipal": "*",
                "Condition": {"Bool": {"k": "true"}},
            }
        ],
    }


def test_sources_come_first_and_overrides_replace_by_sid(tmp_path: Path) -> None:
    body = """
  source_policy_documents   = [jsonencode({ Statement = [{ Sid = "S", Effect = "Allow" }, { Sid = "A" }] })]
  override_policy_documents = [jsonencode({ Statement = { Sid = "S", Effect = "Deny" } })]
  statement {
    sid = "A"
  }"""
    policy = _policy(tmp_path, body)
    assert isinstance(policy, dict)
    assert policy["Statement"] == [{"Sid": "S", "Effect": "Deny"}, {"Sid": "A", "Effect": "Allow"}]


@pytest.mark.parametrize(
    "body", ['  source_json = "{}"', "  statement {\n    actions = [r.other.arn]\n  }", "  for_each = var.none"]
)
def test_what_is_not_known_is_unknown(body: str, tmp_path: Path) -> None:
    with pytest.raises(Unknown):
        _policy(tmp_path, body)


def test_one_item_is_written_alone() -> None:
    assert one_or_list(["a"]) == "a"
    assert one_or_list(["a", "b"]) == ["a", "b"]
    assert statement_of({}) == {"Effect": "Allow"}
