"""A data source is known if the code alone tells its value, or if the provider's answer is at hand."""

from pathlib import Path

import pytest

from gateway.terraform.config.module import informed, load_module
from gateway.terraform.lang.values import Unknown

CODE = b"""data "aws_caller_identity" "me" {
}

data "aws_iam_policy_document" "each" {
  for_each = toset(["a", "b"])
  statement {
    sid = each.key
  }
}

data "aws_iam_policy_document" "two" {
  count = 2
}

locals {
  account = data.aws_caller_identity.me.account_id
  sid     = jsondecode(data.aws_iam_policy_document.each["b"].json).Statement[0].Sid
  number  = length(data.aws_iam_policy_document.two)
  arn     = aws_sqs_queue.q[0].arn
}

resource "aws_sqs_queue" "q" {
  count = 1
}
"""
LIVE = {"data.aws_caller_identity.me": {"account_id": "1"}, "aws_sqs_queue.q[0]": {"arn": "arn:q"}}


def test_policy_documents_are_known_from_the_code(tmp_path: Path) -> None:
    module = load_module(tmp_path, {Path("main.tf"): CODE})
    assert module.local("sid") == "b"
    assert module.local("number") == 2


def test_others_are_known_only_if_they_are_live(tmp_path: Path) -> None:
    module = load_module(tmp_path, {Path("main.tf"): CODE})
    with pytest.raises(Unknown):
        module.local("account")
    live = informed(module, LIVE)
    assert (live.local("account"), live.local("arn")) == ("1", "arn:q")
    assert informed(module, {}) is module
