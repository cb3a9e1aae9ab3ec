"""The networks and ports that a security group rule opens, in the shapes of the AWS provider's attributes."""

import ipaddress
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gateway.core.model.json import Json

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_CIDRS = ("cidr_blocks", "ipv6_cidr_blocks", "cidr_ipv4", "cidr_ipv6", "cidr_block", "ipv6_cidr_block")
_LISTS = ("prefix_list_ids", "prefix_list_id")
_GROUPS = ("security_groups", "self", "source_security_group_id", "referenced_security_group_id")
_GLOBAL_IPV6 = ipaddress.IPv6Network("2000::/3")
_WITH_PORTS = {"tcp", "udp", "sctp", "6", "17", "132"}


class Unreadable(Exception):
    """A value is not a security group rule that Sentinel can read; the text says why. The caller must refuse the value."""


def networks(value: Json) -> list[Network]:
    """Every network in the value, which is one CIDR, one rule, or a list of those. Raises `Unreadable`."""
    return [network for item in _items(value) for network in _sources(item)]


def outside(found: Iterable[Network], allowed: Sequence[Network]) -> list[Network]:
    """The networks that lie in none of the allowed ones. Costs a look for each length of these, however many there are."""
    starts: dict[tuple[int, int], set[int]] = {}
    for wider in allowed:
        starts.setdefault((wider.version, wider.prefixlen), set()).add(_start(wider, wider.prefixlen))

    def lies_in_one(inner: Network) -> bool:
        return any(
            inner.version == version and inner.prefixlen >= length and _start(inner, length) in known
            for (version, length), known in starts.items()
        )

    return [network for network in found if not lies_in_one(network)]


def covers_world(found: Iterable[Network]) -> bool:
    """Whether the networks together cover the whole Internet, however they are split."""
    all_networks = list(found)
    four = ipaddress.collapse_addresses(each for each in all_networks if isinstance(each, ipaddress.IPv4Network))
    six = ipaddress.collapse_addresses(each for each in all_networks if isinstance(each, ipaddress.IPv6Network))
    return any(network.prefixlen == 0 for network in four) or any(_GLOBAL_IPV6.subnet_of(network) for network in six)


def ports_outside(value: Json, allowed: Iterable[int]) -> list[str]:
    """What the value opens beyond the allowed ports, each as text such as `ports 1 to 3`. Raises `Unreadable`."""
    ports = frozenset(allowed)
    return [text for item in _items(value) if (text := _port_outside(item, ports))]


def network(text: Json) -> Network:
    """The network in `text`, without host bits, which AWS drops too. Raises `Unreadable`."""
    try:
        if isinstance(text, str):
            return ipaddress.ip_network(text, strict=False)
    except ValueError:
        pass
    raise Unreadable(f"{text!r} is not a network in CIDR form")


def _items(value: Json) -> Sequence[Json]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str | Mapping) or not isinstance(value, Sequence) else value


def _sources(item: Json) -> Iterator[Network]:
    if not isinstance(item, Mapping):
        yield network(item)
        return
    if not any(name in item for name in (*_CIDRS, *_LISTS, *_GROUPS)):
        raise Unreadable(f"the rule {_brief(item)} names no source")
    for name in _LISTS:
        if item.get(name):
            raise Unreadable(f"what the prefix list {item[name]!r} holds is not known here")
    for name in _CIDRS:
        for text in _items(item.get(name) or None):
            yield network(text)


def _port_outside(item: Json, allowed: frozenset[int]) -> str:
    if not isinstance(item, Mapping):
        port = _port(item)
        return "" if port in allowed else f"port {port}"
    protocol = str(item.get("protocol", item.get("ip_protocol", ""))).lower()
    if protocol not in _WITH_PORTS:
        return "every port and protocol" if protocol in {"-1", "all"} else f"protocol {protocol or 'unknown'}"
    first, last = _port(item.get("from_port")), _port(item.get("to_port"))
    if first > last:
        raise Unreadable(f"the ports {first} to {last} are not a range")
    # A range longer than the list cannot lie in it. Check that first, so that 0 to 65535 costs nothing.
    if last - first < len(allowed) and all(port in allowed for port in range(first, last + 1)):
        return ""
    return f"port {first}" if first == last else f"ports {first} to {last}"


def _port(value: Json) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 5:  # noqa: PLR2004  65535 has five digits
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unreadable(f"{value!r} is not a port")
    return value


def _start(network: Network, length: int) -> int:
    """The first bits of the network's address, as a number."""
    return int(network.network_address) >> (network.max_prefixlen - length)


def _brief(item: Mapping[str, Json]) -> str:
    return repr(dict(item))[:80]
