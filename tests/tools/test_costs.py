"""The report counts what tests and their children used, and names the most expensive first."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.costs import Cost, table

BUSY = """
import subprocess, sys
SPIN = "from time import process_time\\nwhile process_time() < 0.3: pass"
def test_child(): subprocess.run([sys.executable, "-c", SPIN], check=True)
def test_nothing(): pass
"""


def test_files_and_tests_are_summed_and_ordered() -> None:
    tests = {"a.py::one": Cost(1, 2, 1), "a.py::two[x::y]": Cost(2, 2, 1), "b.py::one": Cost(2.5, 9, 1)}
    lines = [line.split() for line in table(tests, Cost(2, 2))]
    assert lines[1:4] == [
        ["2.00s", "2.00s", "start", "and", "collection"],
        ["5.50s", "13.00s", "3", "tests"],
        ["7.50s", "15.00s", "3", "all"],
    ]
    assert [line[-1] for line in lines[5:7]] == ["a.py", "b.py"]
    assert [line[-1] for line in lines[8:]] == ["b.py::one", "a.py::two[x::y]", "a.py::one"]


@pytest.mark.slow
@pytest.mark.parametrize("processes", [(), ("-p", "tests.tools.processes", "--processes", "1")])
def test_a_child_is_counted_in_every_process(tmp_path: Path, processes: tuple[str, ...]) -> None:
    (tmp_path / "test_busy.py").write_text(BUSY)
    file = tmp_path / "lines"
    options = ["-p", "tests.tools.costs", "--costs-file", str(file), "-q", "--rootdir", str(tmp_path), *processes]
    command = [sys.executable, "-m", "pytest", "-c", "/dev/null", *options, str(tmp_path)]
    told = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]).stdout
    (total,) = [line for line in told.splitlines() if line.endswith("s      2 tests")]
    assert float(total.split()[0].rstrip("s")) >= 0.3
    first, second = file.read_text().splitlines()
    assert first.endswith("test_busy.py::test_child")
    assert float(first.split()[0].rstrip("s")) >= 0.3 > float(second.split()[0].rstrip("s"))
