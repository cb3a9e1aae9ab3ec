"""Encodes an operation's output, or its error, in AWS's six wire formats, by botocore's output shapes."""

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from xml.sax.saxutils import escape

from gateway.aws.models.routing_index import Protocol

_JSON = "application/x-amz-json-1.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An HTTP answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def encode_output(model: Any, protocol: Protocol, value: Mapping[str, Any]) -> Answer:
    """The answer of an operation whose output is `value`."""
    shape = model.output_shape
    headers = {"x-amzn-requestid": "stub"}
    match protocol:
        case Protocol.JSON:
            return _answer(headers, _JSON, json.dumps(_wire(value, shape)))
        case Protocol.CBOR:
            body = cbor(_wire(value, shape))
            sent = {**headers, "content-type": "application/cbor", "smithy-protocol": "rpc-v2-cbor"}
            return Answer(status=200, headers=sent, body=body)
        case Protocol.EC2:
            inner = "".join(_xml_members(value, shape))
            return _answer(
                headers, "text/xml", f"<{model.name}Response><requestId>r</requestId>{inner}</{model.name}Response>"
            )
        case Protocol.QUERY:
            inner = "".join(_xml_members(value, shape))
            wrapper = shape.serialization.get("resultWrapper") if shape is not None else None
            inner = f"<{wrapper}>{inner}</{wrapper}>" if wrapper else inner
            tail = "<ResponseMetadata><RequestId>r</RequestId></ResponseMetadata>"
            return _answer(headers, "text/xml", f"<{model.name}Response>{inner}{tail}</{model.name}Response>")
        case Protocol.REST_JSON | Protocol.REST_XML:
            return _rest(shape, protocol, value, headers)


def encode_missing(model: Any, protocol: Protocol) -> Answer:
    """The answer that what the operation reads does not exist, with the error that the operation has for it."""
    codes = [shape.metadata.get("error", {}).get("code") or shape.name for shape in model.error_shapes]
    words = ("NotFound", "NoSuch", "DoesNotExist", "NotExist", "Unknown")
    code = next((code for code in codes if any(word in code for word in words)), "ResourceNotFoundException")
    if protocol in (Protocol.JSON, Protocol.REST_JSON, Protocol.CBOR):
        return refusal(404, code, "gone: not found")
    if protocol is Protocol.EC2:
        body = f"<Response><Errors><Error><Code>{code}</Code><Message>gone</Message></Error></Errors><RequestID>r</RequestID></Response>"
        return Answer(status=400, headers={"content-type": "text/xml"}, body=body.encode())
    inner = f"<Error><Code>{code}</Code><Message>gone</Message></Error>"
    whole = (
        inner if protocol is Protocol.REST_XML else f"<ErrorResponse>{inner}<RequestId>r</RequestId></ErrorResponse>"
    )
    return Answer(status=404, headers={"content-type": "text/xml"}, body=whole.encode())


def refusal(status: int, code: str, text: str) -> Answer:
    """An error in JSON."""
    headers = {"content-type": "application/json", "x-amzn-errortype": code}
    return Answer(status=status, headers=headers, body=json.dumps({"__type": code, "message": text}).encode())


def _answer(headers: Mapping[str, str], kind: str, text: str) -> Answer:
    return Answer(status=200, headers={**headers, "content-type": kind}, body=text.encode())


def _rest(shape: Any, protocol: Protocol, value: Mapping[str, Any], headers: dict[str, str]) -> Answer:
    if shape is None:
        return Answer(status=200, headers=headers, body=b"" if protocol is Protocol.REST_XML else b"{}")
    body = {}
    for name, member in shape.members.items():
        location = member.serialization.get("location")
        if name not in value or location in ("headers", "statusCode"):
            continue
        if location == "header":
            headers[member.serialization.get("name", name)] = _text(value[name], member)
        else:
            body[name] = value[name]
    payload = shape.serialization.get("payload")
    if payload:
        return _payload(shape.members[payload], value.get(payload), protocol, headers)
    if protocol is Protocol.REST_XML:
        return _answer(headers, "text/xml", _xml(shape.serialization.get("resultWrapper", shape.name), body, shape))
    return _answer(headers, _JSON, json.dumps(_wire(body, shape)))


