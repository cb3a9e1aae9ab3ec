"""The kit tells patterns that may backtrack from those that cannot."""

from pathlib import Path

import pytest

from tests.kit.patterns import patterns_of, risk


@pytest.mark.parametrize(
    ("pattern", "searched"),
    [
        (r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', True),  # the one that froze the gateway
        (r"(a+)+b", False),
        (r"(?:a|b+)*c", False),
        (r"\s*\s*x", False),
        (r"\d+[0-9]*z", False),
        (r"a+b", True),
        (r"x(?:[^y]*)y", True),
        (rb"(\w+)*!", False),
    ],
)
def test_what_may_backtrack_is_found(pattern: str | bytes, *, searched: bool) -> None:
    assert risk(pattern, searched=searched)


@pytest.mark.parametrize(
    ("pattern", "searched"),
    [
        (r'["\[\]{},]', True),
        (r"Credential=([^,\s]+)", True),
        (r"a+b+", False),
        (r"(?:[0-9]{1,8}[smhdw])+", False),
        (r"\s*;\s*=", False),
        (r"a*+a", True),
        (r"[a-z]+[0-9]*", False),
    ],
)
def test_what_cannot_is_not(pattern: str, *, searched: bool) -> None:
    assert not risk(pattern, searched=searched)


def test_the_patterns_of_a_file_are_found(tmp_path: Path) -> None:
    source = tmp_path / "a.py"
    source.write_text('import re\n_A = re.compile(r"x")\n_A.search("")\n_B = re.compile("y")\nre.sub("z", "", "")\n')
    assert sorted(patterns_of(source)) == [("_A", "x", True), ("_B", "y", False), ("line 5", "z", True)]
