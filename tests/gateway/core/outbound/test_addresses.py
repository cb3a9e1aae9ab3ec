"""Which addresses are sent to."""

import ipaddress

import pytest
from aiohttp.abc import ResolveResult
from aiohttp.resolver import ThreadedResolver

from gateway.core.outbound.addresses import is_address, is_loopback, require_allowed
from gateway.core.outbound.response import AddressRefused
from gateway.core.outbound.transport import GuardedResolver

OWN = [ipaddress.ip_network("10.20.0.0/16"), ipaddress.ip_network("fd12::/16")]


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:4700::1111", "::ffff:93.184.216.34"])
def test_the_public_internet_is_reached_over_https_only(address: str) -> None:
    require_allowed(address, (), secure=True)
    with pytest.raises(AddressRefused, match="http"):
        require_allowed(address, (), secure=False)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "0.1.2.3", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254", "169.254.170.2",
        "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1",
        "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "64:ff9b::7f00:1", "2002:7f00:1::", "2001::1", "2001:db8::1", "192.0.2.1",
        "fec0::1", "::7f00:1", "::a9fe:a9fe", "168.63.129.16",
    ],
)  # fmt: skip
def test_nothing_else_is(address: str) -> None:
    with pytest.raises(AddressRefused, match="nothing was sent"):
        require_allowed(address, (), secure=True)


@pytest.mark.parametrize("address", ["10.20.3.4", "fd12::7", "::ffff:10.20.3.4"])
@pytest.mark.parametrize("secure", [True, False])
def test_networks_of_the_settings_are(address: str, secure: bool) -> None:
    require_allowed(address, OWN, secure=secure)


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254", "fe80::1", "168.63.129.16"]
)
def test_no_setting_allows_where_clouds_give_credentials(address: str) -> None:
    every = [ipaddress.ip_network("0.0.0.0/0"), ipaddress.ip_network("::/0")]
    with pytest.raises(AddressRefused):
        require_allowed(address, every, secure=True)


async def test_a_name_is_refused_if_one_of_its_addresses_is(monkeypatch: pytest.MonkeyPatch) -> None:
    async def both(self: ThreadedResolver, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
        found = ["93.184.216.34", "127.0.0.1"] if host == "both.example" else ["93.184.216.34"]
        return [ResolveResult(hostname=host, host=each, port=port, family=2, proto=6, flags=0) for each in found]

    monkeypatch.setattr(ThreadedResolver, "resolve", both)
    resolver = GuardedResolver((), secure=True)
    assert [each["host"] for each in await resolver.resolve("one.example", 443)] == ["93.184.216.34"]
    with pytest.raises(AddressRefused):
        await resolver.resolve("both.example", 443)
    await resolver.close()


@pytest.mark.parametrize(
    ("host", "literal"),
    [("127.0.0.1", True), ("::1", True), ("127.1", False), ("2130706433", False), ("a.example", False)],
)
def test_only_a_plain_address_is_not_resolved(host: str, literal: bool) -> None:
    assert is_address(host) is literal


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
