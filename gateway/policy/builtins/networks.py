"""The built-ins of IP networks that OPA's Wasm lacks."""

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from gateway.policy.builtins.evaluation import BuiltinError, Evaluation, TooMuch
from gateway.policy.builtins.operands import items, text
from gateway.policy.rego_values import RegoObject, RegoSet, Term

_Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
_CIDR: Final = re.compile(r"[^/%]+/[0-9]{1,3}")
_MOST_ADDRESSES: Final = 65_536
_CLASSES: Final = ((128, 8), (192, 16))
_LAST_CLASS: Final = 24
"""First byte below, and prefix length, of the networks that addresses belonged to before CIDR. Go's `DefaultMask` still has them."""


def _network(value: Term) -> _Network:
    written = text(value)
    if not _CIDR.fullmatch(written):
        raise BuiltinError("this is not a network in CIDR notation")
    try:
        address, prefix = written.split("/")
        return ipaddress.ip_network((ipaddress.ip_address(address), int(prefix)), strict=False)
    except ValueError:
        raise BuiltinError("this is not a network in CIDR notation") from None


def _address(value: Term) -> _Address | None:
    try:
        found = ipaddress.ip_address(text(value)) if "%" not in text(value) else None
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found


def _is_valid(value: Term) -> Term:
    try:
        return _network(value) is not None
    except BuiltinError:
        return False


def _expand(evaluation: Evaluation, value: Term) -> Term:
    network = _network(value)
    if network.num_addresses > _MOST_ADDRESSES:
        raise TooMuch(
            f"net.cidr_expand would return more than {_MOST_ADDRESSES} addresses; compare with net.cidr_contains"
        )
    evaluation.step(network.num_addresses)
    return RegoSet(tuple(map(_written, network)))


def _written(address: _Address) -> str:
    """The address as Go writes it: one of IPv6 that stands for one of IPv4 is the latter."""
    return str(getattr(address, "ipv4_mapped", None) or address)


def _contains(outer: Term, inner: Term) -> bool:
    network, address = _network(outer), _address(inner)
    if address is not None:
        return address in network
    other = _network(inner)
    return network.version == other.version and other.network_address in network and other.broadcast_address in network


def _candidates(value: Term) -> Iterator[tuple[Term, Term]]:
    """The networks of an operand, each with its index."""
    match value:
        case str():
            yield value, value
        case list():
            yield from ((_first(each), number) for number, each in enumerate(value))
        case RegoSet():
            yield from ((_first(each), each) for each in value.members)
        case dict():
            yield from ((_first(each), key) for key, each in value.items())
        case RegoObject():
            yield from ((_first(each), key) for key, each in value.entries)


def _first(value: Term) -> Term:
    if isinstance(value, list) and value:
        return value[0]
    return text(value)


def _contains_matches(evaluation: Evaluation, networks: Term, others: Term) -> Term:
    found: list[Term] = []
    inner = list(_candidates(others))
    for outer, index in _candidates(networks):
        for other, place in inner:
            evaluation.step()
            if _contains(outer, other):
                found.append([index, place])
    return RegoSet(tuple(found))


def _merge(evaluation: Evaluation, value: Term) -> Term:
    """The fewest networks of the same addresses. One that joins no other stays as it is written."""
    networks = [_network_or_address(each) for each in items(value)]
    evaluation.step(len(networks))
    return RegoSet(
        tuple(each for version in (4, 6) for each in _merged([one for one in networks if one[1].version == version]))
    )


def _merged(networks: Sequence[tuple[str, _Network]]) -> Iterator[str]:
    """As OPA merges them: from the last range to the first, each with the one before it."""
    ranges = [(int(each.broadcast_address), int(each.network_address), name) for name, each in networks]
    ranges.sort(key=lambda each: each[:2])
    for number in range(len(ranges) - 1, 0, -1):
        last, first, _ = ranges[number]
        before_last, before_first, _ = ranges[number - 1]
        if first - 1 <= before_last:
            ranges[number - 1] = last, min(first, before_first), ""
            del ranges[number]
    address = ipaddress.IPv4Address if networks and networks[0][1].version == 4 else ipaddress.IPv6Address  # noqa: PLR2004  IPv4
    for last, first, name in ranges:
        if name:
            yield name
        else:
            yield from map(str, ipaddress.summarize_address_range(address(first), address(last)))


def _network_or_address(value: Term) -> tuple[str, _Network]:
    """The network, as it is written; an address alone has the length of its old class, as in OPA."""
    address = _address(value)
    if address is None:
        network = _network(value)
        return str(network), network
    if address.version != 4:  # noqa: PLR2004  IPv4
        raise BuiltinError("IPv6 invalid: needs prefix length")
    length = next((length for below, length in _CLASSES if address.packed[0] < below), _LAST_CLASS)
    return f"{address}/{length}", ipaddress.ip_network((address, length), strict=False)


PLAIN: Final[Mapping[str, Callable[..., Term]]] = {"net.cidr_is_valid": _is_valid}
MEASURED: Final[Mapping[str, Callable[..., Term]]] = {
    "net.cidr_contains_matches": _contains_matches,
    "net.cidr_expand": _expand,
    "net.cidr_merge": _merge,
}
