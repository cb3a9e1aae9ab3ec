"""Downloaded modules are read beside our copy of the code; their calls are edited, and they never."""

import json
from pathlib import Path

from reconciler.model import Wanted
from reconciler.rewrite.edit import edit
from reconciler.terraform.downloaded import link_downloaded, select_workspace

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
    result = edit(root, wanted)

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
    assert edit(root, [want]).files == {Path("main.tf"): WORKSPACES.replace("prod = 5", "prod = 9").encode()}
    select_workspace(root, data, "dev")
    assert edit(root, [want]).files == {Path("main.tf"): WORKSPACES.replace("dev  = 1", "dev  = 9").encode()}


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
