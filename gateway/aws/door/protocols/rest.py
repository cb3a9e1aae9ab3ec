"""Parses the two REST protocols: parameters from the path, the query, the headers and a JSON or XML body."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any

from botocore.utils import is_json_value_header

from gateway.aws.door.protocols import document, xml
from gateway.aws.door.protocols.values import check_members, from_text, refuse_unknown, refuse_value
from gateway.aws.door.request_head import RequestHead
from gateway.core.errors import Malformed
from gateway.core.http.strict_parsers import json_value, refuse_body, utf8, xml_root
from gateway.core.http.value_limits import path_below
from gateway.core.service_models import Shape

_NEVER_SIGNED = frozenset({"cache-control", "content-length", "expect"})
"""Headers that some SDKs do not sign, although they are parameters of some operations."""
_JSON_TYPES = ("application/json", "application/x-amz-json-1.0", "application/x-amz-json-1.1")
_XML_TYPES = ("application/xml", "text/xml")
_ADDED = frozenset({"x-id"})
"""Query keys that SDKs add and that no service reads."""


def parse(
    shape: Shape | None,
    head: RequestHead,
    labels: Mapping[str, str],
    literals: frozenset[str],
    body: bytes,
    *,
    is_json: bool,
) -> dict[str, Any]:
    """The parameters of a REST request. `literals` are the query keys that identify the operation.

    Raises `errors.Malformed` for whatever does not fit the shape.
    """
    if shape is None:
        for name, _ in head.query:
            if name not in literals | _ADDED:
                refuse_unknown("", name)
        return {}
    result = dict(_from_path(shape, labels))
    result.update(_from_query(shape, head, literals))
    result.update(_from_headers(shape, head))
    result.update(_from_body(shape, head, body, is_json=is_json))
    check_members(shape, result, "", is_xml=not is_json)
    return result


def _bound(shape: Shape, location: str) -> Iterator[tuple[str, str, Shape]]:
    """Name, name on the wire and shape of each member that is bound to this location."""
    for name, member in shape.members.items():
        if member.serialization.get("location") == location:
            yield name, str(member.serialization.get("name", name)), member


def _from_path(shape: Shape, labels: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for name, key, member in _bound(shape, "uri"):
        if key in labels:
            yield name, from_text(member, labels[key], name)


def _from_query(shape: Shape, head: RequestHead, literals: frozenset[str]) -> Iterator[tuple[str, Any]]:
    given: dict[str, list[str]] = {}
    for key, text in head.query:
        given.setdefault(key, []).append(text)
    bound = list(_bound(shape, "querystring"))
    named = {key for _, key, member in bound if member.type_name != "map"}
    free = {key: texts for key, texts in given.items() if key not in named | literals | _ADDED}
    for name, key, member in bound:
        if member.type_name == "map":
            if free:
                yield name, {key: _query_value(member.value, texts, name) for key, texts in free.items()}
                free = {}
        elif key in given:
            yield name, _query_value(member, given[key], name)
    for key in free:
        refuse_unknown("", key)


def _query_value(shape: Shape, texts: list[str], path: str) -> Any:
    if shape.type_name == "list":
        return [from_text(shape.member, text, path_below(path, f"[{place}]")) for place, text in enumerate(texts)]
    if len(texts) > 1:
        raise Malformed(
            f"The parameter {path} was sent more than once.",
            aws_code="MalformedQueryString",
            code="duplicate_parameter",
        )
    return from_text(shape, texts[0], path)


def _from_headers(shape: Shape, head: RequestHead) -> Iterator[tuple[str, Any]]:
    for name, key, member in _bound(shape, "header"):
        if (text := _header(head, key.lower())) is not None:
            yield name, _header_value(member, text, name)
    for name, prefix, _ in _bound(shape, "headers"):
        start = prefix.lower()
        found = {key[len(start) :]: _header(head, key) for key in head.headers if key.startswith(start)}
        if found:
            yield name, found


def _header(head: RequestHead, name: str) -> str | None:
    """The value of a header that is a parameter. Refuses one that is repeated or not covered by the signature."""
    text = head.headers.get(name)
    if text is None:
        return None
    if name in head.repeated:
        raise Malformed(
            f"The header {name} was sent more than once.", aws_code="InvalidRequest", code="duplicate_header"
        )
    if name not in head.signed and name not in _NEVER_SIGNED:
        raise Malformed(
            f"The header {name} is a parameter of this operation and is not among SignedHeaders.",
            aws_code="SignatureDoesNotMatch",
            code="unsigned_header",
        )
    return text


def _header_value(shape: Shape, text: str, path: str) -> Any:
    if shape.type_name == "list":
        return [from_text(shape.member, item.strip(), path) for item in text.split(",")] if text.strip() else []
    if is_json_value_header(shape):
        try:
            return json_value(base64.b64decode(text, validate=True))
        except (binascii.Error, ValueError):
            refuse_value(path, "must be base64 of JSON")
    return from_text(shape, text, path)


def _from_body(shape: Shape, head: RequestHead, body: bytes, *, is_json: bool) -> dict[str, Any]:
    payload = shape.serialization.get("payload")
    if payload is not None:
        member = shape.members[payload]
        if member.type_name == "blob":
            return {payload: body} if body else {}
        if member.type_name == "string":
            return {payload: utf8(body)} if body else {}
        if member.serialization.get("eventstream"):
            raise Malformed(
                "Sentinel does not accept event streams from clients.", aws_code="InvalidRequest", code="event_stream"
            )
        return {payload: _payload(shape, payload, head, body, is_json=is_json)} if body else {}
    if not any("location" not in member.serialization for member in shape.members.values()):
        if body.strip() not in (b"", b"{}"):
            refuse_body("This operation has no body.", code="unexpected_body")
        return {}
    if not body:
        return {}
    if is_json:
        return document.structure(shape, _json(shape, head, body), "", check=False)
    return xml.structure(shape, _xml(shape, head, body), "", check=False)


def _payload(shape: Shape, name: str, head: RequestHead, body: bytes, *, is_json: bool) -> Any:
    if is_json:
        return document.value(shape.members[name], _json(shape, head, body), name)
    return xml.value(shape.members[name], _xml(shape, head, body), name)


def _json(shape: Shape, head: RequestHead, body: bytes) -> Any:
    _check_type(shape, head, _JSON_TYPES)
    return json_value(body)


def _xml(shape: Shape, head: RequestHead, body: bytes) -> Any:
    _check_type(shape, head, _XML_TYPES)
    return xml_root(body)


def _check_type(shape: Shape, head: RequestHead, allowed: tuple[str, ...]) -> None:
    """Refuse a content type of another protocol, unless the content type is a parameter. None is accepted: the protocol decides then."""
    if (
        not head.content_type
        or head.content_type in allowed
        or any(key.lower() == "content-type" for _, key, _ in _bound(shape, "header"))
    ):
        return
    raise Malformed(
        f"The content type does not fit: this operation uses {allowed[0]}.",
        aws_code="UnsupportedMediaTypeException",
        code="content_type",
    )
