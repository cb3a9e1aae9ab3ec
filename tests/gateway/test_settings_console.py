"""Settings of the console."""

from typing import Any

import pytest
from pydantic import ValidationError

from gateway.settings_console import ConsoleSettings


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
        {"session_hours": 0},
        {"session_hours": 25},
    ],
)
def test_half_a_setting_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ConsoleSettings.model_validate(given)
