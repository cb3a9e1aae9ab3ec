"""What is asked of an identity provider over HTTP, and that none of its answers can hold the gateway up or lead it elsewhere."""

import asyncio
import base64
import gzip
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from aiohttp import web

from gateway.core.errors import IdentityProviderUnusable
from gateway.identity.oidc_endpoints import (
    CACHED_FOR,
    INTERVAL,
    CachedDocument,
    OidcEndpoints,
    metadata_url,
    provider_metadata,
)
from tests.kit.doubles import NOW
from tests.kit.hook import HookStub, receiving
from tests.kit.oidc import CLIENT, SECRET, OidcStub

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


async def test_a_document_is_read() -> None:
    stub = OidcStub()
    runner = await stub.start()
    answer = await OidcEndpoints().get(f"{stub.issuer}/.well-known/openid-configuration")
    assert (answer.status, answer.document["issuer"]) == (200, stub.issuer)
    refused = await OidcEndpoints().get(f"{stub.issuer}/userinfo")
    assert (refused.status, refused.document["error"]) == (401, "invalid_token")
    found = await OidcEndpoints().get(f"{stub.issuer}/userinfo", bearer="access-1")
    assert found.document["email"] == "human"
    await runner.cleanup()


async def test_a_form_carries_the_client_in_the_header_encoded_as_a_form() -> None:
    with receiving(HookStub()) as stub:
        with pytest.raises(IdentityProviderUnusable, match="without an object of JSON"):
            await OidcEndpoints().post(stub.url, {"code": "a b&c=d"}, basic=(CLIENT, SECRET))
        [received] = stub.received
    assert received.body == b"code=a+b%26c%3Dd"
    assert received.headers["content-type"] == "application/x-www-form-urlencoded"
    sent = base64.b64decode(received.headers["authorization"].removeprefix("Basic ")).decode()
    assert sent == "sentinel+console%2F1:swordfish%2Boidc%2F7731"
    assert received.headers["accept-encoding"] == "identity"
    assert "cookie" not in received.headers


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [
        ("302 Location: http://127.0.0.1:9/", r"redirect \(302\), which is not followed"),
        ("307 Location: /hook", r"redirect \(307\)"),
        ("200", "without an object of JSON"),
        ("500", "answered 500"),
        ("garbage", "did not answer"),
        ("drop", "did not answer"),
    ],
)
async def test_an_odd_answer_is_a_sentence_and_is_asked_for_once(behaviour: str, why: str) -> None:
    with receiving(HookStub(behaviour=behaviour)) as stub:
        with pytest.raises(IdentityProviderUnusable, match=why) as refused:
            await OidcEndpoints().post(stub.url, {"code": "secret-code"}, basic=(CLIENT, SECRET))
        assert len(stub.received) == 1
        assert SECRET not in str(refused.value)
        assert "secret-code" not in str(refused.value)


@pytest.mark.parametrize("behaviour", ["silent", "drip"])
async def test_a_provider_that_does_not_end_is_not_waited_for(behaviour: str) -> None:
    with (
        receiving(HookStub(behaviour=behaviour)) as stub,
        pytest.raises(IdentityProviderUnusable, match="did not answer"),
    ):
        await OidcEndpoints(seconds=0.2).get(stub.url)


async def test_a_huge_answer_is_not_read_to_its_end() -> None:
    with receiving(HookStub(behaviour="endless")) as stub:
        with pytest.raises(IdentityProviderUnusable, match="more than 262144 bytes"):
            await OidcEndpoints(seconds=300).get(stub.url)
        assert stub.ended.wait(300)


async def test_a_packed_answer_is_not_unpacked() -> None:
    stub = OidcStub()
    packed = gzip.compress(b'{"keys": []}' + b" " * 10_000_000)
    stub.answers["/jwks"] = web.Response(body=packed, headers={"content-encoding": "gzip"})
    runner = await stub.start()
    with pytest.raises(IdentityProviderUnusable, match="without an object of JSON"):
        await OidcEndpoints().get(f"{stub.issuer}/jwks")
    await runner.cleanup()


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b'"x"', b"{", b"[" * 100_000, b'{"a": "\xff"}', b"{} {}"])
async def test_what_is_no_object_is_refused(body: bytes) -> None:
    stub = OidcStub(answers={"/jwks": web.Response(body=body)})
    runner = await stub.start()
    with pytest.raises(IdentityProviderUnusable, match="without an object of JSON"):
        await OidcEndpoints().get(f"{stub.issuer}/jwks")
    await runner.cleanup()


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/x", "https://127.0.0.1:1/x"])
async def test_nobody_there_is_a_sentence(url: str) -> None:
    with pytest.raises(IdentityProviderUnusable, match="so nobody was signed in"):
        await OidcEndpoints().get(url)


ISSUER = "https://login.example/tenant"
DOCUMENT: dict[str, Any] = {
    "issuer": ISSUER,
    "authorization_endpoint": "https://login.example/authorize?policy=a",
    "token_endpoint": "https://oauth.example/token",
    "jwks_uri": "https://keys.example/jwks",
}


@pytest.mark.parametrize(
    ("issuer", "url"),
    [
        ("https://a.example", "https://a.example/.well-known/openid-configuration"),
        ("https://a.example/", "https://a.example/.well-known/openid-configuration"),
        ("https://a.example/realms/x", "https://a.example/realms/x/.well-known/openid-configuration"),
    ],
)
def test_the_document_is_below_the_issuer(issuer: str, url: str) -> None:
    assert metadata_url(issuer) == url


