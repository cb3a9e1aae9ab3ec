"""The files of a stack on disk."""

from pathlib import Path

import pytest

from gateway.core.errors import CodeInvalid
from gateway.terraform.files import DiskTree, file_tree


def test_names_are_those_of_files_only(tmp_path: Path) -> None:
    (tmp_path / "a.tf").touch()
    (tmp_path / "b.tf").mkdir()
    (tmp_path / "c.tf").symlink_to(tmp_path / "a.tf")
    tree = file_tree(tmp_path)
    assert set(tree.names(".")) == {"a.tf", "c.tf"}
    assert not tree.names("b.tf")
    assert not tree.names("nowhere")
    assert not tree.names("a.tf")


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.tf").write_bytes(b"x")
    assert DiskTree(tmp_path).read("a.tf") == b"x"
    with pytest.raises(CodeInvalid, match=r"^b\.tf:1: The file cannot be read: No such file"):
        DiskTree(tmp_path).read("b.tf")


def test_small_files_are_read_and_none_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t/a").write_text("12345")
    (tmp_path / "linked").symlink_to("t/a")
    (tmp_path / "folder").symlink_to("t")
    files = DiskTree(tmp_path)
    assert files.small("t/a", 5) == b"12345"
    for path, most in (("t/a", 4), ("linked", 5), ("folder/a", 5), ("t", 5), ("gone", 5)):
        assert files.small(path, most) is None


def test_a_root_must_be_there(tmp_path: Path) -> None:
    DiskTree(tmp_path).check()
    with pytest.raises(CodeInvalid, match="no such directory"):
        DiskTree(tmp_path / "gone").check()


def test_a_directory_that_cannot_be_read_is_not_an_empty_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refused)
    with pytest.raises(CodeInvalid, match="cannot be read: Permission denied"):
        DiskTree(tmp_path).names(".")


def test_a_tree_stays_what_it_is(tmp_path: Path) -> None:
    tree = DiskTree(tmp_path)
    assert file_tree(tree) is tree
