"""Modules of a registry or of git are read where `terraform init` put them."""

import json
from pathlib import Path

import pytest

from gateway.errors import CodeInvalid
from gateway.terraform.code import load_code
from gateway.terraform.config.downloaded import read_downloaded
from gateway.terraform.config.module import load_module
from gateway.terraform.files import DiskTree

ROOT = 'module "jobs" {\n  source  = "acme/queue/aws"\n  version = "1.2.0"\n  delay   = 7\n}\n'
MODULE = """variable "delay" {}

module "inner" {
  source = "git::https://example.com/inner.git?ref=v1"
}

module "local" {
  source = "./modules/part"
}

resource "aws_sqs_queue" "this" {
  delay_seconds = var.delay
}
"""


def _write(top: Path, name: str, text: str) -> None:
    (top / name).parent.mkdir(parents=True, exist_ok=True)
    (top / name).write_text(text)


def _init(root: Path, data: str = ".terraform") -> None:
    rows = [
        {"Key": "", "Source": "", "Dir": "."},
        {"Key": "jobs", "Source": "registry.terraform.io/acme/queue/aws", "Dir": f"{data}/modules/jobs"},
        {
            "Key": "jobs.inner",
            "Source": "git::https://example.com/inner.git?ref=v1",
            "Dir": f"{data}/modules/jobs.inner",
        },
        {"Key": "jobs.local", "Source": "./modules/part", "Dir": f"{data}/modules/jobs/modules/part"},
        {"Key": "gone", "Source": "acme/gone/aws", "Dir": f"{data}/modules/gone"},
    ]
    _write(root, "main.tf", ROOT)
    _write(root, ".terraform/modules/modules.json", json.dumps({"Modules": rows}))
    _write(root, ".terraform/modules/jobs/main.tf", MODULE)
    _write(root, ".terraform/modules/jobs.inner/main.tf", 'resource "aws_x" "y" {}\n')
    _write(root, ".terraform/modules/jobs/modules/part/main.tf", 'resource "aws_x" "z" {}\n')


@pytest.mark.parametrize("data", [".terraform", "/var/lib/sentinel/data"])
def test_they_are_part_of_the_code(tmp_path: Path, data: str) -> None:
    _init(tmp_path, data)
    found = {instance.address for instance in load_module(tmp_path).instances()}
    assert found == {
        "module.jobs.aws_sqs_queue.this",
        "module.jobs.module.inner.aws_x.y",
        "module.jobs.module.local.aws_x.z",
    }
    assert read_downloaded(DiskTree(tmp_path)) == {
        ".": {"jobs": ".terraform/modules/jobs"},
        ".terraform/modules/jobs": {"inner": ".terraform/modules/jobs.inner"},
    }


def test_before_init_there_are_none(tmp_path: Path) -> None:
    _write(tmp_path, "main.tf", ROOT)
    assert load_module(tmp_path).instances() == ()


def test_a_contract_in_a_downloaded_module_does_not_count(tmp_path: Path) -> None:
    _init(tmp_path)
    _write(
        tmp_path,
        ".terraform/modules/jobs/x.sentinel.hcl",
        'contract "x" {\n  resource "*" "*" {\n    managed_by_agent = true\n  }\n}\n',
    )
    assert not any(rules for rules in load_code(tmp_path).rules.values())


@pytest.mark.parametrize("text", ["{", "[]", '{"Modules": [{}]}', '{"Modules": 5}'])
def test_a_broken_list_is_refused(tmp_path: Path, text: str) -> None:
    _init(tmp_path)
    _write(tmp_path, ".terraform/modules/modules.json", text)
    with pytest.raises(CodeInvalid, match="terraform init"):
        load_module(tmp_path)
