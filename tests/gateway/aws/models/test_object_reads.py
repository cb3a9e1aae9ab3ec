"""Every read of botocore whose parameters name a bucket, an object of S3 or a template was looked at."""

import re
from collections.abc import Iterator
from typing import Any

import botocore.session
import pytest

from gateway.aws.models.call_classes import shipped
from gateway.aws.models.object_reads import FETCHING, HARMLESS, STORES, may_fetch

_NAMES = re.compile("bucket|s3|templateurl", re.IGNORECASE)
_OWN_BUCKETS = {"s3tables", "s3vectors"}


def _members(shape: Any, seen: frozenset[str] = frozenset()) -> Iterator[str]:
    if shape is None or shape.name in seen:
        return
    seen = seen | {shape.name}
    match shape.type_name:
        case "structure":
            for name, member in shape.members.items():
                yield name
                yield from _members(member, seen)
        case "list":
            yield from _members(shape.member, seen)
        case "map":
            yield from _members(shape.value, seen)


@pytest.mark.slow
def test_every_read_that_names_an_object_was_reviewed() -> None:
    session, classes = botocore.session.get_session(), shipped()
    open_questions = []
    for service in session.get_available_services():
        if service in STORES | _OWN_BUCKETS:
            continue
        model = session.get_service_model(service)
        reviewed = FETCHING.get(service, frozenset()) | HARMLESS.get(service, frozenset())
        for operation in model.operation_names:
            if operation in reviewed or classes.of(service, operation).changes_state:
                continue
            if any(_NAMES.search(each) for each in _members(model.operation_model(operation).input_shape)):
                open_questions.append(f"{service}:{operation}")
    assert not open_questions


def test_the_stores_themselves_are_looked_at() -> None:
    assert may_fetch("s3", "SelectObjectContent")
    assert may_fetch("dynamodbstreams", "GetRecords")
    assert may_fetch("rekognition", "DetectText")
    assert not may_fetch("ec2", "DescribeInstances")
