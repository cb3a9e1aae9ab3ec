"""A change that no resource shows is not needed for any value."""

from pathlib import Path

import pytest

from reconciler.rewrite.editors.text import CannotEdit
from reconciler.suggest.needed import check_needed

MAIN, UNUSED = Path("main.tf"), Path("prod.tfvars")
CODE = b"""resource "aws_sqs_queue" "a" {
  delay_seconds = local.delay
}
locals {
  delay = 1
  other = 1
}
"""


@pytest.mark.parametrize(
    ("path", "old", "new", "needed"),
    [
        (MAIN, b"delay = 1", b"delay = 2", True),
        (MAIN, b"local.delay", b"2", True),
        (MAIN, b"other = 1", b"other = 2", False),
        (MAIN, b"other = 1", b"other = 1\n  third = 2", False),
        (MAIN, b"delay = 1", b"delay = 0 + 1", False),
        (UNUSED, b"x = 1", b"x = 2", False),
    ],
)
def test_each_changed_attribute_must_matter(tmp_path: Path, path: Path, old: bytes, new: bytes, needed: bool) -> None:
    before = {MAIN: CODE, UNUSED: b"x = 1\n"}
    for name, content in before.items():
        (tmp_path / name).write_bytes(content)
    after = {**before, path: before[path].replace(old, new)}
    if needed:
        check_needed(tmp_path, before, after)
    else:
        with pytest.raises(CannotEdit, match="does not need"):
            check_needed(tmp_path, before, after)
