"""What the code declares is read without terraform; a value that cannot be evaluated is unsure."""

import json
from pathlib import Path

import pytest

from gateway.core.errors import CodeInvalid
from gateway.core.model.json import Json
from reconciler.model import Wanted
from reconciler.proof.declarations import (
    Declaration,
    addresses,
    captures,
    ignored_changes,
    read_declared,
    written_as_null,
)

CODE = """
variable "size" {
  default = 4
}
resource "aws_x" "a" {
  size = var.size
  arn  = aws_y.b.arn
  tags = { owner = "ops" }
}
"""


@pytest.mark.parametrize(
    ("address", "attribute", "value", "says"),
    [
        ("aws_x.a", "size", 4, Declaration.THIS),
        ("aws_x.a", "size", "4", Declaration.THIS),
        ("aws_x.a", "size", 6, Declaration.OTHER),
        ("aws_x.a", "unset", 6, Declaration.OTHER),
        ("aws_x.a", "unset", None, Declaration.THIS),
        ("aws_x.a", "arn", "arn:1", Declaration.UNSURE),
        ("aws_x.a", "tags.owner", "ops", Declaration.THIS),
        ("aws_x.a", "tags", {"owner": "ops", "more": "x"}, Declaration.OTHER),
        ("aws_x.gone", "size", 4, Declaration.NOTHING),
    ],
)
def test_what_the_code_says(tmp_path: Path, address: str, attribute: str, value: Json, says: Declaration) -> None:
    (tmp_path / "main.tf").write_text(CODE)
    (found,) = read_declared(tmp_path, [Wanted(address=address, attribute=attribute, value=value)])
    assert found.says is says


def test_files_in_memory_go_before_those_on_disk(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(CODE)
    wanted = [Wanted(address="aws_x.a", attribute="size", value=9)]
    (found,) = read_declared(tmp_path, wanted, {Path("terraform.tfvars"): b"size = 9\n"})
    assert found.says is Declaration.THIS
    assert addresses(tmp_path) == {"aws_x.a"}


def test_code_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text("resource {{{")
    with pytest.raises(CodeInvalid):
        read_declared(tmp_path, [])


def test_a_resource_that_is_gone_or_new_counts_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(CODE)
    wanted = [
        Wanted(address=address, attribute="*", value=value)
        for address, value in (("aws_x.a", None), ("aws_x.b", None), ("aws_x.a", {}), ("aws_x.b", {}))
    ]
    says = [code.says for code in read_declared(tmp_path, wanted)]
    assert says == [Declaration.OTHER, Declaration.THIS, Declaration.THIS, Declaration.NOTHING]


def test_what_terraform_is_told_to_ignore(tmp_path: Path) -> None:
    rest = "\n  lifecycle {\n    ignore_changes = [size, tags]\n  }\n}\n"
    (tmp_path / "main.tf").write_text(CODE.rstrip().removesuffix("}") + rest)
    assert ignored_changes(tmp_path) == {("aws_x.a", "size"), ("aws_x.a", "tags")}


def _policy(**statement: Json) -> str:
    return json.dumps(
        {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Resource": "*", **statement}]}, indent=1
    )


@pytest.mark.parametrize(
    ("wanted", "code", "same"),
    [
        (_policy(Action="sqs:SendMessage"), _policy(Action=["sqs:SendMessage"]), True),
        (_policy(Action=["b:*", "a:*"]), _policy(Action=["a:*", "b:*"]), True),
        (_policy(Action="sqs:SendMessage"), _policy(Action=["sqs:SendMessage", "sqs:*"]), False),
        (_policy(Action="sqs:SendMessage"), _policy(NotAction="sqs:SendMessage"), False),
        (_policy(Action="a:*"), _policy(Action="a:*", Condition={"Bool": {"aws:SecureTransport": "true"}}), False),
        (_policy(Action="a:*", Sid="One"), _policy(Action="a:*"), False),
        (_policy(Action="a:*"), "{}", False),
        ('{"keep": ["a"]}', '{"keep": "a"}', False),
    ],
)
def test_policies_are_compared_as_aws_reads_them(wanted: str, code: str, same: bool) -> None:
    assert captures(wanted, code) is same
    assert captures(code, wanted) is same


@pytest.mark.parametrize(
    ("wanted", "code", "same"),
    [
        ([{"port": 443, "self": False, "groups": []}], [{"port": "443"}], True),
        ([{"port": 443, "self": False}], [{"port": 443, "self": True}], False),
        ([{"port": 443, "self": True}], [{"port": 443}], False),
        ([{"rule": [{"on": False, "days": 1}]}], [{"rule": [{"days": 1}]}], True),
        (False, None, False),
    ],
)
def test_a_switch_that_a_block_does_not_set_is_off(wanted: Json, code: Json, same: bool) -> None:
    assert captures(wanted, code) is same


def test_what_is_null_in_one_instance(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(
        'resource "aws_x" "a" {\n  for_each = { one = null, two = 2 }\n  size = each.value\n  arn = aws_y.b.arn\n}\n'
    )
    asked = {(f'aws_x.a["{key}"]', name) for key in ("one", "two", "none") for name in ("size", "arn", "unset")}
    assert written_as_null(tmp_path, asked) == {('aws_x.a["one"]', "size")}
    assert written_as_null(tmp_path / "nothing", ()) == frozenset()
