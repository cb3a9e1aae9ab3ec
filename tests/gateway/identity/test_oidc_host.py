"""What is asked of an identity provider over HTTP, and that none of its answers can hold the gateway up or lead it elsewhere."""

import base64
import gzip

import pytest
from aiohttp import web

from gateway.core.errors import IdentityProviderUnusable
from gateway.identity.oidc_host import OidcEndpoints
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
