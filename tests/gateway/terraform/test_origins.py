"""Where code and contracts come from: the protected branch's commit in a git checkout, the files as they are elsewhere."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from gateway.core.errors import CodeInvalid
from gateway.core.model.verdict import Mode
from gateway.core.settings import StackSettings
from gateway.terraform.config.backend import StateBackend, StateObject
from gateway.terraform.config.module import declared
from gateway.terraform.origins import (
    ProtectedBranch,
    StateFile,
    StoredState,
    WorkingTree,
    code_origin,
    fingerprint,
    state_origin,
)
from gateway.terraform.stack_code import load_code
from gateway.terraform.stacks import Stacks
from tests.kit.git import commit, git, repository

CONTRACT = 'contract "c" {\n  resource "aws_x" "*" {\n    critical = true\n  }\n}\n'


@pytest.fixture
def stack(tmp_path: Path) -> Path:
    """A stack in git."""
    (tmp_path / "main.tf").write_text('variable "n" {\n  default = 1\n}\n')
    (tmp_path / "c.sentinel.hcl").write_text(CONTRACT)
    return repository(tmp_path)


def test_outside_git_the_files_count_and_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "main.tf").touch()
    origin = code_origin(tmp_path)
    assert isinstance(origin, WorkingTree)
    assert origin.description == f"the files in {tmp_path}"
    assert "anyone who can write there can widen them" in origin.warnings()[0]
    code, version = origin.load()
    assert version == origin.version(code.directories) == fingerprint([tmp_path / "main.tf"])


def test_a_protected_branch_cannot_be_had_outside_git(tmp_path: Path) -> None:
    with pytest.raises(CodeInvalid, match="protected_branch is 'main', but the stack is not in a git checkout"):
        code_origin(tmp_path, "main")


def test_in_git_the_commit_counts(stack: Path) -> None:
    origin = code_origin(stack)
    assert isinstance(origin, ProtectedBranch)
    assert origin.description == f"refs/heads/main of {stack}"
    code, version = origin.load()
    assert version == origin.version(code.directories)
    (stack / "main.tf").write_text('variable "n" {\n  default = 2\n}\n')
    (stack / "d.sentinel.hcl").write_text(CONTRACT.replace('"c"', '"d"'))
    again, same = origin.load()
    assert (again.digest, same) == (code.digest, version)
    assert again.module.variable("n") == 1
    assert [rule.source for rule in again.rules["."]] == ["c.sentinel.hcl:2"]


def _with_template(root: Path, text: str) -> None:
    (root / "main.tf").write_text('resource "r" "a" {\n  text = templatefile("${path.module}/t.tftpl", { n = 1 })\n}\n')
    (root / "t.tftpl").write_text(text)


def test_templates_are_read_from_the_commit_and_count_in_the_digest(stack: Path) -> None:
    _with_template(stack, "first ${n}")
    commit(stack)
    code, version = code_origin(stack).load()
    assert declared(code.instances["r.a"], "text") == "first 1"
    (stack / "t.tftpl").write_text("not committed")
    again, same = code_origin(stack).load()
    assert (again.digest, same, declared(again.instances["r.a"], "text")) == (code.digest, version, "first 1")
    commit(stack)
    later, next_version = code_origin(stack).load()
    assert declared(later.instances["r.a"], "text") == "not committed"
    assert (later.digest, next_version) != (code.digest, version)
    assert later.digest == WorkingTree(root=stack).load()[0].digest


def test_a_changed_or_new_template_is_a_new_version_of_files_on_disk(tmp_path: Path) -> None:
    _with_template(tmp_path, "first")
    origin = WorkingTree(root=tmp_path)
    code, version = origin.load()
    assert version == origin.version(code.directories, code.templates)
    (tmp_path / "t.tftpl").write_text("second ${n}")
    assert version != origin.version(code.directories, code.templates)
    (tmp_path / "t.tftpl").unlink()
    without, version = origin.load()
    (tmp_path / "t.tftpl").write_text("third")
    assert version != origin.version(without.directories, without.templates)
    assert len({code.digest, without.digest, origin.load()[0].digest}) == 3


def test_a_new_commit_is_a_new_version(stack: Path) -> None:
    origin = code_origin(stack)
    before = origin.version(())
    (stack / "main.tf").write_text('variable "n" {\n  default = 2\n}\n')
    commit(stack)
    assert origin.version(()) != before
    assert origin.load()[0].module.variable("n") == 2


def test_the_code_of_a_commit_has_the_digest_of_its_files(stack: Path, tmp_path: Path) -> None:
    assert code_origin(stack).load()[0].digest == WorkingTree(root=stack).load()[0].digest


def test_the_branch_is_chosen_once(stack: Path) -> None:
    origin = code_origin(stack)
    before = origin.version(())
    git(stack, "checkout", "--quiet", "-b", "other")
    commit(stack)
    git(stack, "config", "branch.main.remote", ".")
    git(stack, "config", "branch.main.merge", "refs/heads/other")
    git(stack, "checkout", "--quiet", "main")
    assert origin.version(()) == before


def test_a_branch_that_cannot_be_read_is_a_version_of_its_own_that_does_not_load(stack: Path) -> None:
    origin = code_origin(stack)
    (stack / ".git").rename(stack / "git")
    assert origin.version(()) == origin.version(())
    assert "cannot be read" in origin.version(())[0][0]
    with pytest.raises(CodeInvalid, match="cannot be read"):
        origin.load()


def test_values_that_are_in_no_commit_are_said(stack: Path) -> None:
    (stack / "terraform.tfvars").write_text("n = 3\n")
    (stack / "b.auto.tfvars.json").write_text('{"n": 3}')
    (stack / ".gitignore").write_text("*.tfvars\n")
    origin = code_origin(stack)
    assert [warning.partition(" ")[0] for warning in origin.warnings()] == ["b.auto.tfvars.json", "terraform.tfvars"]
    assert origin.load()[0].module.variable("n") == 1
    commit(stack)
    assert origin.warnings() == ()


CODE = """terraform {
  backend "s3" {
    key = "shop/terraform.tfstate"
  }
}

