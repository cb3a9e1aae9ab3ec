"""The strict parsers refuse ambiguous input."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.errors import BodyTooLarge, Malformed
from gateway.core.http import strict_parsers
from tests.kit.growth import assert_linear

BAD_JSON = {
    "the same member twice": b'{"MinSize":1,"MinSize":2}',
    "the same member twice, deep": b'{"a":[{"b":1,"b":1}]}',
    "the same member twice, one escaped": b'{"a":1,"\\u0061":2}',
    "NaN": b'{"a":NaN}',
    "Infinity": b'{"a":-Infinity}',
    "a number over the float range": b'{"a":1E400}',
    "a number of 5,000 digits": b'{"a":' + b"9" * 5000 + b"}",
    "100,000 brackets": b"[" * 100_000,
    "65 levels": b"[" * 65 + b"]" * 65,
    "half a surrogate pair": b'{"a":"\\ud800"}',
    "half a surrogate pair as a key": b'{"\\udc00":1}',
    "NUL by escape": b'{"a":"x\\u0000y"}',
    "raw NUL": b'{"a":"x\x00y"}',
    "raw control character": b'{"a":"x\x01y"}',
    "byte order mark": b'\xef\xbb\xbf{"a":1}',
    "UTF-16": '{"a":1}'.encode("utf-16"),
    "invalid UTF-8": b'{"a":"\xff"}',
    "overlong UTF-8": b'{"a":"\xc0\x80"}',
    "text behind": b'{"a":1} {"a":2}',
    "comment": b'{"a":1} // x',
    "single quotes": b"{'a':1}",
    "cut off": b'{"a":',
    "nothing": b"",
}


@pytest.mark.parametrize("body", BAD_JSON.values(), ids=BAD_JSON.keys())
def test_json_with_more_than_one_reading_is_refused(body: bytes) -> None:
    with pytest.raises(Malformed):
        strict_parsers.json_value(body)


def test_json_that_nests_too_deep_is_refused_with_linear_work() -> None:
    def refused(depth: int) -> None:
        with pytest.raises(Malformed):
            strict_parsers.json_value(b'{"a":' * depth)

    assert_linear(lambda depth: lambda: refused(depth), 25_000)


def test_brackets_inside_strings_are_no_depth() -> None:
    assert strict_parsers.json_value(json.dumps({"a": "[{" * 200}).encode()) == {"a": "[{" * 200}


def test_a_backslash_before_u0000_is_no_nul() -> None:
    assert strict_parsers.json_value(b'{"a":"\\\\u0000"}') == {"a": "\\u0000"}


_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False) | _text,
    lambda inner: st.lists(inner) | st.dictionaries(_text, inner),
    max_leaves=20,
)


@pytest.mark.slow
@given(_json, st.booleans())
def test_valid_json_parses_as_in_python(value: object, ascii_only: bool) -> None:
    assert strict_parsers.json_value(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@given(st.binary(max_size=200))
def test_no_bytes_make_a_decoder_break(body: bytes) -> None:
    for decode in (strict_parsers.json_value, strict_parsers.cbor_value, strict_parsers.xml_root, strict_parsers.form):
        try:
            decode(body)
        except Malformed:
            continue


BAD_FORMS = {
    "the same parameter twice": b"Action=CreateVpc&Action=DescribeVpcs",
    "the same parameter in another case": b"MinSize=1&minsize=2",
    "the same parameter, one escaped": b"Action=a&Acti%6fn=b",
    "a broken escape": b"a=%zz",
    "a cut escape": b"a=%4",
    "invalid UTF-8": b"a=%ff",
    "raw UTF-8": "a=é".encode(),
    "NUL": b"a=x%00y",
    "no name": b"a=1&=2",
    "an empty field": b"a=1&&b=2",
    "a byte order mark": b"\xef\xbb\xbfAction=x",
    "1,001 fields": b"&".join(b"a.%d=1" % number for number in range(1001)),
}


@pytest.mark.parametrize("body", BAD_FORMS.values(), ids=BAD_FORMS.keys())
def test_a_form_with_more_than_one_reading_is_refused(body: bytes) -> None:
    with pytest.raises(Malformed):
        strict_parsers.form(body)


def test_a_semicolon_does_not_separate_fields() -> None:
    assert strict_parsers.form(b"a=1;Action=x&b=+%2B") == {"a": "1;Action=x", "b": " +"}


BAD_XML = {
    "document type": b"<!DOCTYPE a><a/>",
    "document type in lower case": b"<!doctype a><a/>",
    "entities that grow": b'<!DOCTYPE a [<!ENTITY b "xx"><!ENTITY c "&b;&b;">]><a>&c;</a>',
    "an external entity": b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
    "a document type behind UTF-16": '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE a><a/>'.encode("utf-16"),
    "UTF-7 declared": b'<?xml version="1.0" encoding="UTF-7"?><a>+ADw-b+AD4-</a>',
    "a processing instruction": b"<a><?php x ?></a>",
    "65 levels": b"<a>" * 65 + b"</a>" * 65,
    "not closed": b"<a><b></a>",
    "two roots": b"<a/><b/>",
    "an unknown entity": b"<a>&x;</a>",
    "NUL": b"<a>&#0;</a>",
    "nothing": b"",
}


@pytest.mark.parametrize("body", BAD_XML.values(), ids=BAD_XML.keys())
def test_xml_with_more_than_one_reading_is_refused(body: bytes) -> None:
    with pytest.raises(Malformed):
        strict_parsers.xml_root(body)


def test_xml_with_a_declaration_is_read() -> None:
    assert strict_parsers.xml_root(b'<?xml version="1.0" encoding="UTF-8"?>\n<a>\xc3\xa9</a>').text == "é"


BAD_CBOR = {
    "the same key twice": b"\xa2aa\x01aa\x02",
    "a key that is a number": b"\xa1\x01\x02",
    "NaN": b"\xf9\x7e\x00",
    "infinity": b"\xfa\x7f\x80\x00\x00",
    "100,000 lists": b"\x81" * 100_000,
    "100,000 tags": b"\xc1" * 100_000,
    "text of 2^63 bytes": b"\x7b\x7f\xff\xff\xff\xff\xff\xff\xffx",
    "a list of 2^63 items": b"\x9b\x7f\xff\xff\xff\xff\xff\xff\xff\x01",
    "invalid UTF-8": b"\x61\xff",
    "NUL": b"\x61\x00",
    "bytes behind": b"\x01\x02",
    "an unknown tag": b"\xc2\x41\x01",
    "a time that is none": b"\xc1\xfb\x7e\x37\xe4\x3c\x88\x00\x75\x9c",
    "cut off": b"\xa1aa",
    "nothing": b"",
}


@pytest.mark.parametrize("body", BAD_CBOR.values(), ids=BAD_CBOR.keys())
def test_cbor_with_more_than_one_reading_is_refused(body: bytes) -> None:
    with pytest.raises(Malformed):
        strict_parsers.cbor_value(body)


def test_cbor_is_read() -> None:
    assert strict_parsers.cbor_value(b"\xa2aa\x01ab\x82\xf5\xf6") == {"a": 1, "b": [True, None]}


def test_gzip_is_unpacked_up_to_the_limit() -> None:
    assert strict_parsers.gunzipped(gzip.compress(b"x" * 1000), 1000) == b"x" * 1000


def test_a_gzip_bomb_is_refused() -> None:
    with pytest.raises(BodyTooLarge):
        strict_parsers.gunzipped(gzip.compress(b"\0" * 10_000_000), 1000)


@pytest.mark.parametrize("body", [b"x", gzip.compress(b"x", mtime=0)[:-1], gzip.compress(b"x", mtime=0) + b"y"])
def test_invalid_gzip_is_refused(body: bytes) -> None:
    with pytest.raises(Malformed):
        strict_parsers.gunzipped(body, 1000)
