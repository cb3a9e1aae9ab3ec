"""A state is read from its file or from S3; a stack follows its object, and keeps the last state that could be read."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from gateway.core.errors import CodeInvalid
from gateway.core.model.verdict import Mode
from gateway.core.settings import StackSettings
from gateway.terraform.code import load_code
from gateway.terraform.config.backend import StateBackend, StateObject
from gateway.terraform.stacks import Stacks
from gateway.terraform.state_origin import StateFile, StoredState, state_origin

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
