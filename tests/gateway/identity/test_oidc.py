"""The flow with a provider that speaks HTTP: who is named, how the client proves itself, new keys, and answers that are not right."""

import base64
import hashlib
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from aiohttp import ClientSession, web
from joserfc import jwk

from gateway.core.errors import IdentityProviderUnusable, NotAuthenticated, Overloaded
from gateway.core.settings.console import ConsoleSettings
from gateway.identity import oidc
from gateway.identity.oidc import ATTEMPT_LASTS, OidcProvider, SignInAttempt, SpentAttempts
from gateway.identity.oidc_endpoints import INTERVAL
from tests.kit.doubles import NOW
from tests.kit.growth import work
from tests.kit.oidc import CLIENT, SECRET, OidcStub

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

BACK = "https://sentinel.example/console/sign-in/oidc/callback"
DISCOVERY = "/.well-known/openid-configuration"


class ShiftedClock:
    """The time, and what a test adds to it."""

    added = timedelta()

    def now(self) -> datetime:
        """The shifted time."""
        return datetime.now(UTC) + self.added


@pytest.fixture
async def stub() -> AsyncIterator[OidcStub]:
    """A provider."""
    made = OidcStub(redirect_uri=BACK)
    runner = await made.start()
    yield made
    await runner.cleanup()


def provider(stub: OidcStub, clock: ShiftedClock | None = None, **settings: Any) -> OidcProvider:
    given = ConsoleSettings(oidc_issuer=stub.issuer, oidc_client_id=CLIENT, oidc_client_secret=stub.secret, **settings)
    return OidcProvider(settings=given, redirect_uri=BACK, clock=clock or ShiftedClock())


def an_attempt() -> SignInAttempt:
    return SignInAttempt.begin(b"k" * 32, datetime.now(UTC), "/console")


async def answer(flow: OidcProvider, attempt: SignInAttempt) -> dict[str, str]:
    """What a browser brings back after the person signed in."""
    url = (await flow.authorization_url(attempt)).replace("/authorize?", "/consent?")
    async with ClientSession() as session, session.get(url, allow_redirects=False) as reply:
        assert reply.status == 302, await reply.text()
        return dict(parse_qsl(urlsplit(reply.headers["location"]).query))


async def named(stub: OidcStub, flow: OidcProvider | None = None, **settings: Any) -> str:
    """The person who a whole sign-in names."""
    made, attempt = flow or provider(stub, **settings), an_attempt()
    return await made.person(await answer(made, attempt), attempt)


async def test_a_public_client_is_proved_by_pkce(stub: OidcStub) -> None:
    flow, attempt = provider(stub), an_attempt()
    assert await flow.person(await answer(flow, attempt), attempt) == "human"
    assert stub.asked == [DISCOVERY, "/token", "/jwks"]
    brought = await answer(flow, attempt)
    with pytest.raises(NotAuthenticated, match="did not accept the code"):
        await flow.person(brought, an_attempt())


@pytest.mark.parametrize("methods", [None, ["client_secret_basic", "client_secret_post"], ["client_secret_post"]])
async def test_a_client_with_a_secret_proves_itself_as_the_provider_wants(stub: OidcStub, methods: object) -> None:
    stub.secret = SECRET
    stub.metadata["token_endpoint_auth_methods_supported"] = methods
    assert await named(stub) == "human"


async def test_a_wrong_secret_is_the_operator_s_to_mend(stub: OidcStub) -> None:
    flow, attempt = provider(stub), an_attempt()
    stub.secret = SECRET
    with pytest.raises(IdentityProviderUnusable, match=r"401 \(invalid_client\).*oidc_client_secret"):
        await flow.person(await answer(flow, attempt), attempt)


async def test_a_code_counts_once(stub: OidcStub) -> None:
    flow, attempt = provider(stub), an_attempt()
    brought = await answer(flow, attempt)
    await flow.person(brought, attempt)
    with pytest.raises(NotAuthenticated, match="used before"):
        await flow.person(brought, attempt)


@pytest.mark.parametrize("iss", ["https://other.example", "none", "HTTP://127.0.0.1"])
async def test_the_answer_of_another_provider_is_refused_before_its_code_is_sent(stub: OidcStub, iss: str) -> None:
    stub.iss = iss
    with pytest.raises(NotAuthenticated, match="is from the identity provider of this console"):
        await named(stub)
    assert "/token" not in stub.asked


async def test_a_provider_that_does_not_announce_it_need_not_name_itself(stub: OidcStub) -> None:
    stub.iss, stub.metadata["authorization_response_iss_parameter_supported"] = "none", None
    assert await named(stub) == "human"
    stub.iss = "https://other.example"
    with pytest.raises(NotAuthenticated):
        await named(stub)


