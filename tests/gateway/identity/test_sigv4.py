"""The SigV4 verifier, tested with the AWS signing test suite, with botocore and with known forgeries."""

import base64
import hmac
import inspect
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import pytest

from gateway.core.errors import Malformed, NotAuthenticated, SentinelError
from gateway.core.model.signature import PayloadKind
from gateway.identity import canonical, sigv4
from gateway.identity.sigv4 import SigV4, read_signature, signature_for
from tests.kit.growth import finish, work

BOTO: Any = botocore
"""Untyped."""
ROOT = Path(__file__).parents[3]
SUITE = ROOT / "tests/cases/sigv4/aws"
CASES = sorted(folder for folder in SUITE.iterdir() if folder.is_dir())
OWN = json.loads((ROOT / "tests/cases/sigv4/cases.json").read_text())
ADDED_AFTER = "post-sts-header-after"
"""Adds the session token after signing, as only IoT does; here an unsigned header is refused."""
KEY_ID, SECRET = "SNTL0000000000000001", "a secret of forty characters, about so.."


# --- the suite of AWS ---


FORMS = ("header", "query")


def test_the_suite_is_whole() -> None:
    assert len(CASES) == 38


def _vector(name: str, form: str) -> tuple[str, str, list[tuple[str, str]], bytes, dict[str, Any]]:
    """Method, target, headers, body and context of a signed request of the suite, as they are sent."""
    raw = (SUITE / name / f"{form}-signed-request.txt").read_bytes().decode("latin-1").replace("\r\n", "\n")
    head, _, body = raw.partition("\n\n")
    line, *rest = head.split("\n")
    method, _, target = line.removesuffix(" HTTP/1.1").partition(" ")
    headers: list[tuple[str, str]] = []
    for field in filter(None, rest):
        if field[0] in " \t":
            headers[-1] = (headers[-1][0], headers[-1][1] + "\n" + field)
        else:
            key, _, value = field.partition(":")
            headers.append((key.lower(), value))
    return method, target, headers, body.encode("latin-1"), json.loads((SUITE / name / "context.json").read_text())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [folder.name for folder in CASES])
def test_every_vector_of_aws_has_the_signature_we_calculate(inbound_of: Any, name: str, form: str) -> None:
    method, target, headers, body, context = _vector(name, form)
    if name == ADDED_AFTER:
        if form == "header":
            with pytest.raises(NotAuthenticated, match="not signed"):
                read_signature(inbound_of(method, target, headers, body))
        headers = [field for field in headers if field[0] != "x-amz-security-token"]
        target = "&".join(part for part in target.split("&") if not part.startswith("X-Amz-Security-Token"))
    inbound = inbound_of(method, target, headers, body)
    signature = read_signature(inbound)
    calculated = signature_for(
        inbound,
        signature,
        secret=context["credentials"]["secret_access_key"],
        payload=signature.payload_hash or _hash(body),
        normalise=context["normalize"],
    )
    assert calculated == signature.value
    assert signature.presigned is (form == "query")


def _hash(body: bytes) -> str:
    return sha256(body).hexdigest()


@pytest.mark.slow
@pytest.mark.parametrize(("step", "fewest"), [(19, 5_000), pytest.param(1, 100_000, marks=pytest.mark.long)])
def test_no_mutant_of_a_vector_is_accepted(ring: Any, clock: Any, inbound_of: Any, step: int, fewest: int) -> None:
    """Every single bit of method, target, signed header values and body flipped, one at a time; of all, each `step`th."""
    clock.at = datetime(2015, 8, 30, 12, 36, tzinfo=UTC)
    door = SigV4(ring, clock, skew_seconds=300)
    tried = 0
    for folder in CASES:
        for form in FORMS:
            method, target, headers, body, context = _vector(folder.name, form)
            ring.add("AKIDEXAMPLE", context["credentials"]["secret_access_key"])
            if not _taken(door, inbound_of(method, target, headers, body)):
                continue  # dot segments, or the token added after signing: refused even as they are
            for mutant in islice(_mutants(method, target, headers, body), tried % step, None, step):
                tried += 1
                assert not _taken(door, inbound_of(*mutant)), mutant
    assert tried > fewest


def _taken(door: SigV4, inbound: Any) -> bool:
    attempt = door.authenticate(inbound)
    try:
        attempt.send(None)
    except StopIteration:
        return True
    except SentinelError:
        return False
    raise AssertionError("the doubles never suspend")


