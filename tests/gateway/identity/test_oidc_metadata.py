"""A provider's document counts only for its own issuer, and names only safe addresses."""

from typing import Any

import pytest

from gateway.core.errors import IdentityProviderUnusable
from gateway.identity.oidc_metadata import metadata_url, provider_metadata

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
