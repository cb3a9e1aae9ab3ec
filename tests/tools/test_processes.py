"""Tests in forked processes are told as if one process had run them, whatever becomes of these processes."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.tools.processes import unit_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
OUTCOMES = """
import os, signal, pytest
print("collected by", os.getpid())

@pytest.fixture(scope="module", autouse=True)
def started(tmp_path_factory):
    yield
    with open(ENDED, "a") as lines: lines.write(f"{os.getpid()} {tmp_path_factory.getbasetemp()}\\n")

def test_passes(): pass
def test_fails():
    print("what it printed")
    assert 1 == 2
@pytest.mark.skip(reason="no machine")
def test_is_skipped(): pass
def test_ends_its_process():
    if os.fork() == 0: os.execvp("sleep", ["sleep", "0.5"])  # holds whatever the process had open and leaves to its children
    os.kill(os.getpid(), signal.SIGKILL)
def test_after_it(): pass
"""
WAITS = """
import pathlib, signal, time, pytest

signal.signal(signal.SIGINT, signal.default_int_handler)

@pytest.fixture(scope="session", autouse=True)
def started(tmp_path_factory):
    directory = tmp_path_factory.mktemp("of what was started")
    yield
    assert directory.exists()
    pathlib.Path(ENDED).touch()

def test_waits():
    pathlib.Path(BEGUN).touch()
    while True: time.sleep(0.01)
"""


def pytest_in_processes(directory: Path, *options: str) -> list[str]:
    """The command: two processes run the tests of the directory."""
    shared = ("-m", "pytest", "-c", "/dev/null", "--rootdir", str(directory), "-p", "tests.tools.processes")
    return [sys.executable, *shared, "-q", "-ra", "--processes", "2", *options, str(directory)]


def test_every_outcome_is_told_once_and_a_process_that_ends_in_a_test_fails_it_alone(tmp_path: Path) -> None:
    ended = tmp_path / "ended"
    (tmp_path / "test_outcomes.py").write_text(OUTCOMES.replace("ENDED", repr(str(ended))))
    (tmp_path / "test_other.py").write_text("def test_passes(): pass")
    told = subprocess.run(pytest_in_processes(tmp_path), capture_output=True, text=True, cwd=ROOT, check=False)
    assert told.returncode == pytest.ExitCode.TESTS_FAILED
    assert "2 failed, 3 passed, 1 skipped" in told.stdout
    for line in (
        "assert 1 == 2",
        "what it printed",
        ": no machine",
        "The process of this test ended with -9 before it had told its end.",
    ):
        assert line in told.stdout
    assert told.stdout.count("what it printed") == 2  # the line of code and what it printed
    # The module's fixture ended in the process that took over; its directory was its own.
    (line,) = ended.read_text().splitlines()
    assert Path(line.split()[1]).name in {"process-2", "process-3"}


def test_a_process_that_ends_after_its_tests_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import os\ndef pytest_sessionfinish(session): os._exit(3) if hasattr(session.config, 'workerinput') else None"
    )
    (tmp_path / "test_one.py").write_text("def test_passes(): pass")
    told = subprocess.run(pytest_in_processes(tmp_path), capture_output=True, text=True, cwd=ROOT, check=False)
    assert told.returncode == pytest.ExitCode.TESTS_FAILED
    assert "The process of this test and what it started ended with 3 before it had told its end." in told.stdout


@pytest.mark.parametrize("by", ["a failure", "a signal"])
def test_who_ends_early_stops_what_it_started(tmp_path: Path, by: str) -> None:
    ended, begun = tmp_path / "ended", tmp_path / "begun"
    (tmp_path / "test_waits.py").write_text(WAITS.replace("ENDED", repr(str(ended))).replace("BEGUN", repr(str(begun))))
    fails = f"import os, time\ndef test_fails():\n    while not os.path.exists({str(begun)!r}): time.sleep(0.01)\n    assert {by == 'a signal'}"
    (tmp_path / "test_fails.py").write_text(fails)
    options = ("-x", "-o", "tmp_path_retention_policy=failed")
    with subprocess.Popen(pytest_in_processes(tmp_path, *options), stdout=subprocess.PIPE, text=True, cwd=ROOT) as run:
        if by == "a signal":
            while not begun.exists():
                time.sleep(0.01)
            with suppress(ProcessLookupError):
                os.kill(run.pid, signal.SIGINT)
        told, _ = run.communicate()
    assert ended.exists()
    assert run.returncode == (pytest.ExitCode.INTERRUPTED if by == "a signal" else pytest.ExitCode.TESTS_FAILED), told


def test_a_collection_that_failed_is_told(tmp_path: Path) -> None:
    (tmp_path / "test_broken.py").write_text("import nothing_of_this_name")
    told = subprocess.run(pytest_in_processes(tmp_path), capture_output=True, text=True, cwd=ROOT, check=False)
    assert told.returncode == pytest.ExitCode.INTERRUPTED
    assert "nothing_of_this_name" in told.stdout


def test_tests_that_share_what_is_dear_go_together_and_others_by_file() -> None:
    assert unit_of("tests/clients/test_a.py::test_x") == unit_of("tests/clients/test_b.py::test_y[a::b]")
    assert unit_of("tests/ports/test_a.py::test_x[a::b]") == "tests/ports/test_a.py"
