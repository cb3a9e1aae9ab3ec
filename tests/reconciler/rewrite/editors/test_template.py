"""The text between interpolations is edited; interpolations that the wanted text still has stay."""

from pathlib import Path

import pytest

from reconciler.model import Wanted
from reconciler.rewrite.value_edits import edit_values

CODE = """variable "account" {
  default = "123456789012"
}

output "account" {
  value = var.account
}

resource "r" "b" {
  account = var.account
}

resource "r" "a" {
  x = "arn:aws:${var.account}:*"
}
"""


@pytest.mark.parametrize(
    ("value", "after"),
    [
        ("arn:aws-cn:123456789012:q", "arn:aws-cn:${var.account}:q"),
        ("arn:aws:210987654321:*", "arn:aws:210987654321:*"),
        ('"${x}" 123456789012', '\\"$${x}\\" ${var.account}'),
    ],
)
def test_what_is_written(value: str, after: str, tmp_path: Path) -> None:
    wanted = Wanted(address="r.a", attribute="x", value=value)
    result = edit_values(tmp_path, [wanted], {Path("main.tf"): CODE.encode()})
    assert result.files[Path("main.tf")].decode() == CODE.replace("arn:aws:${var.account}:*", after)


def test_a_value_that_is_no_text_is_not_written_into_a_text(tmp_path: Path) -> None:
    wanted = Wanted(address="r.a", attribute="x", value=5)
    result = edit_values(tmp_path, [wanted], {Path("main.tf"): CODE.encode()})
    assert not result.files
    assert "does not begin with" in result.left[0].reason