async def test_a_document_that_names_another_issuer_is_refused(stub: OidcStub) -> None:
    stub.metadata["issuer"] = f"{stub.issuer}/"
    with pytest.raises(IdentityProviderUnusable, match="another issuer"):
        await named(stub)
    assert stub.asked == [DISCOVERY]


async def test_an_endpoint_keeps_its_own_query(stub: OidcStub) -> None:
    stub.metadata["authorization_endpoint"] = f"{stub.issuer}/authorize?policy=b2c"
    url = await provider(stub).authorization_url(an_attempt())
    assert "/authorize?policy=b2c&response_type=code&" in url


async def test_a_new_key_of_the_provider_is_fetched_once(stub: OidcStub) -> None:
    clock = ShiftedClock()
    flow = provider(stub, clock)
    assert await named(stub, flow) == "human"
    stub.rotate(jwk.ECKey.generate_key("P-256", {"kid": "ec-2"}), "ES256")
    with pytest.raises(NotAuthenticated, match="no key of the provider"):
        await named(stub, flow)
    assert stub.asked.count("/jwks") == 1, "the keys were fetched just now"
    clock.added += INTERVAL + timedelta(seconds=1)
    assert await named(stub, flow) == "human"
    assert stub.asked.count("/jwks") == 2
    stub.token = stub.signed({}, kid="of-nobody")
    for _ in range(3):
        with pytest.raises(NotAuthenticated, match="no key of the provider"):
            await named(stub, flow)
    assert stub.asked.count("/jwks") == 2


async def test_a_key_that_was_withdrawn_counts_no_longer(stub: OidcStub) -> None:
    clock = ShiftedClock()
    flow = provider(stub, clock)
    assert await named(stub, flow) == "human"
    stub.published[:] = [jwk.ECKey.generate_key("P-256", {"kid": "ec-2"}).as_dict(private=False)]
    clock.added += timedelta(minutes=11)
    with pytest.raises(NotAuthenticated, match="no key of the provider"):
        await named(stub, flow)


async def test_a_token_that_another_key_signed_under_the_provider_s_key_id_is_refused(stub: OidcStub) -> None:
    flow = provider(stub)
    stub.key = jwk.RSAKey.generate_key(2048, {"kid": "rsa-1"})
    with pytest.raises(NotAuthenticated, match="signature is not the provider's"):
        await named(stub, flow)


@pytest.mark.parametrize("algorithm", ["HS256", "none"])
async def test_a_token_without_the_provider_s_own_signature_is_refused(stub: OidcStub, algorithm: str) -> None:
    stub.secret = SECRET
    secret = jwk.OctKey.import_key(SECRET * 3, {"kid": "rsa-1"})
    stub.key, stub.algorithm = secret, "HS256"
    if algorithm == "none":
        stub.token = "eyJhbGciOiJub25lIiwia2lkIjoicnNhLTEifQ.e30."
    with pytest.raises(NotAuthenticated, match="not signed by a method that is taken"):
        await named(stub)


@pytest.mark.parametrize(
    ("claim", "person"), [("preferred_username", {"preferred_username": "ana"}), ("sub", {"sub": "u-1"}), ("https://x.example/name", {"https://x.example/name": "ana"})]
)  # fmt: skip
async def test_another_claim_may_name_the_person(stub: OidcStub, claim: str, person: dict[str, str]) -> None:
    stub.person = {"sub": "u-1", "email": "other", "email_verified": False, **person}
    assert await named(stub, oidc_claim=claim) == person[claim]


@pytest.mark.parametrize("value", [None, "", 7, ["ana"], {"a": 1}, "x" * 201, "a\nb", "a\u202eb"])
async def test_a_claim_that_is_no_name_names_nobody(stub: OidcStub, value: object) -> None:
    stub.person = {"sub": "u-1", "email": "ana", "email_verified": True}
    stub.claims = {"preferred_username": value}
    stub.metadata["userinfo_endpoint"] = None
    with pytest.raises(NotAuthenticated, match="no usable `preferred_username`"):
        await named(stub, oidc_claim="preferred_username")


async def test_the_user_info_names_who_the_token_does_not(stub: OidcStub) -> None:
    for only in ({"email", "email_verified"}, {"email_verified"}):
        stub.only_userinfo = only
        assert await named(stub) == "human"
        assert stub.asked[-1] == "/userinfo"
    stub.userinfo = {"email_verified": False}
    with pytest.raises(NotAuthenticated, match="email_verified"):
        await named(stub)
    stub.userinfo = {"sub": "u-2"}
    with pytest.raises(IdentityProviderUnusable, match="not that of the person"):
        await named(stub)
    stub.metadata["userinfo_endpoint"], stub.userinfo = None, {}
    with pytest.raises(NotAuthenticated):
        await named(stub)


async def test_the_user_info_is_not_asked_if_the_token_names_the_person(stub: OidcStub) -> None:
    stub.userinfo = {"email": "root"}
    assert await named(stub) == "human"
    assert "/userinfo" not in stub.asked


