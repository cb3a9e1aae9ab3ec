"""`make` builds the environment with the Python that suits: `python3`, unless another one on PATH is clearly faster."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parent.parent.parent / "deploy" / "choose_python.py"
CHOOSE = runpy.run_path(str(SCRIPT))


def _fake(folder: Path, name: str, **described: Any) -> Path:
    """An executable that describes itself as an interpreter does."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    known = {
        "executable": str(path), "version": "3.11.9", "suits": True, "profile_guided": False, "distribution": False, "level": "-O2", "loop_ms": 40.0,
    }  # fmt: skip
    path.write_text(f"#!/bin/sh\necho '{json.dumps({**known, **described})}'\n")
    path.chmod(0o755)
    return path


def _chosen(*folders: Path) -> tuple[str, str, int]:
    environment = {**os.environ, "PATH": os.pathsep.join(map(str, folders))}
    done = subprocess.run([sys.executable, SCRIPT], env=environment, capture_output=True, text=True, check=False)
    return done.stdout.strip(), done.stderr, done.returncode


@pytest.mark.parametrize(
    ("first", "second", "guided", "taken"),
    [
        (40.0, 39.0, True, 0),
        (40.0, 31.0, True, 0),
        (40.0, 20.0, True, 1),
        (20.0, 40.0, True, 0),
        (40.0, 39.0, False, 1),
        (39.0, 40.0, False, 0),
    ],
)
def test_another_is_taken_only_if_it_is_clearly_faster(
    tmp_path: Path, first: float, second: float, guided: bool, taken: int
) -> None:
    paths = [
        _fake(tmp_path / "a", "python3", loop_ms=first, profile_guided=guided),
        _fake(tmp_path / "b", "python3.12", loop_ms=second, profile_guided=True),
    ]
    printed, said, code = _chosen(tmp_path / "a", tmp_path / "b")
    assert (printed, code) == (str(paths[taken]), 0)
    assert f"of {paths[taken]} (" in said
    assert str(paths[1 - taken]) in said


def test_one_slow_moment_does_not_decide(tmp_path: Path) -> None:
    paths = [_fake(tmp_path / "a", "python3", loop_ms=40.0), _fake(tmp_path / "b", "python3.12", loop_ms=20.0)]
    slow_at_first = tmp_path / "measured"
    disturbed = paths[1].read_text().replace("20.0", "39.0").replace("#!/bin/sh\n", "")
    paths[1].write_text(
        paths[1]
        .read_text()
        .replace("echo", f"test -e {slow_at_first} || {{ : > {slow_at_first}; {disturbed.strip()}; exit; }}\necho")
    )
    assert _chosen(tmp_path / "a", tmp_path / "b")[0] == str(paths[1])


def test_what_does_not_suit_is_passed_over(tmp_path: Path) -> None:
    _fake(tmp_path / "a", "python3", suits=False, loop_ms=1.0)
    (broken := _fake(tmp_path / "b", "python3")).write_text("#!/bin/sh\nexit 127\n")
    slow = _fake(tmp_path / "b", "python3.13", loop_ms=90.0)
    assert broken.exists()
    assert _chosen(tmp_path / "a", tmp_path / "b")[0] == str(slow)


def test_one_interpreter_is_asked_once_and_not_measured(tmp_path: Path) -> None:
    path = _fake(tmp_path / "a", "python3.12")
    asked = tmp_path / "asked"
    path.write_text(path.read_text().replace("echo", f'echo "$2" >> {asked}\necho', 1))
    (tmp_path / "a" / "python3").symlink_to("python3.12")
    (tmp_path / "b").symlink_to("a")
    printed, said, code = _chosen(tmp_path / "a", tmp_path / "b")
    assert (printed, code) == (str(path), 0)
    assert "the only one on PATH that suits" in said
    assert asked.read_text().split() == ["--describe"]


def test_a_virtual_environment_first_on_path_does_not_hide_its_base(tmp_path: Path) -> None:
    base = _fake(tmp_path / "base", "python3")
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "python3").symlink_to(base)
    unsuited = base.read_text().replace('"suits": true', '"suits": false')
    base.write_text(
        f'#!/bin/sh\ncase "$0" in */venv/*) {unsuited.splitlines()[1]}; exit;; esac\n{base.read_text().splitlines()[1]}\n'
    )
    assert _chosen(tmp_path / "venv", tmp_path / "base")[0] == str(base)


def test_no_python_is_said(tmp_path: Path) -> None:
    printed, said, code = _chosen(tmp_path)
    assert (printed, code) == ("", 1)
    assert "Python 3.11 or newer is needed" in said


@pytest.mark.parametrize(
    ("described", "words"),
    [
        ({"profile_guided": True, "distribution": False, "level": "-O3"}, "built with --enable-optimizations, -O3"),
        ({"profile_guided": False, "distribution": True, "level": "-O2"}, "the distribution's own build, -O2"),
        ({"profile_guided": False, "distribution": False, "level": "-O3"}, "built without --enable-optimizations, -O3"),
    ],
)
def test_what_a_build_says_of_itself_is_put_into_words(described: dict[str, Any], words: str) -> None:
    assert CHOOSE["optimisation"](described) == words


def test_an_interpreter_describes_itself() -> None:
    described = CHOOSE["describe"]()
    assert described["executable"] == sys.executable
    assert CHOOSE["measure"]()["loop_ms"] > 0
    assert described["suits"] is (sys.prefix == sys.base_prefix), "an environment of its own is no base for another"