resource "aws_sqs_queue" "jobs" {
  name = "jobs"
}
"""


@dataclass
class Bucket:
    """An S3 with one object."""

    content: bytes
    broken: bool = False
    asked: str = ""

    def read(self, wanted: StateObject | StateBackend) -> tuple[bytes, str]:
        self.asked = wanted.url
        if self.broken:
            raise CodeInvalid(f"{wanted.url}: S3 is away.")
        return self.content, f"tag {hash(self.content)}"


def _state(name: str) -> bytes:
    resource = {
        "mode": "managed",
        "type": "aws_sqs_queue",
        "name": "jobs",
        "provider": 'provider["registry.terraform.io/hashicorp/aws"]',
        "instances": [{"attributes": {"name": name}}],
    }
    return json.dumps({"version": 4, "serial": 1, "resources": [resource]}).encode()


def _settings(path: Path, **more: object) -> StackSettings:
    given = {"backend_config": {"bucket": "states", "region": "eu-west-1"}, "workspace": "blue"}
    return StackSettings.model_validate({"name": "shop", "path": path} | given | more)


def test_a_stack_follows_its_object_in_s3(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(CODE)
    bucket = Bucket(_state("one"))
    stacks = Stacks.load([_settings(tmp_path)], default_mode=Mode.ENFORCE, objects=bucket)
    assert bucket.asked == "s3://states/env:/blue/shop/terraform.tfstate"
    assert stacks.recorded("aws_sqs_queue.jobs") == {"name": "one"}
    assert not stacks.refresh()
    bucket.content = _state("two")
    assert stacks.refresh()
    assert stacks.recorded("aws_sqs_queue.jobs") == {"name": "two"}
    bucket.broken = True
    assert stacks.refresh()
    assert stacks.problems == ("shop: s3://states/env:/blue/shop/terraform.tfstate: S3 is away.",)
    assert stacks.recorded("aws_sqs_queue.jobs") == {"name": "two"}
    bucket.broken = False
    assert stacks.refresh()
    assert not stacks.problems


def test_at_the_start_a_state_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(CODE)
    with pytest.raises(CodeInvalid, match="S3 is away"):
        Stacks.load([_settings(tmp_path)], default_mode=Mode.ENFORCE, objects=Bucket(b"", broken=True))
    with pytest.raises(CodeInvalid, match="nothing here reads it"):
        Stacks.load([_settings(tmp_path)], default_mode=Mode.ENFORCE)


def test_a_state_file_in_the_settings_comes_first(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(CODE)
    code, file = load_code(tmp_path), tmp_path / "pulled.tfstate"
    origin = state_origin(_settings(tmp_path, state=file), code, Bucket(b"s3"))
    assert origin == StateFile(path=file)
    assert (origin.name, origin.read(), origin.version()) == ("pulled.tfstate", b"", ())
    file.write_bytes(b"x")
    assert (origin.read(), len(origin.version())) == (b"x", 1)
    with pytest.raises(CodeInvalid, match="cannot be read"):
        StateFile(path=tmp_path).read()


def test_the_version_of_an_object_is_its_tag(tmp_path: Path) -> None:
    bucket = Bucket(b"one")
    stored = StoredState(objects=bucket, wanted=StateObject(bucket="b", key="k", region="eu-west-1"))
    first = stored.version()
    bucket.content = b"two"
    assert stored.version() != first
    assert stored.read() == b"two"
    bucket.broken = True
    assert stored.version() == (("s3://b/k: S3 is away.", 0, 0, 0),)
