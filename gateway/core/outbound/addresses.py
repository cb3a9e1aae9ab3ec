"""The addresses that a guarded request may go to: the public internet, and the networks that the settings name."""

import ipaddress
from collections.abc import Sequence
from typing import Final, TypeAlias

from gateway.core.outbound.response import AddressRefused

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


def require_allowed(address: str, networks: Sequence[Network], *, secure: bool) -> None:
    """Raise `AddressRefused` unless requests may go to this IP address.

    `networks` are allowed besides the public internet; without `secure` (https) nothing else is.
    """
    if not _is_allowed(ipaddress.ip_address(address), networks, secure=secure):
        raise AddressRefused(
            "Its address is not one of the public internet and not in `private_addresses`, so nothing was sent."
            if secure
            else "Over http only addresses in `private_addresses` are sent to, so nothing was sent."
        )


def _is_allowed(address: _Address, networks: Sequence[Network], *, secure: bool) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return _is_allowed(address.ipv4_mapped, networks, secure=secure)
    if any(address in network for network in _NEVER):
        return False
    if any(address in network for network in networks):
        return True
    translated = any(address in network for network in _TRANSLATED)
    return secure and address.is_global and not address.is_multicast and not translated and address not in _INSIDE


def is_address(host: str) -> bool:
    """Whether a host is an IP address rather than a name, so that nobody resolves it."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether a host is a loopback address of this machine. A name is none, because it may be resolved to anything."""
    return is_address(host) and ipaddress.ip_address(host).is_loopback
