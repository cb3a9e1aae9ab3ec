"""The difference that a commit makes in the code is read from the repository."""

import subprocess
from pathlib import Path

from gateway.doors.console.code_diff import MOST_FILES, code_diff


def git(where: Path, *words: str) -> str:
    command = ("git", "-c", "user.name=t", "-c", "user.email=t@example.com", *words)
    return subprocess.run(command, cwd=where, check=True, capture_output=True, text=True).stdout.strip()


def commit(where: Path, **files: str) -> str:
    for name, text in files.items():
        (where / f"{name}.tf").write_text(text)
    git(where, "add", "-A")
    git(where, "commit", "-qm", "a change")
    return git(where, "rev-parse", "HEAD")


def test_each_file_with_what_changes(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    first = commit(tmp_path, main="size = 1\nname = 2\n", other="x = 1\n")
    second = commit(tmp_path, main="size = 5\nname = 2\n", new="y = 1\n")
    (tmp_path / "stack").mkdir()
    found = code_diff(tmp_path / "stack", second)
    assert [(each.path, [line.text for line in each.difference.lines]) for each in found] == [
        ("main.tf", ["-size = 1", "+size = 5", " name = 2"]),
        ("new.tf", ["+y = 1"]),
    ]
    assert {each.path for each in code_diff(tmp_path, first)} == {"main.tf", "other.tf"}


def test_files_are_counted(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    made = commit(tmp_path, **{f"f{number}": "x = 1\n" for number in range(20)}, large="x" * 300_000)
    assert len(code_diff(tmp_path, made)) == MOST_FILES


def test_what_is_not_there_has_no_difference(tmp_path: Path) -> None:
    assert code_diff(tmp_path, "0" * 40) == ()
    git(tmp_path, "init", "-q")
    commit(tmp_path, main="x = 1\n")
    for name in ("0" * 40, "HEAD", "../../etc", "", git(tmp_path, "rev-parse", "HEAD^{tree}")):
        assert code_diff(tmp_path, name) == ()
