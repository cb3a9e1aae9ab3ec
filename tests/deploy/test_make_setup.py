"""`make` installs uv with the pip that there is: Python's own where it can, else one that a new environment brings along."""

import os
import subprocess
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parent.parent.parent / "Makefile"
PYTHON = """#!/bin/sh
echo "python3 $*" >> "$LOG"
case "$1 $2 $3" in
  "-m pip --version") test -n "$PIP" && echo "pip $PIP from here"; test -n "$PIP" ;;
  "-m pip --python") cp "$TOOL" "$(dirname "$4")/uv" ;;
  "-m venv --without-pip") mkdir -p "$4/bin" ;;
  "-m venv "*) mkdir -p "$3/bin"; cp "$TOOL" "$3/bin/pip"; cp "$TOOL" "$3/bin/uv" ;;
  *) echo /usr/bin/python3 ;;
esac
"""
TOOL = """#!/bin/sh
echo "$(basename "$0") $*" >> "$LOG"
"""


@pytest.mark.parametrize(
    ("pip", "by"),
    [
        ("23.0.1", "python3 -m pip --python"),
        ("22.3", "python3 -m pip --python"),
        ("22.2.2", "pip install"),
        ("", "pip install"),
    ],
)
def test_uv_is_installed_whatever_pip_there_is(tmp_path: Path, pip: str, by: str) -> None:
    """Debian's python3 has no pip without its package python3-pip; pip learned `--python` in 22.3 (its release notes)."""
    for name, text in (("python3", PYTHON), ("tool", TOOL)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    for name in ("pyproject.toml", "uv.lock"):
        (tmp_path / name).touch()
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy" / "choose_python.py").touch()
    (tmp_path / ".venv").mkdir()
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PIP": pip,
        "LOG": str(tmp_path / "log"),
        "TOOL": str(tmp_path / "tool"),
    }
    done = subprocess.run(
        ["make", "-f", str(MAKEFILE), ".venv/.run"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    steps = (tmp_path / "log").read_text().splitlines()
    assert any(step.startswith(by) and "uv==" in step for step in steps), steps
    assert steps[-1].startswith("uv sync --frozen"), steps
