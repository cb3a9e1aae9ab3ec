"""What is forked ends, prints and stops as what an interpreter of its own runs."""

import os
import signal
from pathlib import Path

import pytest

from tests.kit.forked import python_m, ran

pytestmark = pytest.mark.slow

CHILD = """
import os, signal, sys
print(sys.argv[1:], os.getcwd(), os.environ["OWN"], __name__)
if sys.argv[1] == "stop":
    os.kill(os.getpid(), signal.SIGSTOP)
if sys.argv[1] == "die":
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[1] == "break":
    raise ValueError("broken")
if sys.argv[1] == "wait":
    signal.pause()
sys.exit(int(sys.argv[1]))
"""


@pytest.fixture
def child(tmp_path: Path) -> str:
    (tmp_path / "forked_child.py").write_text(CHILD)
    return "forked_child"


def test_it_has_its_own_arguments_directory_environment_and_exit_code(child: str, tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(tmp_path), "OWN": "value"}
    done = ran(child, "3", "more", environment=environment, directory=tmp_path)
    assert (done.returncode, done.stdout) == (3, f"['3', 'more'] {tmp_path} value __main__\n"), done.stderr
    assert ran(child, "0", environment=environment, directory=tmp_path).returncode == 0
    assert ran(child, "die", environment=environment, directory=tmp_path).returncode == -signal.SIGKILL
    broken = ran(child, "break", environment=environment, directory=tmp_path)
    assert broken.returncode == 1
    assert broken.stderr.endswith("ValueError: broken\n")


def test_it_can_be_stopped_continued_and_killed(child: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "OWN": ""}
    process = python_m(child, "stop", environment=environment, directory=tmp_path)
    process.wait_until_stopped()
    assert process.poll() is None
    process.send_signal(signal.SIGCONT)
    assert process.wait() == 1  # `stop` is no number
    waiting = python_m(child, "wait", environment=environment, directory=tmp_path)
    with pytest.raises(TimeoutError):
        waiting.wait(0.01)
    waiting.kill()
    assert waiting.wait() == -signal.SIGKILL
    waiting.kill()
