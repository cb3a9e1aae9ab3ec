"""What a host's text says about it: an IP address, or this machine."""

import ipaddress


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
