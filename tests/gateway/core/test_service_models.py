"""Service models are loaded only from the botocore package, once, in a thread, and are cached."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel

from gateway.core import service_models
from gateway.core.errors import NotSendable
from gateway.core.service_models import ServiceModels


def test_the_users_own_models_are_not_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    forged = tmp_path / ".aws" / "models" / "sqs" / "2099-01-01"
    forged.mkdir(parents=True)
    (forged / "service-2.json").write_text(json.dumps({"metadata": {}, "operations": {}, "shapes": {}}))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path / ".aws" / "models"))
    assert ServiceModels().operation("sqs", "CreateQueue").name == "CreateQueue"


@pytest.mark.parametrize("service", ["sqs", "ec2", "s3"])
def test_the_models_are_what_botocore_reads_itself(service: str) -> None:
    loader: Any = Loader(include_default_search_paths=False, extra_search_paths=[Loader.BUILTIN_DATA_PATH])
    ours: Any = ServiceModels().service(service)
    assert (
        ours._service_description == ServiceModel(loader.load_service_model(service, "service-2"))._service_description
    )


@pytest.mark.parametrize(
    ("service", "operation"), [("nope", "X"), ("../sqs", "X"), ("", "X"), ("sqs", "Nope"), ("sqs", "")]
)
async def test_an_unknown_operation_is_not_sendable(service: str, operation: str) -> None:
    models = ServiceModels()
    with pytest.raises(NotSendable, match="nothing was sent"):
        models.operation(service, operation)
    with pytest.raises(NotSendable, match="nothing was sent"):
        await models.input_of(service, operation)


async def test_a_service_that_does_not_exist_is_not_warmed() -> None:
    with pytest.raises(NotSendable, match="no AWS service"):
        await ServiceModels().warm("nope", "us-east-1")


async def test_the_input_shape_of_an_operation_is_found() -> None:
    shape = await ServiceModels().input_of("sqs", "CreateQueue")
    assert shape is not None
    assert shape.required_members == ["QueueName"]


async def test_an_operation_without_input_has_none() -> None:
    assert await ServiceModels().input_of("dynamodb", "DescribeLimits") is not None
    assert await ServiceModels().input_of("organizations", "DescribeOrganization") is None


async def test_concurrent_requests_load_a_service_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = service_models._load
    loaded: list[str] = []

    def counted(name: str) -> Any:
        loaded.append(name)
        return read(name)

    monkeypatch.setattr(service_models, "_load", counted)
    models = ServiceModels()
    await asyncio.gather(
        *(models.warm("sns", region) for region in ("us-east-1", "eu-west-1", "us-east-1")),
        *(models.input_of("sns", "Publish") for _ in range(3)),
    )
    assert loaded == ["sns"]


async def test_a_cached_service_is_not_loaded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    models = ServiceModels()
    await models.warm("sns", "us-east-1")
    rules = models.rules("sns", "us-east-1")
    monkeypatch.setattr(service_models, "_loader", lambda: pytest.fail("read again"))
    await models.warm("sns", "us-east-1")
    assert models.rules("sns", "us-east-1") is rules
    assert models.operation("sns", "Publish") is models.operation("sns", "Publish")


def test_only_the_most_recently_used_stay_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_models, "CACHED_SERVICES", 2)
    models = ServiceModels()
    for name in ("sqs", "sns", "sqs", "kms"):
        models.service(name)
    assert list(models._cache) == ["sqs", "kms"]


def test_the_domains_are_those_of_the_partitions() -> None:
    domains = ServiceModels().domains
    assert {".amazonaws.com", ".api.aws", ".amazonaws.com.cn"} <= set(domains)
    assert all(domain.startswith(".") and domain.count(".") >= 2 for domain in domains)


@pytest.mark.parametrize(
    ("service", "operation", "tokens"),
    [
        ("ecs", "CreateService", ("clientToken",)),
        ("ec2", "RunInstances", ("ClientToken",)),
        ("cloudfront", "CreateDistribution", ("DistributionConfig.CallerReference",)),
        ("cloudformation", "CreateStackSet", ("ClientRequestToken",)),
        ("cloudformation", "DeleteStackInstances", ("OperationId",)),
        ("sqs", "CreateQueue", ()),
        ("lambda", "AddPermission", ()),
    ],
)
def test_idempotency_tokens_are_known_whether_botocore_marks_them_or_not(
    service: str, operation: str, tokens: tuple[str, ...]
) -> None:
    assert ServiceModels().idempotency_tokens(service, operation) == tokens


@pytest.mark.parametrize(
    ("service", "operation"), [("athena", "DeleteNamedQuery"), ("athena", "StopQueryExecution"), ("s3", "ListBuckets")]
)
def test_what_says_which_resource_is_meant_is_no_token_although_botocore_marks_it(service: str, operation: str) -> None:
    assert ServiceModels().idempotency_tokens(service, operation) == ()
