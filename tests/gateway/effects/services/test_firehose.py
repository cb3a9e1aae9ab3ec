"""Records of Amazon Data Firehose."""

from collections.abc import Callable
from typing import Any

STREAM = {"aws_kinesis_firehose_delivery_stream.f": {"name": "f"}}


def test_records_invoke_their_delivery_stream(effects_of: Callable[..., Any]) -> None:
    (effect,) = effects_of(
        "firehose", "PutRecordBatch", {"DeliveryStreamName": "f", "Records": [{"Data": b"x"}]}, STREAM
    )
    assert (effect.address, effect.action) == ("aws_kinesis_firehose_delivery_stream.f", "invoke")


def test_an_unknown_parameter_is_not_understood(effects_of: Callable[..., Any]) -> None:
    assert effects_of("firehose", "PutRecord", {"DeliveryStreamName": "f", "Elsewhere": "x"}, STREAM) == ()
