"""Hosts that are addresses, and those of this machine."""

import pytest

from gateway.core.addresses import is_address, is_loopback


@pytest.mark.parametrize(
    ("host", "address", "loopback"),
    [
        ("127.0.0.1", True, True),
        ("127.9.9.9", True, True),
        ("::1", True, True),
        ("10.0.0.1", True, False),
        ("2001:db8::1", True, False),
        ("localhost", False, False),
        ("example.com", False, False),
        ("", False, False),
        ("127.0.0.1.evil.example", False, False),
    ],
)
def test_a_host_is_recognised(host: str, address: bool, loopback: bool) -> None:
    assert (is_address(host), is_loopback(host)) == (address, loopback)