def _payload(member: Any, content: Any, protocol: Protocol, headers: Mapping[str, str]) -> Answer:
    if member.type_name in ("blob", "string"):
        body = content.encode() if isinstance(content, str) and content else b"{}"
        return Answer(status=200, headers=headers, body=body)
    if protocol is Protocol.REST_XML:
        return _answer(headers, "text/xml", _xml(member.serialization.get("name", member.name), content, member))
    return _answer(headers, "application/json", json.dumps(_wire(content, member)))


def _text(value: Any, shape: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if shape.type_name != "timestamp":
        return str(value)
    style = shape.serialization.get("timestampFormat")
    moment = datetime.fromtimestamp(value, UTC)
    if style == "unixTimestamp":
        return str(value)
    if style == "rfc822" or (style is None and shape.serialization.get("location") == "header"):
        return moment.strftime("%a, %d %b %Y %H:%M:%S GMT")
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _wire(value: Any, shape: Any) -> Any:
    """A value with the names that members have on the wire."""
    if shape is None:
        return {}
    match shape.type_name, value:
        case "structure", dict() if not shape.is_document_type:
            return {
                shape.members[name].serialization.get("name", name): _wire(item, shape.members[name])
                for name, item in value.items()
                if name in shape.members
            }
        case "list", list():
            return [_wire(item, shape.member) for item in value]
        case "map", dict():
            return {name: _wire(item, shape.value) for name, item in value.items()}
        case "timestamp", int() if shape.serialization.get("timestampFormat") in ("iso8601", "rfc822"):
            return _text(value, shape)
    return value


def _xml(tag: str, value: Any, shape: Any) -> str:
    if value is None:
        return ""
    match shape.type_name:
        case "structure":
            return f"<{tag}>{''.join(_xml_members(value, shape))}</{tag}>"
        case "list" if shape.serialization.get("flattened"):
            return "".join(_xml(tag, item, shape.member) for item in value)
        case "list":
            inner = shape.member.serialization.get("name", "member")
            return f"<{tag}>{''.join(_xml(inner, item, shape.member) for item in value)}</{tag}>"
        case "map":
            return _xml_map(tag, value, shape)
    return f"<{tag}>{escape(_text(value, shape))}</{tag}>"


def _xml_map(tag: str, value: Mapping[str, Any], shape: Any) -> str:
    key, item = shape.key.serialization.get("name", "key"), shape.value.serialization.get("name", "value")
    entries = [f"{_xml(key, each, shape.key)}{_xml(item, content, shape.value)}" for each, content in value.items()]
    if shape.serialization.get("flattened"):
        return "".join(f"<{tag}>{entry}</{tag}>" for entry in entries)
    return f"<{tag}>{''.join(f'<entry>{entry}</entry>' for entry in entries)}</{tag}>"


def _xml_members(value: Mapping[str, Any] | None, shape: Any) -> Iterator[str]:
    for key, item in (value or {}).items():
        if shape is None or key not in shape.members:
            continue
        member = shape.members[key]
        name = member.serialization.get("name", key)
        if member.type_name == "list" and member.serialization.get("flattened"):
            name = member.member.serialization.get("name", name)
        yield _xml(name, item, member)


_SIZES = ((24, ">B", 1 << 8), (25, ">H", 1 << 16), (26, ">I", 1 << 32), (27, ">Q", 1 << 64))


def cbor(value: Any) -> bytes:
    """A value of JSON's types in CBOR (RFC 8949)."""
    match value:
        case None:
            return b"\xf6"
        case bool():
            return b"\xf5" if value else b"\xf4"
        case int():
            return _cbor_head(0, value) if value >= 0 else _cbor_head(1, -1 - value)
        case float():
            return b"\xfb" + struct.pack(">d", value)
        case str():
            return _cbor_head(3, len(value.encode())) + value.encode()
        case dict():
            return _cbor_head(5, len(value)) + b"".join(cbor(key) + cbor(item) for key, item in value.items())
    return _cbor_head(4, len(value)) + b"".join(map(cbor, value))


def _cbor_head(major: int, number: int) -> bytes:
    if number < 24:
        return bytes([major << 5 | number])
    code, form, _ = next(size for size in _SIZES if number < size[2])
    return bytes([major << 5 | code]) + struct.pack(form, number)
