"""Edits are written as the report has them, or not at all."""

from pathlib import Path

import pytest

from gateway.core.errors import CodeInvalid
from reconciler.model import Edited
from reconciler.working_copy.report import Report, write


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
