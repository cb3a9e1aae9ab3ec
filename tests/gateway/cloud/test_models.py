"""Models come from botocore's own files and from nowhere else."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.cloud.models import Models
from gateway.errors import NotSendable


def test_the_users_own_models_are_not_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    forged = tmp_path / ".aws" / "models" / "sqs" / "2099-01-01"
    forged.mkdir(parents=True)
    (forged / "service-2.json").write_text(json.dumps({"metadata": {}, "operations": {}, "shapes": {}}))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path / ".aws" / "models"))
    assert Models().operation("sqs", "CreateQueue").name == "CreateQueue"


@pytest.mark.parametrize(
    ("service", "operation"), [("nope", "X"), ("../sqs", "X"), ("", "X"), ("sqs", "Nope"), ("sqs", "")]
)
def test_what_is_not_there_is_not_sendable(models: Models, service: str, operation: str) -> None:
    with pytest.raises(NotSendable, match="nothing was sent"):
        models.operation(service, operation)


async def test_warming_reads_once(models: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    await models.warm("sns", "us-east-1")
    monkeypatch.setattr(models, "service", lambda _: pytest.fail("read again"))
    await models.warm("sns", "us-east-1")


def test_the_domains_are_those_of_the_partitions(models: Models) -> None:
    assert {".amazonaws.com", ".api.aws", ".amazonaws.com.cn"} <= set(models.domains)
    assert all(domain.startswith(".") and domain.count(".") >= 2 for domain in models.domains)
