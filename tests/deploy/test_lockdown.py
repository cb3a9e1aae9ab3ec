"""The modules of the lock-down: formatted, and each passes its own `terraform test`."""

import re
import shutil
from pathlib import Path

import pytest

from tests.deploy.test_ecs import terraform

LOCKDOWN = Path(__file__).parent.parent.parent / "deploy" / "lockdown"
MODULES = ("scp", "boundary", "endpoint", "egress")

pytestmark = [
    pytest.mark.terraform,
    pytest.mark.allow_hosts(["127.0.0.1"]),
    pytest.mark.usefixtures("slim_environment"),
]


def test_all_modules_are_there_and_formatted() -> None:
    assert {path.parent.name for path in LOCKDOWN.glob("*/main.tf")} == set(MODULES)
    assert terraform(LOCKDOWN, "fmt", "-check", "-recursive").stdout == ""


@pytest.mark.parametrize("module", [MODULES[0], *(pytest.param(name, marks=pytest.mark.long) for name in MODULES[1:])])
def test_a_module_passes_its_own_tests(module: str, tmp_path: Path) -> None:
    copy = tmp_path / module
    shutil.copytree(LOCKDOWN / module, copy, ignore=shutil.ignore_patterns(".terraform*"))
    done = terraform(copy, "init", "-no-color", "-input=false")
    assert done.returncode == 0, done.stderr
    done = terraform(copy, "test", "-no-color")
    assert done.returncode == 0, done.stdout + done.stderr
    runs = len(re.findall(r'^run "', "".join(path.read_text() for path in copy.glob("tests/*.hcl")), re.MULTILINE))
    assert f"Success! {runs} passed, 0 failed." in done.stdout


@pytest.mark.long
def test_a_hole_in_the_policy_would_be_noticed(tmp_path: Path) -> None:
    """The tests of the module fail if a write is left out of the denial."""
    copy = tmp_path / "scp"
    shutil.copytree(LOCKDOWN / "scp", copy, ignore=shutil.ignore_patterns(".terraform*"))
    main = copy / "main.tf"
    main.write_text(main.read_text().replace('"sso:*", "support:*"', '"sso:*", "support:*", "ec2:*"'))
    assert terraform(copy, "init", "-no-color", "-input=false").returncode == 0
    done = terraform(copy, "test", "-no-color")
    assert done.returncode != 0
    assert "A write is left out of the denial" in done.stdout + done.stderr
