"""Strict parsers of form fields, JSON, XML and CBOR from an untrusted client: ambiguous input is refused.

Python's own parsers accept duplicate JSON members, NaN, lone surrogates, unbounded depth and XML entities, and we cannot know how AWS's
parsers treat them. Every function raises `errors.Malformed` and nothing else.
"""

import json
import math
import re
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, cast
from urllib.parse import unquote_plus
from xml.etree import ElementTree as ET

from botocore.parsers import ResponseParserError, RpcV2CBORParser

from gateway.core.errors import BodyTooLarge, Malformed
from gateway.core.http.value_limits import (
    MAX_DEPTH,
    MAX_ITEMS,
    MAX_VALUES,
    check_json_text,
    check_values,
    refuse_depth,
    refuse_values,
)
from gateway.core.json_reader import JsonRefused, read_json

MAX_FIELDS = 1000
_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_XML_HEAD = re.compile(
    r"""\s*<\?xml\s+version=["']1\.0["'](\s+encoding=["']([A-Za-z0-9_-]+)["'])?(\s+standalone=["'](yes|no)["'])?\s*\?>"""
)
_MAX_CBOR_READS = 6 * MAX_VALUES
"""A value takes at most three reads (type, length, content), and so does its key."""
_GZIP_WINDOW_BITS = 31


def refuse_body(reason: str, *, code: str = "malformed") -> NoReturn:
    """Raise `errors.Malformed` about a body that cannot be parsed."""
    raise Malformed(reason, aws_code="SerializationException", code=code)


def utf8(body: bytes) -> str:
    """The body as text: strict UTF-8, no byte order mark, no NUL."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        refuse_body(f"The body is not UTF-8 (byte {error.start}).", code="encoding")
    if text.startswith("\ufeff"):
        refuse_body("The body begins with a byte order mark.", code="encoding")
    _check_nul(text)
    return text


def pairs(text: str, *, where: str) -> list[tuple[str, str]]:
    """The decoded fields of a query or a form, in order. `where` is `query` or `body`, for error messages."""
    fields = text.split("&")
    if len(fields) > MAX_FIELDS:
        _refuse_form(f"The {where} has more than {MAX_FIELDS} parameters.", "too_many_parameters")
    if not text.isascii() or _ESCAPE.search(text):
        _refuse_form(f"The {where} contains a broken percent escape or raw text outside ASCII.", "encoding")
    return [_pair(field, where) for field in fields]


def _pair(field: str, where: str) -> tuple[str, str]:
    key, _, value = field.partition("=")
    name, content = key, value
    if "%" in field or "+" in field:
        try:
            name, content = unquote_plus(key, errors="strict"), unquote_plus(value, errors="strict")
        except UnicodeDecodeError:
            _refuse_form(f"The {where} contains a parameter that is not UTF-8.", "encoding")
    if not name:
        _refuse_form(f"The {where} contains a parameter without a name.", "encoding")
    if "\0" in name or "\0" in content:
        _refuse_form(f"The {where} contains a NUL character.", "control_character")
    return name, content


def form(body: bytes) -> dict[str, str]:
    """The fields of an `application/x-www-form-urlencoded` body by name. Refuses names that differ only in case, as `unique` does."""
    return unique(pairs(utf8(body), where="body") if body else [])


def unique(fields: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The fields by name. Refuses a name that is repeated, also in another letter case: servers differ in which one they use."""
    seen: set[str] = set()
    for name, _ in fields:
        if (folded := name.casefold()) in seen:
            _refuse_form(f"The parameter {name[:100]!r} was sent more than once.", "duplicate_parameter")
        seen.add(folded)
    return dict(fields)


def _refuse_form(reason: str, code: str) -> NoReturn:
    raise Malformed(reason, aws_code="MalformedQueryString", code=code)


def json_value(body: bytes) -> Any:
    """The value of a JSON body."""
    text = utf8(body)
    check_json_text(text)
    try:
        value = read_json(text, deepest=MAX_DEPTH)
    except JsonRefused as error:
        refuse_body(f"The body {error}.", code=error.fault.value)
    check_values(value)
    if "\\u" in text:
        _check_strings(value)
    return value


