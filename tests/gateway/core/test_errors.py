"""Every error has its own stable code, and its text is the given sentence."""

import pytest

from gateway.core import errors


def _kinds(kind: type[errors.SentinelError]) -> list[type[errors.SentinelError]]:
    return [kind, *(deeper for one in kind.__subclasses__() if one.__module__ == errors.__name__ for deeper in _kinds(one))]  # fmt: skip


KINDS = _kinds(errors.SentinelError)


def test_codes_are_unique() -> None:
    codes = [kind.code for kind in KINDS if "code" in vars(kind)]
    assert len(codes) == len(set(codes))
    assert all(code == code.lower() and code.replace("_", "").isalpha() for code in codes)


BUILT = (errors.BodyTooLarge, errors.CallTooLarge)
"""The errors that build their sentence from what they are given."""


def test_when_to_come_back_is_whole_seconds_and_never_at_once() -> None:
    assert [errors.BudgetSpent("x", seconds=seconds).retry_after for seconds in (-5, 0, 0.2, 1, 1.01, 90)] == [
        *(1, 1, 1, 1, 2, 90)
    ]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in BUILT], ids=lambda kind: kind.__name__)
def test_the_sentence_is_the_text(kind: type[errors.SentinelError]) -> None:
    assert str(kind("Nothing was sent.")) == "Nothing was sent."


def test_the_named_key_id_is_not_in_the_message() -> None:
    error = errors.NotAuthenticated("Who?", aws_code="SignatureDoesNotMatch", key_id="AKIAX")
    assert (error.aws_code, error.key_id, "AKIAX" in str(error)) == ("SignatureDoesNotMatch", "AKIAX", False)
    assert errors.NotAuthenticated("Who?").aws_code == "InvalidClientTokenId"


@pytest.mark.parametrize(
    ("error", "code", "aws_code"),
    [
        (errors.Malformed("Odd."), "malformed", "ValidationError"),
        (errors.Malformed("Odd.", aws_code="InvalidURI", code="target"), "target", "InvalidURI"),
        (errors.BodyTooLarge(10), "body_too_large", "RequestEntityTooLargeException"),
        (errors.UnknownOperation("None such."), "unknown_operation", "InvalidAction"),
    ],
)
def test_a_malformed_request_has_a_code_of_its_own_and_one_of_aws(
    error: errors.Malformed, code: str, aws_code: str
) -> None:
    assert (error.code, error.aws_code) == (code, aws_code)


def test_the_message_for_a_large_call_names_the_excess() -> None:
    text = str(errors.CallTooLarge("has a list of 5000 items, and 1000 are the most"))
    assert text.startswith("This call has a list of 5000 items, and 1000 are the most,")


def test_the_message_for_a_large_body_names_the_limit() -> None:
    assert "10 bytes" in str(errors.BodyTooLarge(10))
