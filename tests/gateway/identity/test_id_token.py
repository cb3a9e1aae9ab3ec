"""An ID token counts only if the provider signed it, for this client, for this sign-in, now. A peer library signs them."""

import base64
import hmac
import json
import time
from typing import Any

import jwt as pyjwt
import pytest
from joserfc import jwk, jwt

from gateway.core.errors import NotAuthenticated
from gateway.identity.id_token import LEEWAY_SECONDS, has_key, verified_claims

ISSUER = "https://login.example"
CLIENT = "console"
RSA = jwk.RSAKey.generate_key(2048, {"kid": "rsa"})
KEYS: dict[str, Any] = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), RSA),
    "ES256": jwk.ECKey.generate_key("P-256", {"kid": "p256"}),
    "ES384": jwk.ECKey.generate_key("P-384", {"kid": "p384"}),
    "ES512": jwk.ECKey.generate_key("P-521", {"kid": "p521"}),
}
SET = {"keys": [key.as_dict(private=False) for key in {id(key): key for key in KEYS.values()}.values()]}


def claims(**changed: Any) -> dict[str, Any]:
    now = int(time.time())
    own = {"iss": ISSUER, "sub": "u-1", "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": "n-1", "email": "ana"}
    return {name: value for name, value in {**own, **changed}.items() if value is not None}


def token(algorithm: str = "RS256", key: Any = None, header: dict[str, Any] | None = None, **changed: Any) -> str:
    signer = key or KEYS[algorithm]
    own = {"alg": algorithm, "kid": signer.kid, **(header or {})}
    return jwt.encode(
        {k: v for k, v in own.items() if v is not None}, claims(**changed), signer, algorithms=[algorithm]
    )


def read(given: str, document: dict[str, Any] | None = None) -> Any:
    found = SET if document is None else document
    return verified_claims(given, found, issuer=ISSUER, audiences=(CLIENT,), nonce="n-1")


def parts(header: dict[str, Any], body: dict[str, Any], signature: bytes = b"") -> str:
    raw = (json.dumps(header).encode(), json.dumps(body).encode(), signature)
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in raw)


@pytest.mark.parametrize("algorithm", list(KEYS))
def test_a_token_of_each_kind_of_signature_counts(algorithm: str) -> None:
    given = token(algorithm)
    assert has_key(given, SET)
    assert read(given)["email"] == "ana"


def test_a_token_that_is_signed_with_ed25519_counts() -> None:
    key = jwk.OKPKey.generate_key("Ed25519", {"kid": "ed"})
    private = pyjwt.PyJWK(dict(key.as_dict(private=True)), "EdDSA")
    given = pyjwt.encode(claims(), private, "EdDSA", headers={"kid": "ed"})
    assert read(given, {"keys": [key.as_dict(private=False)]})["sub"] == "u-1"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"iss": "https://other.example"}, "another issuer"),
        ({"iss": ISSUER + "/"}, "another issuer"),
        ({"iss": [ISSUER]}, "another issuer"),
        ({"aud": "other"}, "another client"),
        ({"aud": ["other"]}, "another client"),
        ({"aud": ["other", CLIENT]}, "another client"),
        ({"aud": ["other", CLIENT], "azp": "other"}, "another client"),
        ({"aud": CLIENT, "azp": "other"}, "another client"),
        ({"aud": {CLIENT: 1}}, "another client"),
        ({"exp": int(time.time()) - LEEWAY_SECONDS - 5}, "expired"),
        ({"exp": "soon"}, "not well formed"),
        ({"iat": int(time.time()) + 100_000}, "not valid yet"),
        ({"nbf": int(time.time()) + 100_000}, "not valid yet"),
        ({"nonce": "n-2"}, "another sign-in"),
        ({"nonce": ["n-1"]}, "another sign-in"),
        ({"sub": 7}, "not well formed"),
        *(({name: None}, f"no `{name}`") for name in ("exp", "iat", "nonce", "sub", "aud", "iss")),
    ],
)
def test_a_token_with_another_claim_is_refused(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(NotAuthenticated, match=why):
        read(token(**changed))


def test_a_token_for_several_clients_counts_if_it_was_made_for_this_one() -> None:
    assert read(token(aud=[CLIENT, "other"], azp=CLIENT))["azp"] == CLIENT
    assert read(token(aud=[CLIENT]))["aud"] == [CLIENT]
    assert read(token(exp=int(time.time()) - LEEWAY_SECONDS + 50))["sub"] == "u-1"


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "", None, 7])
def test_a_token_without_a_signature_is_refused(algorithm: object) -> None:
    for signature in (b"", b"x"):
        with pytest.raises(NotAuthenticated):
            read(parts({"alg": algorithm, "kid": "rsa"}, claims(), signature))