def _check_strings(value: Any) -> None:
    """Refuse NUL characters and lone surrogates, which JSON can contain only as escapes."""
    text = json.dumps(value, ensure_ascii=False)
    if "\\u0000" in text:
        _check_nul_in(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        refuse_body("The body contains half of a surrogate pair.", code="encoding")


def _check_nul_in(value: Any) -> None:
    match value:
        case str():
            _check_nul(value)
        case dict():
            for key, item in value.items():
                _check_nul(key)
                _check_nul_in(item)
        case list():
            for item in value:
                _check_nul_in(item)


def _check_nul(text: str) -> None:
    if "\0" in text:
        refuse_body("The body contains a NUL character.", code="control_character")


def xml_root(body: bytes) -> ET.Element:
    """The root of an XML body in UTF-8. Refuses document types, entities, processing instructions and other declared encodings."""
    text = utf8(body)
    if (head := _XML_HEAD.match(text)) is not None:
        if (head[2] or "utf-8").lower() not in ("utf-8", "us-ascii"):
            refuse_body("The XML declares an encoding other than UTF-8.", code="encoding")
        text = text[head.end() :]
    if "<!DOCTYPE" in text.upper() or "<!ENTITY" in text.upper() or "<?" in text:
        refuse_body("The XML contains a document type, an entity or a processing instruction.", code="doctype")
    try:
        root = _elements(text)
    except ET.ParseError as error:
        refuse_body(f"The body is not well-formed XML: {error}.", code="xml")
    if root is None:
        refuse_body("The body contains no XML element.", code="xml")
    return root


def _elements(text: str) -> ET.Element | None:
    """The root element of XML text. Raises `ET.ParseError`. Tags and attributes are counted before the parser builds anything of them."""
    if text.count("<") > 2 * MAX_VALUES or text.count('="') + text.count("='") > MAX_VALUES:
        refuse_values()
    parser: ET.XMLPullParser[Any] = ET.XMLPullParser(events=("start", "end"))
    parser.feed(text)
    parser.close()
    depth = 0
    root: ET.Element | None = None
    for event, element in cast("Iterator[tuple[str, ET.Element]]", parser.read_events()):
        depth += 1 if event == "start" else -1
        root = element if root is None else root
        if depth > MAX_DEPTH:
            refuse_depth()
        if len(element) > MAX_ITEMS:
            refuse_values()
    return root


class _StrictCborParser(RpcV2CBORParser):
    """botocore's CBOR parser, which trusts its input, made strict for input from a client."""

    def __init__(self, body: bytes) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # botocore is untyped
        self._size = len(body)
        self._depth = 0
        self._reads = 0

    def parse_data_item(self, stream: Any) -> Any:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            refuse_depth()
        value = super().parse_data_item(stream)  # type: ignore[no-untyped-call] # botocore is untyped
        self._depth -= 1
        if isinstance(value, float) and not math.isfinite(value):
            refuse_body("The body contains a number that is not finite.", code="number")
        if isinstance(value, str):
            _check_nul(value)
        return value

    def _parse_key_value_pair(self, stream: Any, items: dict[str, Any]) -> None:
        key, value = self.parse_data_item(stream), self.parse_data_item(stream)
        if not isinstance(key, str):
            refuse_body("A CBOR map has a key that is not text.", code="cbor")
        if key in items:
            refuse_body("A CBOR map names the same key twice.", code="duplicate_parameter")
        items[key] = value

    def _read_from_stream(self, stream: Any, length: int) -> Any:
        self._reads += 1
        if self._reads > _MAX_CBOR_READS:
            refuse_values()
        if length > self._size:
            refuse_body("A CBOR item is longer than the body.", code="cbor")
        return super()._read_from_stream(stream, length)  # type: ignore[no-untyped-call] # botocore is untyped


def cbor_value(body: bytes) -> Any:
    """The value of a CBOR body (RFC 8949, as far as rpc-v2 uses it)."""
    parser = _StrictCborParser(body)
    stream = parser.get_peekable_stream_from_bytes(body)  # type: ignore[no-untyped-call] # botocore is untyped
    try:
        value = parser.parse_data_item(stream)
        rest = stream.read(1)
    except (ResponseParserError, ValueError, TypeError, OverflowError, RuntimeError, OSError) as error:
        refuse_body(f"The body is not CBOR that Sentinel accepts ({type(error).__name__}).", code="cbor")
    if rest:
        refuse_body("Bytes follow the CBOR value.", code="cbor")
    check_values(value)
    return value


def gunzipped(body: bytes, limit: int) -> bytes:
    """The decompressed gzip body, of at most `limit` bytes. Raises `errors.BodyTooLarge` before it decompresses more."""
    decompressor = zlib.decompressobj(_GZIP_WINDOW_BITS)
    try:
        plain = decompressor.decompress(body, limit)
    except zlib.error:
        refuse_body("The body is declared as gzip, but is not.", code="compression")
    if decompressor.unconsumed_tail:
        raise BodyTooLarge(limit)
    if not decompressor.eof or decompressor.unused_data:
        refuse_body("The gzip body is truncated or followed by other bytes.", code="compression")
    return plain
