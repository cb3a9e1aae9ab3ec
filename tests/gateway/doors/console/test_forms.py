"""Forms are read strictly, and a reason says something."""

import asyncio
from typing import Any

import pytest

from gateway.core.errors import Malformed
from gateway.doors.console.forms import form_of, reason_in
from tests.kit.doubles import inbound

KIND = (("content-type", "application/x-www-form-urlencoded; charset=utf-8"),)


def read(body: bytes, headers: Any = KIND) -> Any:
    return asyncio.run(form_of(inbound(headers=headers, body=body)))


def test_fields_by_name() -> None:
    assert read(b"a=1&b=%C3%A4+b&c=") == {"a": "1", "b": "ä b", "c": ""}


@pytest.mark.parametrize("body", [b"a=1&a=2", b"a=%FF", "a=ä".encode(), b"&".join(b"f%d=" % n for n in range(60))])
def test_an_odd_form_is_refused(body: bytes) -> None:
    with pytest.raises(Malformed):
        read(body)


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "multipart/form-data; boundary=x", ""])
def test_only_forms_are_taken(kind: str) -> None:
    with pytest.raises(Malformed, match="only its own forms"):
        read(b"a=1", (("content-type", kind),))


@pytest.mark.parametrize("reason", ["", ".", " ..  ", "ok", "12345", "why\x1b[2Jnot", "why\u202enot"])
def test_a_reason_that_says_nothing_is_refused(reason: str) -> None:
    with pytest.raises(Malformed):
        reason_in({"reason": reason})


def test_a_reason_is_one_line() -> None:
    assert reason_in({"reason": " The alarm\n is  real "}) == "The alarm is real"
