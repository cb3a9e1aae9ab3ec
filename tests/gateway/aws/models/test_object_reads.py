"""Every read of botocore whose parameters name a bucket, an object of S3 or a template was looked at."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from gateway.aws.models.call_classes import shipped
from gateway.aws.models.object_reads import FETCHING, HARMLESS, STORES, may_fetch
from gateway.aws.models.routing_index import models

_NAMES = re.compile("bucket|s3|templateurl", re.IGNORECASE)
_OWN_BUCKETS = {"s3tables", "s3vectors"}


def _members(shapes: dict[str, Any], top: str) -> Iterator[str]:
    """The name of every member of the shape `top` at any depth. Each shape is looked at once."""
    seen, found = {top}, [top]
    for name in found:
        shape = shapes[name]
        yield from shape.get("members", {})
        below = [*shape.get("members", {}).values(), *(shape[part] for part in ("member", "value") if part in shape)]
        new = {each["shape"] for each in below} - seen
        seen |= new
        found += new


@pytest.mark.slow
def test_every_read_that_names_an_object_was_reviewed() -> None:
    classes, open_questions = shipped(), []
    for service, model in models():
        if service in STORES | _OWN_BUCKETS:
            continue
        reviewed = FETCHING.get(service, frozenset()) | HARMLESS.get(service, frozenset())
        for operation, definition in model["operations"].items():
            if operation in reviewed or classes.of(service, operation).changes_state or "input" not in definition:
                continue
            if any(_NAMES.search(each) for each in _members(model["shapes"], definition["input"]["shape"])):
                open_questions.append(f"{service}:{operation}")
    assert not open_questions


def test_the_stores_themselves_are_looked_at() -> None:
    assert may_fetch("s3", "SelectObjectContent")
    assert may_fetch("dynamodbstreams", "GetRecords")
    assert may_fetch("rekognition", "DetectText")
    assert not may_fetch("ec2", "DescribeInstances")
