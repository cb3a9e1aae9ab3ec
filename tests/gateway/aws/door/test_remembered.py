"""What is remembered by the headers of a request is little, whatever its sender writes into them: nobody may have proven yet who that is."""

import tracemalloc
from collections.abc import Callable

import pytest

from gateway.aws.door.advice import client_of
from gateway.aws.door.decoder import motive_of_head
from gateway.aws.door.reads import forwarded_headers
from gateway.aws.door.request_head import head_of, is_form_upload
from gateway.core.model.caller import sender_of
from gateway.core.model.inbound import Inbound
from tests.kit.doubles import inbound

MOST_BYTES = 3_500_000
"""What one of them may keep."""


def _signed(number: int) -> Inbound:
    """Half of 32 KB of names are said to be signed."""
    names = [f"h{place:02}{number:06}{'a' * 330}" for place in range(80)]
    scope = "AKIDEXAMPLE/20261129/us-east-1/ec2/aws4_request"
    said = f"Credential={scope}, SignedHeaders={';'.join([*names[:20], 'host', 'x-amz-date'])}, Signature={'0' * 64}"
    sent = (("host", "a"), ("x-amz-date", "20261129T010000Z"), ("authorization", f"AWS4-HMAC-SHA256 {said}"))
    return inbound(headers=(*sent, *((name, "b") for name in names)))


def _long(name: str, number: int) -> Inbound:
    return inbound(headers=((name, f"{number:06}{'x' * 8_000}"),))


ASKED: dict[str, tuple[int, Callable[[int], object]]] = {
    "a signature": (280, lambda number: head_of(_signed(number))),
    "a motive": (280, lambda number: motive_of_head(head_of(_signed(number)))),
    "a content type": (280, lambda number: is_form_upload("POST", f"{number:06}{'x' * 8_000}", "/")),
    "a user agent": (
        280,
        lambda number: (sender_of(_long("user-agent", number)), client_of(_long("user-agent", number))),
    ),
    "names": (1_100, lambda number: forwarded_headers([(f"x-amz-{number:06}{'x' * 8_000}", "a")])),
}


@pytest.mark.parametrize("what", ASKED)
def test_what_is_remembered_of_headers_is_little(what: str) -> None:
    times, ask = ASKED[what]
    tracemalloc.start()
    try:
        for number in range(times):
            ask(number)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < MOST_BYTES
