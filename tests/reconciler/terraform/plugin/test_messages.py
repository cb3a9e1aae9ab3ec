"""Messages have the field numbers of the protocol: checked against bytes that are written out here."""

import pytest

from reconciler.terraform.plugin.messages import message, message_class


def test_a_read_request_has_the_numbers_of_the_protocol() -> None:
    state = message("DynamicValue", msgpack=b"\x80")
    written = message("ReadRequest", type_name="aws_x", current_state=state, private=b"p").SerializeToString()
    assert written == b"\x0a\x05aws_x" + b"\x12\x03\x0a\x01\x80" + b"\x1a\x01p"


def test_fields_that_are_not_described_are_passed_over() -> None:
    diagnostic = b"\x08\x01\x12\x03bad\x22\x02\x0a\x00"  # severity 1, summary, and an attribute path of no steps
    answer = message_class("ConfigureResponse").FromString(b"\x0a" + bytes([len(diagnostic)]) + diagnostic)
    assert [(each.severity, each.summary) for each in answer.diagnostics] == [(1, "bad")]


def test_a_message_that_is_not_described_is_an_error() -> None:
    with pytest.raises(KeyError):
        message("ApplyRequest")
