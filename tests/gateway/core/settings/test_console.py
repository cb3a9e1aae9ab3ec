"""Settings of the console."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gateway.core.errors import SettingsInvalid
from gateway.core.settings import read_settings
from gateway.core.settings.console import ConsoleSettings, check_public_url, is_loopback_url


def test_an_sso_header_counts_only_with_its_peers() -> None:
    assert ConsoleSettings().sso_peers == ()
    made = ConsoleSettings.model_validate({"sso_header": "x-forwarded-email", "sso_peers": ["10.0.0.0/24", "::1/128"]})
    assert [str(network) for network in made.sso_peers] == ["10.0.0.0/24", "::1/128"]


@pytest.mark.parametrize(
    "given",
    [
        {"sso_header": "x-user"},
        {"sso_peers": ["10.0.0.1/32"]},
        {"sso_header": "X-User", "sso_peers": ["10.0.0.1/32"]},
        {"sso_header": "cookie", "sso_peers": ["10.0.0.1/32"]},
        {"sso_header": "x-forwarded-for", "sso_peers": ["10.0.0.1/32"]},
        {"sso_header": "x user", "sso_peers": ["10.0.0.1/32"]},
        {"sso_header": "x-user", "sso_peers": ["anywhere"]},
        {"oidc_issuer": "https://login.example"},
        {"oidc_client_id": "console"},
        {"oidc_client_secret": "s"},
        {"oidc_issuer": "http://login.example", "oidc_client_id": "c"},
        {"oidc_issuer": "https://login.example?x", "oidc_client_id": "c"},
        {"oidc_issuer": "https://login.example#x", "oidc_client_id": "c"},
        {"oidc_issuer": "https://a@login.example", "oidc_client_id": "c"},
        {"oidc_issuer": "https://", "oidc_client_id": "c"},
        {"oidc_issuer": "https://[x", "oidc_client_id": "c"},
        {"oidc_issuer": "login.example", "oidc_client_id": "c"},
        {"oidc_issuer": "https://login.example", "oidc_client_id": "c", "oidc_scopes": ["email"]},
        {"oidc_issuer": "https://login.example", "oidc_client_id": "c", "oidc_scopes": ["openid", "a b"]},
        {"oidc_issuer": "https://login.example", "oidc_client_id": "c", "oidc_claim": ""},
        {"session_hours": 0},
        {"session_hours": 25},
    ],
)
def test_half_a_setting_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ConsoleSettings.model_validate(given)


OIDC = {"oidc_issuer": "https://login.example/tenant/", "oidc_client_id": "console"}


@pytest.mark.parametrize("issuer", ["https://login.example/tenant/", "http://127.0.0.1:9", "http://localhost:9/x", "http://[::1]:9"])  # fmt: skip
def test_an_identity_provider_has_an_issuer_that_is_kept_to_the_last_character(issuer: str) -> None:
    made = ConsoleSettings.model_validate({**OIDC, "oidc_issuer": issuer, "oidc_client_secret": "hunter2"})
    assert made.oidc_issuer == issuer
    assert (made.oidc_claim, made.oidc_scopes) == ("email", ("openid", "email", "profile"))
    assert "hunter2" not in repr(made) + made.model_dump_json()
    assert made.oidc_host in issuer
    assert ConsoleSettings().oidc_host == ""


def test_people_come_back_to_an_address_of_the_settings() -> None:
    made = ConsoleSettings.model_validate(OIDC)
    check_public_url(ConsoleSettings(), "")
    for url in ("https://sentinel.example", "http://127.0.0.1:8484"):
        check_public_url(made, url)
    for url in ("", "http://sentinel.example"):
        with pytest.raises(ValueError, match=r"server\.public_url"):
            check_public_url(made, url)


def test_without_a_public_url_the_settings_have_a_mistake(tmp_path: Path) -> None:
    file = tmp_path / "sentinel.toml"
    console = '[console]\noidc_issuer = "https://login.example"\noidc_client_id = "console"\n'
    file.write_text(console, encoding="utf-8")
    with pytest.raises(SettingsInvalid, match=r"needs `server\.public_url`"):
        read_settings(file)
    file.write_text(f'{console}[server]\npublic_url = "https://sentinel.example"\n', encoding="utf-8")
    assert read_settings(file).console.oidc_host == "login.example"


def test_the_secret_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "sentinel.toml"
    file.write_text(
        '[server]\npublic_url = "https://s.example"\n[console]\noidc_issuer = "https://l.example"\noidc_client_id = "c"\n'
    )
    monkeypatch.setenv("SENTINEL_CONSOLE__OIDC_CLIENT_SECRET", "hunter2")
    assert read_settings(file).console.oidc_client_secret.get_secret_value() == "hunter2"


@pytest.mark.parametrize(("url", "here"), [("http://127.0.0.1:1", True), ("http://127.0.0.1.evil.example", False), ("https://a", False)])  # fmt: skip
def test_this_machine_is_known(url: str, here: bool) -> None:
    assert is_loopback_url(url) is here