def _mutants(method: str, target: str, headers: list[tuple[str, str]], body: bytes) -> Iterator[tuple[Any, ...]]:
    for other in _flipped(method):
        yield other, target, headers, body
    for other in _flipped(target):
        if not _same_target(target, other):
            yield method, other, headers, body
    for index, (name, value) in enumerate(headers):
        flips = _flipped(value) if name != "authorization" else _flipped_from(value, value.index("SignedHeaders"))
        for other in flips:
            if other.split() != value.split():
                yield method, target, [*headers[:index], (name, other), *headers[index + 1 :]], body
    for index in range(len(body)):
        for bit in range(8):
            yield method, target, headers, body[:index] + bytes([body[index] ^ 1 << bit]) + body[index + 1 :]


def _flipped(text: str) -> Iterator[str]:
    return _flipped_from(text, 0)


def _flipped_from(text: str, start: int) -> Iterator[str]:
    for index in range(start, len(text)):
        for bit in range(8):
            yield text[:index] + chr(ord(text[index]) ^ 1 << bit) + text[index + 1 :]


def _same_target(one: str, other: str) -> bool:
    """Whether two targets mean the same, so that one signature rightly covers both (`%2f` and `%2F` in a query)."""

    def meaning(target: str) -> tuple[str, list[bytes]]:
        path, _, query = target.partition("?")
        return path, [unquote_to_bytes(part) for part in query.split("&")]

    return meaning(one) == meaning(other)


# --- botocore ---


@pytest.mark.parametrize("case", OWN["cases"], ids=[case["name"] for case in OWN["cases"]])
async def test_what_botocore_signed_is_accepted_and_any_change_refused(
    ring: Any, clock: Any, inbound_of: Any, case: Any
) -> None:
    ring.add(OWN["access_key_id"], OWN["secret"])
    clock.at = datetime.fromisoformat(OWN["at"]) + timedelta(seconds=2)
    door = SigV4(ring, clock, skew_seconds=300)
    headers = [(name, value) for name, value in case["headers"]]
    body = base64.b64decode(case["body"])
    caller = await door.authenticate(inbound_of(case["method"], case["target"], headers, body))
    assert caller.key_id == OWN["access_key_id"]
    presigned = read_signature(inbound_of(case["method"], case["target"], headers)).presigned
    for changed in (
        inbound_of("DELETE", case["target"], headers, body),
        inbound_of(case["method"], case["target"] + ("&" if "?" in case["target"] else "?") + "x=1", headers, body),
        inbound_of(case["method"], case["target"].replace("/", "/x", 1), headers, body),
        inbound_of(case["method"], case["target"], [*headers, ("x-amz-target", "Other.Operation")], body),
        inbound_of(case["method"], case["target"], [*headers, ("x-sentinel-intent", "cost")], body),
        *(
            ()
            if presigned and case["service"] == "s3"
            else (inbound_of(case["method"], case["target"], headers, body + b"x"),)
        ),
    ):
        with pytest.raises(NotAuthenticated):
            await door.authenticate(changed)


# --- one by one ---


def signed(clock: Any, *, service: str = "autoscaling", body: bytes = b"Action=A", secret: str = SECRET, key_id: str = KEY_ID, region: str = "us-east-1",
           target: str = "/", headers: dict[str, str] | None = None, offset: float = 0) -> dict[str, Any]:  # fmt: skip
    """A request signed by botocore's plain signer, as arguments for `inbound_of`."""
    request = BOTO.awsrequest.AWSRequest(
        method="POST", url=f"http://gw{target}", headers={"Content-Type": "text/x", **(headers or {})}, data=body
    )
    signer = BOTO.auth.SigV4Auth(BOTO.credentials.Credentials(key_id, secret), service, region)
    request.context["timestamp"] = (clock.now() + timedelta(seconds=offset)).strftime("%Y%m%dT%H%M%SZ")
    request.headers["X-Amz-Date"] = request.context["timestamp"]
    canonical_request = signer.canonical_request(request)
    signer._inject_signature_to_request(
        request, signer.signature(signer.string_to_sign(request, canonical_request), request)
    )
    return {"method": "POST", "target": target, "headers": [("Host", "gw"), *request.headers.items()], "body": body}


