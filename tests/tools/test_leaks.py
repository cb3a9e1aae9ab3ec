"""A socket that is left open fails the test that left it, not one after it."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LEAVES = """
import socket

def test_leaves():
    left = [socket.socket(socket.AF_UNIX)]
    left.append(left)

def test_after_it(): pass
"""


def test_the_test_that_left_it_open_fails(tmp_path: Path) -> None:
    (tmp_path / "test_leaving.py").write_text(LEAVES)
    command = ("-m", "pytest", "-c", "/dev/null", "--rootdir", str(tmp_path), "-p", "tests.tools.leaks", "-q", "-rA")
    errors = ("-W", "error::ResourceWarning", "-W", "error::pytest.PytestUnraisableExceptionWarning")
    done = subprocess.run(
        [sys.executable, *command, *errors, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "ERROR at teardown of test_leaves" in done.stdout, done.stdout + done.stderr
    assert "ResourceWarning: unclosed <socket" in done.stdout
    assert "2 passed, 1 error" in done.stdout
