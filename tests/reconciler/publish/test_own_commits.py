"""The list of our commits survives a kill."""

from pathlib import Path

from reconciler.publish.own_commits import OwnCommits


def test_commits_are_listed_and_half_a_line_spoils_no_other(tmp_path: Path) -> None:
    own = OwnCommits(path=tmp_path / "kept" / "commits")
    assert own.all() == frozenset()
    own.add("a" * 40)
    with own.path.open("a") as file:
        file.write("bbb")
    own.add("c" * 40)
    assert own.all() >= {"a" * 40, "c" * 40}