def edited(request: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    """The request with a piece of its Authorization header replaced."""
    assert old in dict(request["headers"])["Authorization"]
    headers = [
        (name, value.replace(old, new) if name == "Authorization" else value) for name, value in request["headers"]
    ]
    return {**request, "headers": headers}


def plus(request: dict[str, Any], *headers: tuple[str, str]) -> dict[str, Any]:
    return {**request, "headers": [*request["headers"], *headers]}


def without(request: dict[str, Any], name: str) -> dict[str, Any]:
    return {**request, "headers": [field for field in request["headers"] if field[0] != name]}


ROWS: dict[str, tuple[Any, str]] = {
    "1 no proof": (lambda _: {"headers": [("host", "gw")]}, "MissingAuthenticationToken"),
    "2 unknown key": (lambda c: signed(c, key_id="SNTL9999999999999999"), "SignatureDoesNotMatch"),
    "2 unknown key, s3": (lambda c: signed(c, service="s3", key_id="SNTL9999999999999999"), "SignatureDoesNotMatch"),
    "2 unknown key, old": (lambda c: signed(c, service="s3", key_id="SNTL9999999999999999", offset=-360), "RequestTimeTooSkewed"),
    "3 wrong secret": (lambda c: signed(c, secret="another"), "SignatureDoesNotMatch"),
    "4 revoked key": (lambda c: signed(c, key_id="REVOKED"), "InvalidClientTokenId"),
    "4 expired key": (lambda c: signed(c, key_id="EXPIRED"), "InvalidClientTokenId"),
    "4 revoked key, wrong secret": (lambda c: signed(c, key_id="REVOKED", secret="another"), "SignatureDoesNotMatch"),
    "4 expired key, wrong secret": (lambda c: signed(c, key_id="EXPIRED", secret="another"), "SignatureDoesNotMatch"),
    "5 a key of AWS": (lambda c: signed(c, key_id="AKIAIOSFODNN7EXAMPLE"), "SignatureDoesNotMatch"),
    "6 six minutes old": (lambda c: signed(c, offset=-360), "SignatureDoesNotMatch"),
    "6 six minutes ahead": (lambda c: signed(c, offset=360), "SignatureDoesNotMatch"),
    "6 six minutes old, s3": (lambda c: signed(c, service="s3", offset=-360), "RequestTimeTooSkewed"),
    "7 date not the scope's": (lambda c: edited(signed(c), "/20261121/", "/20261120/"), "SignatureDoesNotMatch"),
    "8 other region": (lambda c: edited(signed(c), "us-east-1", "us-east-2"), "SignatureDoesNotMatch"),
    "8 other service": (lambda c: edited(signed(c), "autoscaling", "ec2"), "SignatureDoesNotMatch"),
    "8 other terminator": (lambda c: edited(signed(c), "aws4_request", "aws5_request"), "SignatureDoesNotMatch"),
    "9 no signature": (lambda c: edited(signed(c), "Signature=", "Sig="), "IncompleteSignature"),
    "9 two credentials": (lambda c: edited(signed(c), "Credential=", "Credential=a/b, Credential="), "IncompleteSignature"),
    "9 something more": (lambda c: edited(signed(c), "Credential=", "Extra=1, Credential="), "IncompleteSignature"),
    "9 scope too short": (lambda c: edited(signed(c), "us-east-1/", ""), "IncompleteSignature"),
    "9 region that is a host": (lambda c: edited(signed(c), "us-east-1", "evil.com#"), "IncompleteSignature"),
    "9 signature not hex": (lambda c: edited(signed(c), "Signature=", "Signature=zz"), "IncompleteSignature"),
    "9 no date": (lambda c: without(signed(c), "X-Amz-Date"), "IncompleteSignature"),
    "9 two dates": (lambda c: plus(signed(c), ("x-amz-date", "20261121T120000Z")), "IncompleteSignature"),
    "10 two proofs": (lambda c: plus(signed(c), ("authorization", "AWS4-HMAC-SHA256 x")), "IncompleteSignature"),
    "10 header and query": (lambda c: {**signed(c), "target": "/?X-Amz-Signature=00"}, "IncompleteSignature"),
    "11 host not signed": (lambda c: edited(signed(c), "content-type;host", "content-type"), "SignatureDoesNotMatch"),
    "11 target not signed": (lambda c: plus(signed(c), ("x-amz-target", "A.B")), "SignatureDoesNotMatch"),
    "11 token not signed": (lambda c: plus(signed(c), ("x-amz-security-token", "t")), "SignatureDoesNotMatch"),
    "11 motive not signed": (lambda c: plus(signed(c), ("x-sentinel-intent", "cost")), "SignatureDoesNotMatch"),
    "11 type not signed": (lambda c: edited(signed(c), "content-type;host", "host"), "SignatureDoesNotMatch"),
    "11 signed but absent": (lambda c: edited(signed(c), "content-type;host", "content-type;host;x-gone"), "SignatureDoesNotMatch"),
    "11 not sorted": (lambda c: edited(signed(c), "content-type;host", "host;content-type"), "SignatureDoesNotMatch"),
    "11 second type": (lambda c: plus(signed(c), ("content-type", "text/y")), "SignatureDoesNotMatch"),
    "11 two hosts": (lambda c: plus(signed(c), ("host", "gw")), "IncompleteSignature"),
    "12 body changed": (lambda c: {**signed(c), "body": b"Action=B"}, "SignatureDoesNotMatch"),
    "12 body not as stated": (lambda c: {**signed(c, headers={"X-Amz-Content-SHA256": _hash(b"Action=A")}), "body": b"Action=B"}, "XAmzContentSHA256Mismatch"),
    "12 hash not a hash": (lambda c: signed(c, headers={"X-Amz-Content-SHA256": "none"}), "InvalidArgument"),
    "12 two hashes": (lambda c: plus(signed(c), *[("x-amz-content-sha256", _hash(b"Action=A"))] * 2), "InvalidArgument"),
    "15 SigV2 header": (lambda _: {"headers": [("authorization", "AWS AKID:sig")]}, "IncompleteSignature"),
    "15 SigV2 query": (lambda _: {"target": "/?AWSAccessKeyId=A&Signature=b&Expires=1"}, "IncompleteSignature"),
    "15 SigV4A": (lambda c: edited(signed(c), "AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256"), "IncompleteSignature"),
    "15 SigV4A payload": (lambda c: signed(c, headers={"X-Amz-Content-SHA256": "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD"}), "InvalidArgument"),
    "15 bearer": (lambda _: {"headers": [("authorization", f"Bearer {KEY_ID}.{SECRET}")]}, "IncompleteSignature"),
}  # fmt: skip


@pytest.fixture
def door(ring: Any, clock: Any) -> SigV4:
    ring.add(KEY_ID, SECRET)
    ring.add("REVOKED", SECRET, revoked=True)
    ring.add("EXPIRED", SECRET, expires_at=clock.now())
    return SigV4(ring, clock, skew_seconds=300)


@pytest.mark.parametrize("row", ROWS)
async def test_an_invalid_signature_gets_the_error_code_of_aws(
    door: SigV4, clock: Any, inbound_of: Any, row: str
) -> None:
    make, code = ROWS[row]
    with pytest.raises(NotAuthenticated) as refused:
        await door.authenticate(inbound_of(**make(clock)))
    assert refused.value.aws_code == code
    assert SECRET not in str(refused.value)
    assert str(refused.value).endswith(".")


@pytest.mark.parametrize("offset", [-300, -299, 0, 299, 300])
async def test_a_clock_within_the_window_is_accepted(door: SigV4, clock: Any, inbound_of: Any, offset: int) -> None:
    assert (await door.authenticate(inbound_of(**signed(clock, offset=offset)))).actor == "agent-scaler"


@pytest.mark.parametrize("offset", [-301, 301, -86_400, 86_400])
async def test_a_clock_outside_the_window_is_refused(door: SigV4, clock: Any, inbound_of: Any, offset: int) -> None:
    with pytest.raises(NotAuthenticated, match="Signature"):
        await door.authenticate(inbound_of(**signed(clock, offset=offset)))


async def test_the_time_itself_must_be_real(door: SigV4, inbound_of: Any, clock: Any) -> None:
    request = signed(clock)
    for stamp in ("20261121T126000Z", "20261121", "2026112\u0661T120000Z", "20261121T120000"):
        headers = [(name, stamp if name == "X-Amz-Date" else value) for name, value in request["headers"]]
        with pytest.raises(NotAuthenticated) as refused:
            await door.authenticate(inbound_of(**{**request, "headers": headers}))
        assert refused.value.aws_code in ("IncompleteSignature", "SignatureDoesNotMatch")


@pytest.mark.parametrize("target", ["/a/../b", "/./a", "/a//b", "/a/%2e%2E/b", "/a/.", "//", ""])
async def test_an_ambiguous_path_is_refused(door: SigV4, clock: Any, inbound_of: Any, target: str) -> None:
    with pytest.raises(Malformed, match="path"):
        await door.authenticate(inbound_of(**signed(clock, service="lambda", target=target)))


async def test_the_body_is_not_read_if_the_time_is_wrong(door: SigV4, clock: Any, inbound_of: Any) -> None:
    async def never() -> bytes:
        raise AssertionError("read before the time was checked")

    for request in (signed(clock, offset=-900), signed(clock, key_id="SNTL9999999999999999", offset=-900)):
        with pytest.raises(NotAuthenticated):
            await door.authenticate(inbound_of(**request, read_body=never))


STRANGERS: dict[str, dict[str, Any]] = {
    "a form": {},
    "a stated hash": {"headers": {"X-Amz-Content-SHA256": _hash(b"Action=A")}},
    "another stated hash": {"headers": {"X-Amz-Content-SHA256": _hash(b"Action=B")}},
    "no payload signed": {"service": "s3", "headers": {"X-Amz-Content-SHA256": "UNSIGNED-PAYLOAD"}},
    "signed chunks": {"service": "s3", "headers": {"X-Amz-Content-SHA256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"}},
    "six minutes old": {"offset": -360},
    "six minutes ahead": {"offset": 360, "service": "s3"},
    "an ambiguous path": {"service": "lambda", "target": "/a/../b"},
}


@pytest.mark.parametrize("case", STRANGERS)
async def test_an_unknown_key_is_told_from_a_wrong_secret_by_nothing(
    door: SigV4, clock: Any, inbound_of: Any, case: str
) -> None:
    async def answer(**changes: Any) -> tuple[Any, ...]:
        steps: list[str] = []
        request = signed(clock, **{**STRANGERS[case], **changes})

        async def body() -> bytes:
            steps.append("body")
            return bytes(request["body"])

        find = door._keys.find

        async def found(key_id: str) -> Any:
            steps.append("key")
            return await find(key_id)

        door._keys.find = found  # type: ignore[method-assign]  # it only takes note
        with pytest.raises((NotAuthenticated, Malformed)) as refused:
            await door.authenticate(inbound_of(**request, read_body=body))
        door._keys.find = find  # type: ignore[method-assign]
        return type(refused.value), str(refused.value), getattr(refused.value, "aws_code", ""), tuple(steps)

    wrong = await answer(secret="another")
    assert await answer(key_id="SNTL9999999999999999") == wrong
    assert await answer(key_id="AKIAIOSFODNN7EXAMPLE") == wrong
    assert await answer(key_id="REVOKED", secret="another") == wrong
    assert await answer(key_id="EXPIRED", secret="another") == wrong


async def test_the_dummy_secret_opens_nothing_and_is_in_no_source(door: SigV4, clock: Any, inbound_of: Any) -> None:
    for key_id in ("SNTL9999999999999999", "REVOKED", KEY_ID):
        with pytest.raises(NotAuthenticated):
            await door.authenticate(inbound_of(**signed(clock, key_id=key_id, secret=sigv4.DUMMY_SECRET)))
    assert sigv4.DUMMY_SECRET not in inspect.getsource(sigv4)


async def test_the_body_is_not_read_if_the_signature_is_wrong(door: SigV4, clock: Any, inbound_of: Any) -> None:
    async def never() -> bytes:
        raise AssertionError("read before the signature was verified")

    request = signed(clock, secret="another", headers={"X-Amz-Content-SHA256": _hash(b"Action=A")})
    with pytest.raises(NotAuthenticated):
        await door.authenticate(inbound_of(**request, read_body=never))


@pytest.mark.parametrize(
    ("stated", "kind"),
    [
        (None, PayloadKind.BODY),
        ("UNSIGNED-PAYLOAD", PayloadKind.UNSIGNED),
        (canonical.EMPTY_SHA256, PayloadKind.HASH),
        ("STREAMING-UNSIGNED-PAYLOAD-TRAILER", PayloadKind.UNSIGNED_CHUNKS_TRAILER),
        ("STREAMING-AWS4-HMAC-SHA256-PAYLOAD", PayloadKind.SIGNED_CHUNKS),
        ("STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", PayloadKind.SIGNED_CHUNKS_TRAILER),
    ],
)
def test_the_kind_of_payload_is_recognized(clock: Any, inbound_of: Any, stated: str | None, kind: PayloadKind) -> None:
    headers = {} if stated is None else {"X-Amz-Content-SHA256": stated}
    signature = read_signature(inbound_of(**signed(clock, service="s3", headers=headers)))
    assert signature.payload_kind is kind
    assert (signature.access_key_id, signature.region, signature.service) == (KEY_ID, "us-east-1", "s3")
    assert kind.chunked is (stated or "").startswith("STREAMING")


async def test_signed_chunks_are_verified_with_the_seed(door: SigV4, clock: Any, inbound_of: Any) -> None:
    headers = {"X-Amz-Content-SHA256": PayloadKind.SIGNED_CHUNKS.value}
    request = signed(clock, service="s3", headers=headers, body=b"")
    signature = read_signature(inbound_of(**request))
    key = canonical.signing_key(SECRET, "20261121", "us-east-1", "s3")
    previous, body = signature.value, b""
    for data in (b"hello", b""):
        text = f"AWS4-HMAC-SHA256-PAYLOAD\n{signature.timestamp}\n20261121/us-east-1/s3/aws4_request\n{previous}\n{canonical.EMPTY_SHA256}\n{_hash(data)}"
        previous = hmac.new(key, text.encode(), "sha256").hexdigest()
        body += f"{len(data):x};chunk-signature={previous}\r\n".encode() + data + b"\r\n"
    assert (await door.authenticate(inbound_of(**{**request, "body": body}))).key_id == KEY_ID
    with pytest.raises(NotAuthenticated, match="chunk"):
        await door.authenticate(inbound_of(**{**request, "body": body.replace(b"hello", b"hallo")}))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (("X-Amz-Expires=3600", "X-Amz-Expires=604801"), "IncompleteSignature"),
        (("X-Amz-Expires=3600", "X-Amz-Expires=0"), "IncompleteSignature"),
        (("X-Amz-Expires=3600", "X-Amz-Expires=-1"), "IncompleteSignature"),
        (("X-Amz-Expires=3600", "X-Amz-Expires=3601"), "SignatureDoesNotMatch"),
        (("X-Amz-Expires=3600", "X-Amz-Expires=3600&X-Amz-Expires=3600"), "IncompleteSignature"),
        (("X-Amz-Date=", "X-Amz-Dat%65="), "IncompleteSignature"),
        (("X-Amz-SignedHeaders=host&", ""), "IncompleteSignature"),
        (("AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256"), "IncompleteSignature"),
    ],
)
async def test_a_changed_presigned_request_is_refused(
    door: SigV4, clock: Any, inbound_of: Any, change: tuple[str, str], code: str
) -> None:
    case = next(case for case in OWN["cases"] if case["name"] == "s3 presigned get")
    door._keys.add(OWN["access_key_id"], OWN["secret"])  # type: ignore[attr-defined]  # the double
    headers = [tuple(field) for field in case["headers"]]
    assert (await door.authenticate(inbound_of("GET", case["target"], headers))).actor == "agent-scaler"
    target = case["target"].replace(*change)
    if "Dat%65" in target:
        target += "&X-Amz-Date=20261121T120000Z"
    with pytest.raises(NotAuthenticated) as refused:
        await door.authenticate(inbound_of("GET", target, headers))
    assert refused.value.aws_code == code


