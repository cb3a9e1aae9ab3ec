"""Every error has a stable code of its own, and its sentence is its text."""

import pytest

from gateway import errors


def _kinds(kind: type[errors.SentinelError]) -> list[type[errors.SentinelError]]:
    return [kind, *(deeper for one in kind.__subclasses__() if one.__module__ == errors.__name__ for deeper in _kinds(one))]  # fmt: skip


KINDS = _kinds(errors.SentinelError)


def test_codes_are_unlike() -> None:
    codes = [kind.code for kind in KINDS if "code" in vars(kind)]
    assert len(codes) == len(set(codes))
    assert all(code == code.lower() and code.replace("_", "").isalpha() for code in codes)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not errors.BodyTooLarge], ids=lambda kind: kind.__name__)  # fmt: skip
def test_the_sentence_is_the_text(kind: type[errors.SentinelError]) -> None:
    assert str(kind("Nothing was sent.")) == "Nothing was sent."


def test_what_a_stranger_named_is_kept_for_the_record_only() -> None:
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
def test_what_cannot_be_read_carries_both_names(error: errors.Malformed, code: str, aws_code: str) -> None:
    assert (error.code, error.aws_code) == (code, aws_code)


def test_a_body_over_the_limit_is_told_the_limit() -> None:
    assert "10 bytes" in str(errors.BodyTooLarge(10))
