"""Path, query, headers and body each yield the parameters bound to them, and no others."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from gateway.core.errors import Malformed
from gateway.core.model.inbound import Inbound

ReadBack = Callable[[Inbound], Awaitable[Any]]


async def test_each_place_gives_its_own(wire: Any, read_back: ReadBack) -> None:
    inbound = wire.inbound(
        "lambda",
        target="/2015-03-31/functions/arn%3Aaws%3Af/invocations?Qualifier=7",
        headers={"x-amz-invocation-type": "Event", "content-type": "application/octet-stream"},
        body=b"\x00 payload",
    )
    assert (await read_back(inbound)).parameters == {
        "FunctionName": "arn:aws:f",
        "Qualifier": "7",
        "InvocationType": "Event",
        "Payload": b"\x00 payload",
    }


async def test_a_list_in_the_query_repeats_its_key(wire: Any, read_back: ReadBack) -> None:
    inbound = wire.inbound("lambda", method="DELETE", target="/2017-03-31/tags/arn?tagKeys=a&tagKeys=b")
    assert (await read_back(inbound)).parameters == {"Resource": "arn", "TagKeys": ["a", "b"]}


BAD: dict[str, dict[str, Any]] = {
    "json behind another type": {"headers": {"content-type": "text/plain"}, "body": b"{}"},
    "no json": {"headers": {"content-type": "application/json"}, "body": b"x"},
    "a query key that does not exist": {"target": "/2015-03-31/functions/f/configuration?evil=1"},
    "a header parameter sent twice": {
        "method": "DELETE",
        "target": "/b/k",
        "headers": {"if-match": "a"},
        "more": (("if-match", "b"),),
        "signing": "s3",
    },
}


@pytest.mark.parametrize("given", BAD.values(), ids=BAD.keys())
async def test_what_does_not_fit_is_refused(wire: Any, read_back: ReadBack, given: dict[str, Any]) -> None:
    given = {"signing": "lambda", "method": "PUT", "target": "/2015-03-31/functions/f/configuration", **given}
    with pytest.raises(Malformed):
        await read_back(wire.inbound(given.pop("signing"), **given))
