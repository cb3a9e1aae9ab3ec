"""Code is evaluated in the workspace that the settings name, or that is selected beside it."""

from pathlib import Path

import pytest

from gateway.terraform.code import load_code
from gateway.terraform.config.module import load_module
from gateway.terraform.config.workspace import DEFAULT, in_workspace, read_workspace
from gateway.terraform.files import DiskTree
from gateway.terraform.origin import code_origin

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
    assert read_workspace(DiskTree(root)) == DEFAULT
    _select(root, b"prod\n")
    assert read_workspace(DiskTree(root)) == "prod"
    assert len(load_code(root).instances) == 4
    assert read_workspace(in_workspace(DiskTree(root), "dev")) == "dev"
    assert in_workspace(DiskTree(root), "").names(".") == {"main.tf"}


@pytest.mark.parametrize("name", [b"", b"\xff", b"a/b", b"x" * 200, b"a\nb"])
def test_what_is_no_name_selects_nothing(root: Path, name: bytes) -> None:
    _select(root, name)
    assert read_workspace(DiskTree(root)) == DEFAULT


def test_no_other_name_is_known(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('resource "aws_sqs_queue" "work" {\n  count = terraform.applying ? 1 : 2\n}\n')
    assert load_module(tmp_path).instances() is not None
    assert not list(load_module(tmp_path).instances())
