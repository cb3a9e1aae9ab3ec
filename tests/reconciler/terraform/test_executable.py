"""OpenTofu runs where only it is installed, and is spoken to as Terraform is."""

import json
import os
import sys
from pathlib import Path

import pytest

from reconciler.terraform.cli import Terraform
from reconciler.terraform.executable import found_executable

TOFU = """#!{python}
import json, sys
if sys.argv[1:] == ["version", "-json"]:
    print(json.dumps({version}))
elif sys.argv[1] == "plan" and not any(word.startswith("-out=") for word in sys.argv):
    sys.exit(9)
elif sys.argv[1] == "plan":
    sys.exit(0)
"""
VERSION = {
    "terraform_version": "1.10.6",
    "platform": "linux_amd64",
    "provider_selections": {"registry.opentofu.org/hashicorp/aws": "5.100.0"},
}
"""As OpenTofu 1.10 prints it."""


@pytest.mark.parametrize(
    ("wanted", "installed", "runs"),
    [
        ("terraform", {"terraform", "tofu"}, "terraform"),
        ("terraform", {"terraform"}, "terraform"),
        ("terraform", {"tofu"}, "tofu"),
        ("terraform", set(), "terraform"),
        ("tofu", {"terraform", "tofu"}, "tofu"),
        ("/opt/terraform", {"tofu"}, "/opt/terraform"),
    ],
)
def test_the_executable(wanted: str, installed: set[str], runs: str) -> None:
    assert found_executable(wanted, lambda name: name if name in installed else None) == runs


async def test_opentofu_answers_the_same_questions(tmp_path: Path) -> None:
    path = tmp_path / "tofu"
    path.write_text(TOFU.format(python=sys.executable, version=json.dumps(VERSION)))
    path.chmod(0o755)
    (tmp_path / "data").mkdir()
    tofu = Terraform(
        environment={"PATH": os.environ["PATH"]}, workdir=tmp_path / "work", executable=str(path), shared_data=tmp_path
    )
    assert await tofu.version() == "1.10.6"
    assert await tofu.plan(tmp_path) is None
