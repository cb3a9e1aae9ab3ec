"""From bytes to parameters the work grows as the input does: counted for every parser, and shown for patterns by their structure."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.aws.door.protocols import document, form, xml
from gateway.core.errors import Malformed, NotAuthenticated
from gateway.core.http import strict_parsers
from gateway.core.http.motive_syntax import read_motive
from gateway.core.service_models import ServiceModels
from gateway.doors.api.decoder import parameters
from gateway.identity import aws_chunked, canonical
from tests.kit.growth import assert_linear
from tests.kit.patterns import patterns_of, risk

GATEWAY = Path(__file__).resolve().parents[4] / "gateway"

Make = Callable[[int], Callable[[], object]]


def _tolerant(call: Callable[[], object]) -> Callable[[], object]:
    """The call; a refusal is a result like any other."""

    def run() -> object:
        try:
            return call()
        except (Malformed, NotAuthenticated):
            return None

    return run


def _cbor_map(size: int) -> bytes:
    pairs = b"".join(b"\x64" + b"%04d" % number + b"\x00" for number in range(size))
    return b"\xb9" + size.to_bytes(2, "big") + pairs


TEXTS: dict[str, tuple[Callable[[bytes], Any], Callable[[int], bytes]]] = {
    # The attack of the audit: brackets, so that nesting is counted, then a string of escaped quotes.
    "JSON, escaped quotes": (strict_parsers.json_value, lambda n: b"[" + b"[]," * 70 + b'"' + b'\\"' * n + b'"]'),
    "JSON, escaped quotes without an end": (strict_parsers.json_value, lambda n: b"[]" * 70 + b'"' + b'\\"' * n),
    "JSON, backslashes": (strict_parsers.json_value, lambda n: b"[" + b"[]," * 70 + b'"' + b"\\\\" * n + b'"]'),
    "JSON, odd backslashes": (strict_parsers.json_value, lambda n: b"[" + b"[]," * 70 + b'"' + b"\\" * (2 * n + 1)),
    "JSON, strings": (strict_parsers.json_value, lambda n: b"[" + b"[]," * 70 + b'"a",' * n + b"0]"),
    "JSON, brackets": (strict_parsers.json_value, lambda n: b"[" + b"[]," * n + b"0]"),
    "JSON, members": (
        strict_parsers.json_value,
        lambda n: json.dumps({f"a{number}": [{}] for number in range(n)}).encode(),
    ),
    "JSON, escapes": (strict_parsers.json_value, lambda n: b'["' + b"\\u0041" * n + b'"]'),
    "JSON, digits": (strict_parsers.json_value, lambda n: b"[" + b"9" * n + b"]"),
    "XML, siblings": (strict_parsers.xml_root, lambda n: b"<a>" + b"<b>c</b>" * n + b"</a>"),
    "XML, attributes": (strict_parsers.xml_root, lambda n: b"<a " + b" ".join(b'b%d=""' % i for i in range(n)) + b"/>"),
    "XML, references": (strict_parsers.xml_root, lambda n: b"<a>" + b"&lt;" * n + b"</a>"),
    "XML, blanks before the declaration": (strict_parsers.xml_root, lambda n: b"<?xml version='1.0'" + b" " * n),
    "CBOR, map": (strict_parsers.cbor_value, _cbor_map),
    "CBOR, lists without length": (strict_parsers.cbor_value, lambda n: b"\x9f" + b"\x9f\xff" * n + b"\xff"),
    "CBOR, pieces of text": (strict_parsers.cbor_value, lambda n: b"\x7f" + b"\x61a" * n + b"\xff"),
    "form fields": (strict_parsers.form, lambda n: b"&".join(b"a%d=%%41" % number for number in range(n))),
    "form, escapes": (strict_parsers.form, lambda n: b"a=" + b"%41" * n),
    "form, broken escapes": (strict_parsers.form, lambda n: b"a=" + b"%4" * n),
    "chunks": (aws_chunked.decode, lambda n: b"1\r\na\r\n" * n + b"0\r\n\r\n"),
    "chunk trailers": (aws_chunked.decode, lambda n: b"0\r\n" + b"".join(b"a%d:b\r\n" % i for i in range(n)) + b"\r\n"),
    "a long chunk line": (aws_chunked.decode, lambda n: b"a" * n),
    "query": (lambda raw: canonical.canonical_query(raw.decode()), lambda n: b"&".join(b"a%d=+" % i for i in range(n))),
    "dot segments": (lambda raw: canonical.canonical_path(raw.decode(), literal=False), lambda n: b"/a/.." * n),
    "a motivation's parameters": (
        lambda raw: read_motive("availability", raw.decode()),
        lambda n: b"incident" + b"".join(b"; a%s=b" % (b"x" * 3 + bytes([97 + i % 26])) for i in range(n)),
    ),
    "a motivation's escapes": (
        lambda raw: read_motive("availability", raw.decode()),
        lambda n: b'incident; text="' + b'\\"' * n + b'"',
    ),
    "a motivation's blanks": (lambda raw: read_motive("availability", raw.decode()), lambda n: b"incident" + b" " * n),
}


@pytest.mark.parametrize("case", TEXTS)
def test_a_parser_takes_time_in_proportion_to_its_input(case: str) -> None:
    parse, make = TEXTS[case]
    assert_linear(lambda size: _tolerant(lambda: parse(body)) if (body := make(size)) else lambda: None, 100)


def _nested(size: int) -> dict[str, Any]:
    """A DynamoDB item whose long names stand above many values: paths must not repeat them for each."""
    value: dict[str, Any] = {"L": [{"S": "x"} for _ in range(size)]}
    for level in range(10):
        value = {"M": {f"{level}" + "n" * min(size, 500): value}}
    return {"TableName": "t", "Item": {"a": value}}


SHAPED: dict[str, tuple[str, str, Callable[[Any, int], object]]] = {
    "JSON list": (
        "cloudwatch",
        "EnableAlarmActions",
        lambda shape, n: document.parse(shape, {"AlarmNames": ["a"] * n}),
    ),
    "JSON, long names above many values": ("dynamodb", "PutItem", lambda shape, n: document.parse(shape, _nested(n))),
    "JSON, structures of many members": (
        "ec2",
        "RunInstances",
        lambda shape, n: document.structure(shape, {"NetworkInterfaces": [{} for _ in range(n)]}, "", check=False),
    ),
    "form list": (
        "autoscaling",
        "SuspendProcesses",
        lambda shape, n: form.parse(
            shape,
            {"AutoScalingGroupName": "a", **{f"ScalingProcesses.member.{i}": "Launch" for i in range(1, n)}},
            ec2=False,
        ),
    ),
    "form structures": (
        "ec2",
        "AuthorizeSecurityGroupIngress",
        lambda shape, n: form.parse(
            shape, {f"IpPermissions.1.IpRanges.{i}.CidrIp": "10.0.0.0/8" for i in range(1, n)}, ec2=True
        ),
    ),
    "form, a value and children": (
        "ec2",
        "CreateTags",
        lambda shape, n: form.parse(shape, {f"{'A.' * 30}{i}": "" for i in range(n)}, ec2=True),
    ),
    "XML list": (
        "s3",
        "DeleteObjects",
        lambda shape, n: xml.structure(
            shape.members["Delete"],
            strict_parsers.xml_root(b"<Delete>" + b"<Object><Key>a</Key></Object>" * n + b"</Delete>"),
            "Delete",
        ),
    ),
    "API list": (
        "ec2",
        "AuthorizeSecurityGroupIngress",
        lambda shape, n: parameters(
            shape, {"GroupId": "sg-1", "IpPermissions": [{"IpRanges": [{"CidrIp": "10.0.0.0/8"}] * n}]}
        ),
    ),
    "API, long names above many values": ("dynamodb", "PutItem", lambda shape, n: parameters(shape, _nested(n))),
    "API, many mistakes": (
        "ec2",
        "AuthorizeSecurityGroupIngress",
        lambda shape, n: parameters(shape, {"IpPermissions": [{"FromPort": "x"} for _ in range(n)]}),
    ),
}


@pytest.mark.parametrize("case", SHAPED)
def test_parameters_take_time_in_proportion_to_their_number(case: str, models: ServiceModels) -> None:
    service, operation, parse = SHAPED[case]
    shape = models.shape(service, operation)
    assert_linear(lambda size: _tolerant(lambda: parse(shape, size)), 60)


TRUSTED = {
    ("aws/door/operation_router.py", "_LABEL"): "applied to botocore's own URI templates",
    ("effects/derived_operations.py", "ADDS"): "applied to the paths of reviewed rows",
    ("effects/derived_operations.py", "_OF_PAIR"): "applied to the paths of reviewed rows",
    ("aws/client/endpoints.py", "_PLACEHOLDER"): "applied to botocore's own host prefixes",
}
"""Patterns that could backtrack and never see a caller's text."""
ROOMS_THAT_READ_CALLERS = ("doors", "identity", "aws", "effects", "core/http", "presentation", "plans")


def test_every_room_that_reads_callers_exists() -> None:
    assert [part for part in ROOMS_THAT_READ_CALLERS if not (GATEWAY / part).is_dir()] == []
    assert [name for name, _ in TRUSTED if not (GATEWAY / name).is_file()] == []


@pytest.mark.parametrize("room", ROOMS_THAT_READ_CALLERS)
def test_no_pattern_over_a_callers_text_can_backtrack(room: str) -> None:
    found = {
        (name, where): why
        for path in sorted((GATEWAY / room).rglob("*.py"))
        for name in [path.relative_to(GATEWAY).as_posix()]
        for where, pattern, searched in patterns_of(path)
        if (name, where) not in TRUSTED and (why := risk(pattern, searched=searched))
    }
    assert not found


@pytest.mark.slow
def test_no_route_can_backtrack(routes: Any, table: Any) -> None:
    from gateway.aws.door.operation_router import _compile_route  # noqa: PLC0415  only this test looks inside

    templates = {route.template: route for service in routes.services.values() for route in service.routes}
    assert not {
        template for template, route in templates.items() if risk(_compile_route(route).pattern.pattern, searched=False)
    }
