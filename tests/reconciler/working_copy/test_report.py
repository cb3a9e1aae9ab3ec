"""Edits are written as the report has them, or not at all."""

import errno
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gateway.core.errors import CodeInvalid
from reconciler.adoption.model import LeftCreation
from reconciler.model import DriftOrigin, Edited, Left, Wanted
from reconciler.working_copy.report import Report, write

ORIGIN = DriftOrigin(actor="ada", event="s3:CreateBucket", at=datetime(2026, 1, 2, tzinfo=UTC))
CREATED = LeftCreation(resource_type="aws_s3_bucket", identity="data", origin=ORIGIN, why="No.")


def test_a_file_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    for name in ("a.tf", "b.tf"):
        (tmp_path / name).write_text("old\n")
    files = {Path("a.tf"): b"new\n", Path("b.tf"): b"new\n"}
    report = Report(edited=Edited(files=files), before=dict.fromkeys(files, b"old\n"))
    (tmp_path / "b.tf").write_text("mine\n")
    with pytest.raises(CodeInvalid, match=r"b\.tf was changed"):
        write(tmp_path, report)
    assert (tmp_path / "a.tf").read_text() == "old\n"
    assert report.diff.startswith("--- a/a.tf\n+++ b/a.tf\n@@ -1 +1 @@\n-old\n+new\n")


@pytest.mark.parametrize(
    "more",
    [
        {"left": (Left(wanted=Wanted(address="a.b", attribute="c", value=1), reason="No."),)},
        {"created": (CREATED,)},
        {"pending": "Only the state would change."},
        {"bad_events": ("Record 1 is not an event.",)},
    ],
)
def test_it_is_clean_only_if_nothing_is_unaccounted_for(more: dict[str, Any]) -> None:
    assert Report().clean
    assert not Report(**more).clean


@pytest.mark.parametrize("number", [0, 1, 2])
def test_on_a_full_disk_no_file_is_changed_and_nothing_stays_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Whichever of the files meets it."""
    names = [Path(f"{name}.tf") for name in "abc"]
    for name in names:
        (tmp_path / name).write_text("old\n")
    report = Report(edited=Edited(files=dict.fromkeys(names, b"new\n")), before=dict.fromkeys(names, b"old\n"))
    synced: list[int] = []

    def full(descriptor: int) -> None:
        if len(synced) == number:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        synced.append(descriptor)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(CodeInvalid, match=r"No space left on device. Nothing was written"):
            write(tmp_path, report)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tf", "b.tf", "c.tf"]
    assert {(tmp_path / name).read_text() for name in names} == {"old\n"}
    write(tmp_path, report)
    assert {(tmp_path / name).read_text() for name in names} == {"new\n"}