@pytest.mark.parametrize(("seconds", "taken"), [(-301, False), (-300, True), (3600, True), (3601, False)])
async def test_a_presigned_request_expires(
    door: SigV4, clock: Any, inbound_of: Any, seconds: int, *, taken: bool
) -> None:
    case = next(case for case in OWN["cases"] if case["name"] == "s3 presigned get")
    door._keys.add(OWN["access_key_id"], OWN["secret"])  # type: ignore[attr-defined]  # the double
    clock.at += timedelta(seconds=seconds)
    inbound = inbound_of("GET", case["target"], [tuple(field) for field in case["headers"]])
    if taken:
        await door.authenticate(inbound)
    else:
        with pytest.raises(NotAuthenticated):
            await door.authenticate(inbound)


def test_an_unknown_key_costs_the_work_of_a_wrong_signature(door: SigV4, clock: Any, inbound_of: Any) -> None:
    """Both do one complete verification, so how long it takes does not tell a key that exists from one that does not."""

    def cost(request: dict[str, Any]) -> int:
        inbound = inbound_of(**request)

        def refused() -> None:
            with pytest.raises(NotAuthenticated):
                finish(door.authenticate(inbound))

        refused()  # caches are filled before anything is counted
        return work(refused)

    unknown = cost(signed(clock, key_id="SNTL9999999999999999"))
    forged = cost(signed(clock, secret="another"))
    assert 0.9 < unknown / forged < 1.1, (unknown, forged)
