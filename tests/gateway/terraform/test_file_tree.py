"""The files of a stack on disk."""

from pathlib import Path

import pytest

from gateway.core.errors import CodeInvalid
from gateway.terraform.config.module import load_module
from gateway.terraform.file_tree import DEFAULT_WORKSPACE, DiskTree, file_tree, in_workspace, read_workspace
from gateway.terraform.origins import code_origin
from gateway.terraform.stack_code import load_code


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


CODE = """
locals {
  sizes = { prod = 3 }
}

resource "aws_sqs_queue" "work" {
  count = lookup(local.sizes, terraform.workspace, 1)
  name  = "work-${terraform.workspace}-${count.index}"
}

module "inner" {
  source = "./inner"
}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "main.tf").write_text(CODE)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/main.tf").write_text(
        'resource "aws_sqs_queue" "in" {\n  name = "in-${terraform.workspace}"\n}\n'
    )
    return tmp_path


def _select(root: Path, name: bytes) -> None:
    (root / ".terraform").mkdir(exist_ok=True)
    (root / ".terraform/environment").write_bytes(name)


def test_the_workspace_of_the_settings_is_known_in_every_module(root: Path) -> None:
    code = load_code(in_workspace(DiskTree(root), "prod"))
    assert sorted(code.instances) == [
        "aws_sqs_queue.work[0]",
        "aws_sqs_queue.work[1]",
        "aws_sqs_queue.work[2]",
        "module.inner.aws_sqs_queue.in",
    ]
    origin = code_origin(root, workspace="prod").load()[0]
    assert sorted(origin.instances) == sorted(code.instances)
    assert sorted(code_origin(root).load()[0].instances) == ["aws_sqs_queue.work[0]", "module.inner.aws_sqs_queue.in"]


def test_without_a_setting_it_is_the_one_that_is_selected(root: Path) -> None:
    assert read_workspace(DiskTree(root)) == DEFAULT_WORKSPACE
    _select(root, b"prod\n")
    assert read_workspace(DiskTree(root)) == "prod"
    assert len(load_code(root).instances) == 4
    assert read_workspace(in_workspace(DiskTree(root), "dev")) == "dev"
    assert in_workspace(DiskTree(root), "").names(".") == {"main.tf"}


@pytest.mark.parametrize("name", [b"", b"\xff", b"a/b", b"x" * 200, b"a\nb"])
def test_what_is_no_name_selects_nothing(root: Path, name: bytes) -> None:
    _select(root, name)
    assert read_workspace(DiskTree(root)) == DEFAULT_WORKSPACE


def test_no_other_name_is_known(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('resource "aws_sqs_queue" "work" {\n  count = terraform.applying ? 1 : 2\n}\n')
    assert load_module(tmp_path).instances() is not None
    assert not list(load_module(tmp_path).instances())
