"""Service models come from botocore's own files only, in a thread, and are kept."""

from pathlib import Path
from typing import Any

import pytest

from gateway.doors.aws.models import Models


async def test_the_input_shape_of_an_operation_is_found() -> None:
    shape = await Models().input_of("sqs", "CreateQueue")
    assert shape is not None
    assert shape.required_members == ["QueueName"]


async def test_an_operation_without_input_has_none() -> None:
    assert await Models().input_of("dynamodb", "DescribeLimits") is not None
    assert await Models().input_of("organizations", "DescribeOrganization") is None


async def test_models_under_the_home_directory_are_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "sqs" / "2099-01-01"
    own.mkdir(parents=True)
    (own / "service-2.json").write_text('{"metadata": {}, "operations": {}, "shapes": {}}')
    monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path))
    assert await Models().input_of("sqs", "CreateQueue") is not None


def test_a_model_is_read_once() -> None:
    models: Any = Models()
    assert models.model("sqs") is models.model("sqs")


def test_only_the_last_used_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.doors.aws.models.KEPT_SERVICES", 2)
    models = Models()
    for name in ("sqs", "sns", "sqs", "kms"):
        models.model(name)
    assert list(models._kept) == ["sqs", "kms"]
