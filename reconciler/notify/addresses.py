"""Which addresses a notice may be sent to, and the resolver that asks this of every address it finds.

The address that was checked is the one that is connected to: a name that resolves to something else a moment later changes nothing.
"""

import ipaddress
import socket
from collections.abc import Sequence
from typing import Final, TypeAlias

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_NEVER: Final = tuple(
    ipaddress.ip_network(text) for text in ("169.254.0.0/16", "168.63.129.16/32", "fe80::/10", "fd00:ec2::/32")
)
"""Where clouds give their machines credentials; no setting allows these."""
_TRANSLATED: Final = tuple(
    ipaddress.ip_network(text) for text in ("::/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32")
)
"""IPv6 addresses that stand for an IPv4 address, which may be any."""
_INSIDE: Final = ipaddress.ip_network("fec0::/10")
"""IPv6 addresses of a site, which Python counts as public."""


class AddressRefused(OSError):
    """The receiver's address is one that notices are not sent to."""


class GuardedResolver(AbstractResolver):
    """Resolves names, and refuses those that lead to an address that is not allowed."""

    def __init__(self, networks: Sequence[Network], *, secure: bool) -> None:
        """`networks` are allowed besides the public internet; without `secure` (https) nothing else is."""
        self._networks = networks
        self._secure = secure
        self._inner = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of a host. Raises `AddressRefused` if one of them is not allowed, `OSError` if there are none."""
        found = await self._inner.resolve(host, port, family)
        for each in found:
            require_allowed(each["host"], self._networks, secure=self._secure)
        return found

    async def close(self) -> None:
        """Nothing is open."""
        await self._inner.close()


def require_allowed(address: str, networks: Sequence[Network], *, secure: bool) -> None:
    """Raise `AddressRefused` unless notices may be sent to this IP address."""
    if not _is_allowed(ipaddress.ip_address(address), networks, secure=secure):
        raise AddressRefused(
            "Its address is not one of the public internet and not in `private_addresses`, so nothing was sent."
            if secure
            else "Over http only addresses in `private_addresses` are sent to, so nothing was sent."
        )


def is_address(host: str) -> bool:
    """Whether a host is an IP address rather than a name, so that nobody resolves it."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_allowed(address: _Address, networks: Sequence[Network], *, secure: bool) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return _is_allowed(address.ipv4_mapped, networks, secure=secure)
    if any(address in network for network in _NEVER):
        return False
    if any(address in network for network in networks):
        return True
    translated = any(address in network for network in _TRANSLATED)
    return secure and address.is_global and not address.is_multicast and not translated and address not in _INSIDE