@pytest.mark.parametrize("path", [DISCOVERY, "/jwks", "/token"])
@pytest.mark.parametrize(
    "reply",
    [
        lambda: web.Response(status=302, headers={"location": "http://127.0.0.1:9/"}),
        lambda: web.Response(body=b"{" + b" " * 300_000 + b"}"),
        lambda: web.Response(text="<html>"),
        lambda: web.json_response({}, status=500),
        lambda: web.json_response({"id_token": ["x"]}, status=503),
        lambda: web.json_response(["x"]),
    ],
)
async def test_an_odd_answer_of_the_provider_signs_nobody_in(stub: OidcStub, path: str, reply: Any) -> None:
    stub.answers[path] = reply()
    with pytest.raises(IdentityProviderUnusable):
        await named(stub)


@pytest.mark.parametrize("document", [{}, {"id_token": 7}, {"id_token": None, "access_token": "x"}])
async def test_an_answer_without_a_token_signs_nobody_in(stub: OidcStub, document: dict[str, Any]) -> None:
    stub.answers["/token"] = web.json_response(document)
    with pytest.raises(IdentityProviderUnusable, match="no ID token"):
        await named(stub)


async def test_the_provider_s_words_are_not_repeated(stub: OidcStub) -> None:
    stub.answers["/token"] = web.json_response({"error": "<b>", "error_description": "hunter2"}, status=400)
    with pytest.raises(IdentityProviderUnusable) as refused:
        await named(stub)
    assert "<b>" not in str(refused.value)
    assert "hunter2" not in str(refused.value)


async def test_too_many_at_once_are_refused(stub: OidcStub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.identity.oidc.MOST_AT_ONCE", 0)
    with pytest.raises(Overloaded, match="nobody was signed in"):
        await named(stub)


KEY = b"k" * 32


def begun(wanted: str = "/console") -> SignInAttempt:
    return SignInAttempt.begin(KEY, NOW, wanted)


@pytest.mark.parametrize("wanted", ["/console", "/console/feed?actor=a:b;c,d.e=\"f'&x=%20"])
def test_any_gateway_with_the_key_completes_it(wanted: str) -> None:
    made = begun(wanted)
    found = SignInAttempt.read(KEY, made.text)
    assert found == made
    assert (found.state, found.nonce, found.verifier) == (made.state, made.nonce, made.verifier)
    assert found.until == NOW + ATTEMPT_LASTS
    assert re.fullmatch(r"[A-Za-z0-9:_=-]+", made.text), "a cookie may hold nothing else, and no dot"


def test_what_the_provider_sees_follows_from_the_key_alone() -> None:
    made, other = begun(), begun()
    seen = (made.state, made.nonce, made.verifier, made.challenge)
    assert len({*seen, *(other.state, other.nonce, other.verifier, other.challenge)}) == 8
    stolen = SignInAttempt.read(b"x" * 32, made.text)
    assert stolen is not None
    assert not {stolen.state, stolen.nonce, stolen.verifier} & set(seen)
    assert "kkk" not in repr(made)


def test_the_challenge_is_s256_of_a_verifier_as_rfc_7636_wants_it() -> None:
    made = begun()
    assert re.fullmatch(r"[A-Za-z0-9._~-]{43,128}", made.verifier)
    digest = hashlib.sha256(made.verifier.encode("ascii")).digest()
    assert made.challenge == base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@pytest.mark.parametrize("text", ["", "a", "a:b:c", "a:1:é", "a:99999999999999999999:", "a:1:/w==", "a:1:b:c"])
def test_another_text_is_no_attempt(text: str) -> None:
    assert SignInAttempt.read(KEY, text) is None


def test_an_attempt_counts_once() -> None:
    spent, made = SpentAttempts(), begun()
    spent.spend(made, NOW)
    with pytest.raises(NotAuthenticated, match="used already"):
        spent.spend(made, NOW)
    spent.spend(begun(), NOW)


def test_ended_attempts_make_room_and_too_many_at_once_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oidc, "_MOST_SPENT", 3)
    spent = SpentAttempts()
    for _ in range(3):
        spent.spend(begun(), NOW)
    with pytest.raises(Overloaded):
        spent.spend(begun(), NOW)
    spent.spend(begun(), NOW + ATTEMPT_LASTS + timedelta(seconds=1))
    assert len(spent._until) == 1


def test_a_full_list_is_not_searched_again_before_one_of_its_attempts_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def cost(most: int) -> int:
        monkeypatch.setattr(oidc, "_MOST_SPENT", most)
        spent, more = SpentAttempts(), begun()
        for _ in range(most):
            spent.spend(begun(), NOW)

        def refused() -> None:
            with pytest.raises(Overloaded):
                spent.spend(more, NOW)

        refused()
        return work(refused)

    assert cost(400) <= cost(100) * 1.5
