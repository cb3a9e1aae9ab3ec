"""The lock of a state file."""

import os
from pathlib import Path

from reconciler.terraform.applying import terraform_is_applying


def test_a_lock_that_a_killed_terraform_left_is_not_waited_for_forever(tmp_path: Path) -> None:
    lock = tmp_path / ".terraform.tfstate.lock.info"
    lock.write_text("{}")
    assert terraform_is_applying(tmp_path / "terraform.tfstate")
    os.utime(lock, (0, 0))
    assert not terraform_is_applying(tmp_path / "terraform.tfstate")
    assert not terraform_is_applying(None)
