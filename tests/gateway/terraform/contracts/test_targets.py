"""A contract for something that the stack does not have is a mistake, and one that is likely misspelt is an error."""

from pathlib import Path

import pytest

from gateway.core.errors import CodeInvalid
from tests.kit.stacks import Source, load

CODE = """
resource "aws_dynamodb_table" "orders" {
  name = "orders"
}
resource "aws_dynamodb_table" "carts" {
  name = "carts"
}
resource "aws_sqs_queue" "jobs" {
  for_each = toset(var.names)
  name     = each.key
}
variable "names" {}
"""


def _load(root: Path, *blocks: tuple[str, str]) -> list[str]:
    """The contracts without a target, of a stack with these."""
    (root / "main.tf").write_text(CODE)
    body = "".join(f'  resource "{kind}" "{name}" {{\n    prevent_delete = true\n  }}\n' for kind, name in blocks)
    (root / "c.sentinel.hcl").write_text(f'contract "c" {{\n{body}}}\n')
    [stack] = load(Source(name="s", path=root)).all
    return [each.sentence for each in stack.missing_targets]


@pytest.mark.parametrize(
    ("kind", "name", "says"),
    [
        ("aws_dynamodb_table", "oders", "c.sentinel.hcl:2: The stack neither declares nor records aws_dynamodb_table.oders; did you mean 'aws_dynamodb_table.orders'?"),
        ("aws_dynamodb_tabel", "orders", "no resource type 'aws_dynamodb_tabel'; did you mean 'aws_dynamodb_table'?"),
        ("aws_dynamodb_tabel", "*", "did you mean 'aws_dynamodb_table'?"),
        ("aws_of_tomorrow_and_later", "*", "no resource type 'aws_of_tomorrow_and_later'."),
    ],
)  # fmt: skip
def test_what_is_likely_misspelt_is_an_error(tmp_path: Path, kind: str, name: str, says: str) -> None:
    with pytest.raises(CodeInvalid) as refused:
        _load(tmp_path, (kind, name))
    assert says in str(refused.value)


def test_a_resource_that_is_gone_is_no_error_but_is_told(tmp_path: Path) -> None:
    """Its block was deleted, and the contract outlives it: the stack must still load."""
    found = _load(tmp_path, ("aws_dynamodb_table", "invoices"))
    assert found == ["c.sentinel.hcl:2: The stack neither declares nor records aws_dynamodb_table.invoices."]


def test_a_name_that_another_contract_has_is_not_what_was_meant(tmp_path: Path) -> None:
    found = _load(tmp_path, ("aws_dynamodb_table", "order"), ("aws_dynamodb_table", "orders"))
    assert [each.rpartition(" ")[2] for each in found] == ["aws_dynamodb_table.order."]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("aws_dynamodb_table", "orders"),
        ("aws_dynamodb_table", "*"),
        ("aws_kms_key", "*"),
        ("aws_*", "of_tomorrow"),
        ("aws_sqs_queue", "jobs"),
        ("random_pet", "*"),
    ],
)
def test_what_is_there_or_may_come_is_right(tmp_path: Path, kind: str, name: str) -> None:
    assert _load(tmp_path, (kind, name)) == []
