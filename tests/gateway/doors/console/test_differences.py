"""Differences line by line, whose size is bounded whatever the values are."""

import json
import subprocess
from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.doors.console.differences import MOST_FILES, MOST_LINES, LineKind, code_diff, difference, text_difference


def _shown(before: Json, after: Json) -> list[str]:
    return [line.text for line in difference(before, after).lines]


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        (4, 6, ["-4", "+6"]),
        (None, "a", ['+"a"']),
        ("a", None, ['-"a"']),
        (5, 5, []),
        ({"a": 1}, {"a": 2}, ['-{"a": 1}', '+{"a": 2}']),
        ("one\ntwo", "one\nthree", [" one", "-two", "+three"]),
        ({"hmac_sha256": "00"}, 1, ["-(secret)", "+1"]),
    ],
)
def test_a_value_replaces_another(before: Json, after: Json, lines: list[str]) -> None:
    assert _shown(before, after) == lines


def test_json_in_a_text_is_compared_as_json() -> None:
    before = {"Statement": [{"Action": f"s3:Get{number}", "Effect": "Allow"} for number in range(5)]}
    after = json.loads(json.dumps(before).replace("Get3", "Put3"))
    lines = difference(json.dumps(before), json.dumps(after)).lines
    assert [line.text.strip("+- ") for line in lines if line.kind is not LineKind.SAME] == [
        '"Action": "s3:Get3",',
        '"Action": "s3:Put3",',
    ]
    assert _shown("{not json", "{no json") == ["-{not json", "+{no json"]


def test_places_are_named_only_where_there_are_several() -> None:
    long = [str(number) for number in range(100)]
    changed = ["x" if number in {"3", "90"} else number for number in long]
    kinds = [line.kind for line in text_difference(long, changed).lines]
    assert kinds.count(LineKind.PLACE) == 2


def test_a_large_difference_is_cut_and_says_so() -> None:
    found = text_difference([], [str(number) for number in range(10_000)])
    assert len(found.lines) == MOST_LINES
    assert found.left_out
    assert not difference(1, 2).left_out


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
