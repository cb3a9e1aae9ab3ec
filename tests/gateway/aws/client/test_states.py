"""States in S3 are read by ourselves, all others by Terraform."""

from types import SimpleNamespace
from typing import Any

from gateway.aws.client.states import States
from gateway.terraform.config.backend import StateBackend, StateObject


def test_each_kind_has_its_reader() -> None:
    read: Any = lambda name: SimpleNamespace(read=lambda _: (name.encode(), name))  # noqa: E731  a short double
    states = States(buckets=read("bucket"), backends=read("backend"))
    assert states.read(StateObject(bucket="b", key="k", region="r")) == (b"bucket", "bucket")
    other = StateBackend(stack="s", kind="pg", source="main.tf:1", code="", given={})
    assert states.read(other) == (b"backend", "backend")