def test_endpoints_may_be_on_other_hosts() -> None:
    made = provider_metadata(DOCUMENT, ISSUER)
    assert (made.token_endpoint, made.jwks_uri) == ("https://oauth.example/token", "https://keys.example/jwks")
    assert (made.names_issuer, made.secret_in_body, made.userinfo_endpoint) == (False, False, "")


@pytest.mark.parametrize(
    "issuer", ["https://login.example/tenant/", "https://login.example", "https://LOGIN.example/tenant", None, 7]
)
def test_another_issuer_is_refused(issuer: object) -> None:
    with pytest.raises(IdentityProviderUnusable, match="another issuer"):
        provider_metadata({**DOCUMENT, "issuer": issuer}, ISSUER)


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"])
@pytest.mark.parametrize(
    "url",
    [
        "http://login.example/x",
        "http://127.0.0.1/latest/meta-data",
        "http://localhost:9/x",
        "https://user@login.example/x",
        "https://login.example/x#y",
        "https:///x",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://login.example/\r\nx",
        "https://[::1/x",
        "//login.example/x",
        ["https://login.example/x"],
        7,
    ],
)
def test_an_unsafe_address_is_refused(name: str, url: object) -> None:
    with pytest.raises(IdentityProviderUnusable, match=name):
        provider_metadata({**DOCUMENT, name: url}, ISSUER)


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "jwks_uri"])
def test_a_document_without_an_address_is_refused(name: str) -> None:
    with pytest.raises(IdentityProviderUnusable, match=name):
        provider_metadata({key: value for key, value in DOCUMENT.items() if key != name}, ISSUER)


def test_a_provider_on_this_machine_may_name_its_own_addresses() -> None:
    issuer = "http://127.0.0.1:9"
    own = {name: f"{issuer}/{name}" for name in DOCUMENT} | {"issuer": issuer}
    assert provider_metadata(own, issuer).token_endpoint == f"{issuer}/token_endpoint"
    with pytest.raises(IdentityProviderUnusable):
        provider_metadata({**own, "token_endpoint": "http://login.example/x"}, issuer)


@pytest.mark.parametrize(
    ("methods", "in_body"),
    [
        (None, False),
        ([], False),
        (7, False),
        ("client_secret_post", False),
        (["client_secret_basic"], False),
        (["client_secret_post", "client_secret_basic"], False),
        (["client_secret_post"], True),
        (["private_key_jwt"], False),
    ],
)
def test_the_secret_goes_where_the_provider_takes_it(methods: object, in_body: bool) -> None:
    made = provider_metadata({**DOCUMENT, "token_endpoint_auth_methods_supported": methods}, ISSUER)
    assert made.secret_in_body is in_body


SECOND = timedelta(seconds=1)


@dataclass
class MovableClock:
    """A clock that tests set."""

    at: datetime = NOW

    def now(self) -> datetime:
        """The time it was set to."""
        return self.at


@dataclass
class Source:
    """Counts what it is asked."""

    fails: bool = False
    asked: int = 0
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    going: asyncio.Event = field(default_factory=asyncio.Event)

    async def fetch(self) -> int:
        """How often it was asked."""
        self.asked += 1
        self.entered.set()
        await self.going.wait()
        if self.fails:
            raise IdentityProviderUnusable("It is down.")
        return self.asked


def cached(source: Source, clock: MovableClock) -> CachedDocument[int]:
    source.going.set()
    return CachedDocument(clock, source.fetch)


async def test_it_is_kept_for_a_while() -> None:
    clock, source = MovableClock(), Source()
    document = cached(source, clock)
    assert [await document.read(), await document.read()] == [1, 1]
    clock.at += CACHED_FOR
    assert await document.read() == 1
    clock.at += SECOND
    assert await document.read() == 2


async def test_a_newer_one_is_fetched_but_not_at_once() -> None:
    clock, source = MovableClock(), Source()
    document = cached(source, clock)
    assert [await document.read(), await document.read(newer=True)] == [1, 1]
    clock.at += INTERVAL + SECOND
    assert [await document.read(newer=True), await document.read(newer=True)] == [2, 2]


async def test_a_failure_is_not_repeated_at_once_and_keeps_nothing() -> None:
    clock, source = MovableClock(), Source()
    document = cached(source, clock)
    await document.read()
    source.fails = True
    clock.at += CACHED_FOR + SECOND
    for _ in range(3):
        with pytest.raises(IdentityProviderUnusable, match="down"):
            await document.read()
    assert source.asked == 2
    source.fails = False
    clock.at += INTERVAL + SECOND
    assert await document.read() == 3


async def test_a_clock_that_was_set_back_keeps_nothing_for_longer() -> None:
    clock, source = MovableClock(), Source()
    document = cached(source, clock)
    await document.read()
    clock.at -= timedelta(days=1)
    assert await document.read() == 2


async def test_many_who_wait_ask_once_even_if_it_fails() -> None:
    source = Source(fails=True)
    document = CachedDocument(MovableClock(), source.fetch)
    waiting = [asyncio.ensure_future(document.read()) for _ in range(20)]
    await source.entered.wait()
    source.going.set()
    found = await asyncio.gather(*waiting, return_exceptions=True)
    assert {type(each) for each in found} == {IdentityProviderUnusable}
    assert source.asked == 1


async def test_a_fetch_that_was_broken_off_says_nothing() -> None:
    source = Source()
    document = CachedDocument(MovableClock(), source.fetch)
    first = asyncio.ensure_future(document.read())
    await source.entered.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    source.going.set()
    assert await document.read() == 2