@pytest.mark.parametrize("algorithm", ["HS256", "HS384", "HS512"])
def test_a_token_that_is_signed_with_the_public_key_as_a_secret_is_refused(algorithm: str) -> None:
    public = RSA.as_pem(private=False)
    for secret in (public, public.strip(), CLIENT.encode()):
        signed = parts({"alg": algorithm, "kid": "rsa"}, claims()).removesuffix(".")
        seal = base64.urlsafe_b64encode(hmac.digest(secret, signed.encode(), f"sha{algorithm[2:]}")).decode()
        with pytest.raises(NotAuthenticated, match="not signed by a method that is taken"):
            read(f"{signed}.{seal.rstrip('=')}")
        own = jwk.OctKey.import_key(secret.hex(), {"kid": "rsa"})
        with pytest.raises(NotAuthenticated, match="not signed by a method that is taken"):
            read(f"{signed}.{seal.rstrip('=')}", {"keys": [own.as_dict(private=True)]})


def test_a_secret_in_the_provider_s_keys_is_no_key() -> None:
    secret = jwk.OctKey.import_key("s" * 64, {"kid": "rsa"})
    assert not has_key(token(), {"keys": [secret.as_dict(private=True)]})


def test_a_changed_token_and_another_signature_are_refused() -> None:
    head, body, signature = token().split(".")
    for changed in (
        f"{head}.{parts({}, claims(email='root')).split('.')[1]}.{signature}",
        f"{head}.{body}.{token(email='b').split('.')[2]}",
    ):
        with pytest.raises(NotAuthenticated, match="signature is not the provider's"):
            read(changed)


@pytest.mark.parametrize(
    "given",
    ["", "x", "a.b", "a.b.c", "....", "é.é.é", "e30.e30.", token() + ".x.y", token() + "!", "W10.e30.e30", "{}"],
)
def test_what_is_no_token_is_refused(given: str) -> None:
    with pytest.raises(NotAuthenticated):
        read(given)


def test_a_header_that_must_be_understood_is_refused() -> None:
    with pytest.raises(NotAuthenticated):
        read(parts({"alg": "RS256", "kid": "rsa", "crit": ["x"], "x": 1}, claims(), b"x"))


def test_a_key_in_the_header_of_the_token_counts_for_nothing() -> None:
    own = jwk.RSAKey.generate_key(2048, {"kid": "own"})
    for header in ({"jwk": own.as_dict(private=False)}, {"jku": "https://evil.example/jwks"}, {"kid": "rsa"}):
        with pytest.raises(NotAuthenticated):
            read(token(key=own, header=header))


def test_only_a_key_for_signatures_of_this_kind_is_used() -> None:
    public = RSA.as_dict(private=False)
    for changed in (
        {"use": "enc"},
        {"alg": "RS512"},
        {"kid": "other"},
        {"kty": "EC"},
        {"n": 7},
        {"n": "!"},
        {"e": None},
    ):
        assert not has_key(token(), {"keys": [{**public, **changed}]}), changed
    for changed in ({"use": "sig"}, {"alg": "RS256"}):
        assert read(token(), {"keys": [{**public, **changed}]})
    odd: tuple[dict[str, Any], ...] = ({}, {"keys": None}, {"keys": {}}, {"keys": ["x", 7, None]}, {"keys": []})
    for document in odd:
        assert not has_key(token(), document)


def test_the_curve_and_the_size_of_a_key_must_fit() -> None:
    p384 = jwk.ECKey.generate_key("P-384", {"kid": "p256"})
    with pytest.raises(NotAuthenticated):
        read(token("ES256"), {"keys": [p384.as_dict(private=False)]})
    with pytest.warns(Warning, match="2048"):
        short = jwk.RSAKey.generate_key(1024, {"kid": "rsa"})
    given = token(key=short)
    with pytest.raises(NotAuthenticated, match="not well formed"):
        read(given, {"keys": [short.as_dict(private=False)]})


def test_a_token_without_a_key_id_needs_a_provider_with_one_key() -> None:
    given = token(header={"kid": None})
    assert read(given, {"keys": [RSA.as_dict(private=False)]})
    assert read(given)["sub"] == "u-1", "of several keys only one verifies signatures of this kind"
    other = jwk.RSAKey.generate_key(2048, {"kid": "rsa-2"})
    with pytest.raises(NotAuthenticated, match="not one only"):
        read(given, {"keys": [RSA.as_dict(private=False), other.as_dict(private=False)]})
