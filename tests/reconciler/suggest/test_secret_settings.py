"""What holds a secret, what only may, and what feeds either."""

from pathlib import Path

import pytest

from gateway.terraform.lang.hcl import parse
from reconciler.suggest.code_settings import settings_in
from reconciler.suggest.secret_settings import has_secret_key, is_secret_label, secret_settings

CODE = b"""resource "aws_db_instance" "a" {
  password = var.one
}
resource "aws_lambda_function" "b" {
  environment {
    variables = { A = var.two, B = aws_sqs_queue.jobs.name }
  }
}
resource "aws_sqs_queue" "jobs" {
  name          = "jobs"
  delay_seconds = var.three
}
variable "one" {
  default = local.first
}
variable "two" {
  default = 2
}
locals {
  first = "x"
}
"""


def test_what_feeds_a_secret_is_one_and_what_may_be_one_taints_no_resource() -> None:
    found = secret_settings(list(settings_in(parse(Path("main.tf"), CODE), of_variables=False)), ["four"])
    assert [each.text for each in found.sure] == ["var.one", "local.first", '"x"']
    possible = {each.text for each in found.possible}
    assert {"var.two", "2"} <= possible
    assert '"jobs"' not in possible
    assert {"var.one", "var.two", "var.four", "local.first"} <= found.keys
    assert "var.three" not in found.keys


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password: x", True),
        ('"dbPassword": 1', True),
        ("--token x", True),
        ("API_KEY=x", True),
        ("arn:aws:secretsmanager:eu-west-1:1:secret:a", False),
        ("size: 3", False),
        ("a token of love", False),
    ],
)
def test_a_text_names_a_secret_before_its_value(text: str, secret: bool) -> None:
    assert has_secret_key(text) is secret


def test_a_label_is_the_last_part_of_a_path() -> None:
    assert is_secret_label("/app/db/password")
    assert not is_secret_label("/password/db")
