"""A file of tests is run alone, and told with its processor time and how it ended."""

from pathlib import Path

import pytest

from tests.tools.files import Alone, alone, files

BUSY = """
from time import process_time
def test_busy():
    while process_time() < 1: pass
"""


@pytest.mark.slow
def test_a_file_is_told_with_what_it_took(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").touch()
    (tmp_path / "test_busy.py").write_text(BUSY)
    told = alone(str(tmp_path / "test_busy.py"))
    assert told.processor >= 1
    assert told.status == pytest.ExitCode.OK


def test_directories_are_searched_and_files_taken(tmp_path: Path) -> None:
    (tmp_path / "room").mkdir()
    for name in ("room/test_b.py", "room/help.py", "test_a.py", "test_z.py"):
        (tmp_path / name).touch()
    found = list(files([str(tmp_path / "test_z.py"), str(tmp_path)]))
    assert [str(Path(each).relative_to(tmp_path)) for each in found] == [
        "test_z.py",
        "room/test_b.py",
        "test_a.py",
        "test_z.py",
    ]


def test_a_failure_is_told() -> None:
    assert str(Alone(1, 2, pytest.ExitCode.TESTS_FAILED, "test_a.py")).split() == [
        "1.00s",
        "2.00s",
        "test_a.py",
        "failed",
    ]
    assert str(Alone(1, 2, pytest.ExitCode.OK, "test_a.py")).split() == ["1.00s", "2.00s", "test_a.py"]
