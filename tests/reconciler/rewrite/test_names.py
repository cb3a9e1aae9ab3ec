"""Names become labels and names of variables, and what two names share ends at a separator."""

from pathlib import Path

import pytest

from gateway.terraform.config.module import load_module
from reconciler.model import Wanted
from reconciler.rewrite.names import label_of, names_of, shared_beginning, variable_name


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("AmazonS3ReadOnlyAccess", "amazon_s3_read_only_access"),
        ("AmazonSQSFullAccess", "amazon_sqs_full_access"),
        ("/shop/web", "shop_web"),
        ("10.0.0.0/8", "10_0_0_0_8"),
        ("", ""),
    ],
)
def test_a_label(name: str, label: str) -> None:
    assert label_of(name) == label


def test_what_is_shared_ends_at_a_separator() -> None:
    assert shared_beginning("shop-mail", "shop-main", "other") == "shop-"
    assert shared_beginning("shop", "shopping") == ""
    assert shared_beginning("a") == ""


def test_names_are_told_once() -> None:
    assert list(names_of({"id": "a", "name": "a", "bucket": "b", "size": 1})) == ["a", "b"]


CODE = """
variable "delay" {}
variable "mail_size" {}
resource "aws_sqs_queue" "mail" {}
resource "aws_sqs_queue" "dead" {}
resource "aws_s3_bucket" "this" {}
"""


@pytest.mark.parametrize(
    ("address", "attribute", "like", "name"),
    [
        ("aws_s3_bucket.this", "force_destroy", "", "force_destroy"),
        ("aws_s3_bucket.this", "delay", "", "bucket_delay"),
        ("aws_s3_bucket.this", "tags", "", "bucket_tags"),
        ("aws_s3_bucket.this", "rule.0.delay", "", "rule_delay"),
        ("aws_s3_bucket.this", "count", "", "bucket_count"),
        ("aws_s3_bucket.this", "redrive.maxReceiveCount", "", "max_receive_count"),
        ("aws_sqs_queue.dead", "size", "", "dead_size"),
        ("aws_sqs_queue.mail", "size", "", "mail_size_2"),
        ("aws_sqs_queue.mail", "size", "keep_days", "keep_days"),
    ],
)
def test_the_name(address: str, attribute: str, like: str, name: str) -> None:
    module = load_module(Path("/nowhere"), {Path("main.tf"): CODE.encode()})
    instance = module.instance(address)
    assert instance is not None
    wanted = Wanted(address=address, attribute=attribute, value=1)
    assert variable_name([module], wanted, instance, like) == name
