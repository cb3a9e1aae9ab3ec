"""Hosts and origins are named; only a port may be any."""

import pytest
from pydantic import ValidationError

from gateway.core.settings.agents import McpSettings


@pytest.mark.parametrize("name", ["*", "", " ", "*:*", ":*", "*.example", "a*:*"])
def test_no_pattern_accepts_every_site(name: str) -> None:
    with pytest.raises(ValidationError, match="name each host"):
        McpSettings(hosts=(name,))
    with pytest.raises(ValidationError, match="name each host"):
        McpSettings(origins=(name,))


def test_names_and_any_port() -> None:
    made = McpSettings(hosts=("s.example", "s.example:*"), origins=("https://s.example",))
    assert made.hosts == ("s.example", "s.example:*")


def test_an_authorization_server_is_asked_over_https() -> None:
    assert McpSettings(authorization_servers=("https://id.example",)).authorization_servers
    with pytest.raises(ValidationError, match="https"):
        McpSettings(authorization_servers=("http://id.example",))
