"""Records of Kinesis Data Streams."""

from collections.abc import Callable
from typing import Any

import pytest

STREAM = {"aws_kinesis_stream.s": {"name": "s"}}
RECORD = {"Data": b"x", "PartitionKey": "k"}


@pytest.mark.parametrize(
    "named", [{"StreamName": "s"}, {"StreamARN": "arn:aws:kinesis:eu-west-1:123456789012:stream/s"}]
)
def test_a_record_invokes_its_stream(effects_of: Callable[..., Any], named: dict[str, str]) -> None:
    (effect,) = effects_of("kinesis", "PutRecord", {**named, **RECORD}, STREAM)
    assert (effect.address, effect.action, effect.value) == ("aws_kinesis_stream.s", "invoke", None)


@pytest.mark.parametrize(
    "named",
    [
        {},
        {"StreamId": "i"},
        {"StreamName": "s", "StreamARN": "arn:aws:kinesis:eu-west-1:123456789012:stream/other"},
        {"StreamARN": "arn:aws:kinesis:eu-west-1:999999999999:stream/s"},
        {"StreamName": "arn:aws:kinesis:eu-west-1:999999999999:stream/s"},
    ],
)
def test_another_stream_is_not_this_one(effects_of: Callable[..., Any], named: dict[str, str]) -> None:
    found = effects_of("kinesis", "PutRecord", {**named, **RECORD}, STREAM)
    assert found == ()
