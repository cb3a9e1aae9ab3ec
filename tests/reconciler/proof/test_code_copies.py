"""A copy of the code has all that it needs, and its files can be replaced for a while."""

import json
from pathlib import Path

import pytest

from reconciler.model import Wanted
from reconciler.proof.code_copies import copy_code, link_downloaded, select_workspace, temporarily_written
from reconciler.rewrite.value_edits import edit_values


def test_the_copy_holds_the_modules_beside_the_stack_and_no_state(tmp_path: Path) -> None:
    stack = tmp_path / "infra" / "shop"
    stack.mkdir(parents=True)
    (stack / "main.tf").write_text('module "a" {\n  source = "../modules/a"\n}\n')
    (stack / "terraform.tfstate").write_text("{}")
    (stack / ".terraform").mkdir()
    (tmp_path / "infra/modules/a").mkdir(parents=True)
    (tmp_path / "infra/modules/a/main.tf").write_text('module "b" {\n  source = "../b"\n}\n')
    (tmp_path / "infra/modules/b").mkdir()
    (tmp_path / "infra/modules/b/main.tf").touch()
    (tmp_path / "other").mkdir()

    root = copy_code(stack, tmp_path / "out")

    assert root == tmp_path / "out" / "shop"
    assert sorted(
        str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()
    ) == [
        "modules/a/main.tf",
        "modules/b/main.tf",
        "shop/main.tf",
    ]


def test_files_are_put_back_whatever_happens(tmp_path: Path) -> None:
    (tmp_path / "a.tf").write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), temporarily_written(tmp_path, {Path("a.tf"): b"new"}):
        1 // len((tmp_path / "a.tf").read_bytes().removeprefix(b"new"))
    assert (tmp_path / "a.tf").read_bytes() == b"old"


MODULE = 'variable "delay" {\n  default = 0\n}\n\nresource "aws_sqs_queue" "this" {\n  delay_seconds = var.delay\n  kms = 1\n}\n'


def test_the_call_of_a_registry_module_is_edited(tmp_path: Path) -> None:
    data, root = tmp_path / "data", tmp_path / "copy"
    (data / "modules/jobs").mkdir(parents=True)
    (data / "modules/jobs/main.tf").write_text(MODULE)
    rows = [{"Key": "jobs", "Source": "registry.terraform.io/acme/queue/aws", "Dir": f"{data}/modules/jobs"}]
    (data / "modules/modules.json").write_text(json.dumps({"Modules": rows}))
    root.mkdir()
    (root / "main.tf").write_text('module "jobs" {\n  source = "acme/queue/aws"\n}\n')
    link_downloaded(root, data)
    link_downloaded(root, data)

    wanted = [
        Wanted(address="module.jobs.aws_sqs_queue.this", attribute=name, value=5) for name in ("delay_seconds", "kms")
    ]
    result = edit_values(root, wanted)

    assert result.files == {Path("main.tf"): b'module "jobs" {\n  source = "acme/queue/aws"\n\n  delay = 5\n}\n'}
    (left,) = result.left
    assert "somebody else's code" in left.reason


def test_without_downloads_nothing_is_linked(tmp_path: Path) -> None:
    link_downloaded(tmp_path, None)
    link_downloaded(tmp_path, tmp_path / "data")
    assert not (tmp_path / ".terraform").exists()


def test_a_value_is_written_where_it_stands_for_the_workspace(tmp_path: Path) -> None:
    data, root = tmp_path / "data", tmp_path / "copy"
    for directory in (data, root):
        directory.mkdir()
    (root / "main.tf").write_text(WORKSPACES)
    want = Wanted(address="aws_sqs_queue.work", attribute="delay_seconds", value=9)
    (data / "environment").write_text("prod\n")
    select_workspace(root, data, "")
    assert edit_values(root, [want]).files == {Path("main.tf"): WORKSPACES.replace("prod = 5", "prod = 9").encode()}
    select_workspace(root, data, "dev")
    assert edit_values(root, [want]).files == {Path("main.tf"): WORKSPACES.replace("dev  = 1", "dev  = 9").encode()}


def test_without_a_workspace_none_is_selected(tmp_path: Path) -> None:
    select_workspace(tmp_path, None, "")
    select_workspace(tmp_path, tmp_path / "data", "")
    assert not (tmp_path / ".terraform").exists()


WORKSPACES = """locals {
  delays = {
    dev  = 1
    prod = 5
  }
}

resource "aws_sqs_queue" "work" {
  name          = "work-${terraform.workspace}"
  delay_seconds = local.delays[terraform.workspace]
}
"""
