"""Reads that the simulated AWS does not know are answered as if there was nothing; everything else is left as it is."""

import io
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.bench.drift.unknown_reads import answering_reads


def unknown(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
    """A simulated AWS that knows nothing."""
    if "json-1" in environ.get("CONTENT_TYPE", "") or "form" in environ.get("CONTENT_TYPE", ""):
        raise NotImplementedError
    start("404 NOT FOUND", [])
    return [b"<!doctype html>\n<p>no such page"]


def asked(body: bytes = b"", **environ: Any) -> tuple[str, bytes]:
    """Status and body of the answer."""
    said: list[str] = []
    request = {"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body)), "PATH_INFO": "/", **environ}
    reply = answering_reads(unknown)(request, lambda status, _headers: said.append(status))
    return said[0], b"".join(reply)


def test_a_read_by_target_gets_an_empty_object() -> None:
    target: dict[str, Any] = {
        "HTTP_X_AMZ_TARGET": "Budgets.DescribeSubscribers",
        "CONTENT_TYPE": "application/x-amz-json-1.1",
    }
    assert asked(REQUEST_METHOD="POST", **target) == ("200 OK", b"{}")


def test_a_read_by_form_gets_an_empty_element() -> None:
    form = asked(b"Action=ListTags", REQUEST_METHOD="POST", CONTENT_TYPE="application/x-www-form-urlencoded")
    assert form == ("200 OK", b"<ListTagsResponse><ListTagsResult/></ListTagsResponse>")


def test_a_read_by_path_gets_an_empty_object() -> None:
    assert asked(REQUEST_METHOD="POST", PATH_INFO="/listTagsForStream") == ("200 OK", b"{}")
    assert asked(REQUEST_METHOD="GET", PATH_INFO="/tags/arn") == ("200 OK", b"{}")


def test_a_change_stays_unknown() -> None:
    assert asked(REQUEST_METHOD="POST", PATH_INFO="/createThing")[0] == "404 NOT FOUND"
    with pytest.raises(NotImplementedError):
        asked(b"Action=CreateThing", REQUEST_METHOD="POST", CONTENT_TYPE="application/x-www-form-urlencoded")
