"""Terraform's functions of IP networks."""

import ipaddress
import re
from collections.abc import Callable, Mapping

from gateway.terraform.lang.values import EvaluationFailed, ListOf, Unknown, Value, decimal, text

_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def _network(value: Value) -> _Network:
    try:
        return ipaddress.ip_network(text(value), strict=False)
    except ValueError:
        if re.search(r"(?:^|\.)0\d", text(value)):
            raise Unknown("addresses with leading zeros are not read") from None
        raise EvaluationFailed(f"{text(value)} is not a network in CIDR notation") from None


def _prefix(value: Value) -> _Network:
    if "/" not in text(value):
        raise EvaluationFailed(f"{text(value)} is not a network in CIDR notation")
    return _network(value)


def _whole(value: Value) -> int:
    exact = decimal(value)
    if exact != int(exact):
        raise EvaluationFailed("a whole number is needed")
    return int(exact)


def _cidrhost(prefix: Value, host: Value) -> str:
    network, number = _prefix(prefix), _whole(host)
    if not -network.num_addresses <= number < network.num_addresses:
        raise EvaluationFailed(f"{network} has no host number {number}")
    return str(network[number])


def _cidrnetmask(prefix: Value) -> str:
    network = _prefix(prefix)
    if network.version != 4:  # noqa: PLR2004  IPv4
        raise EvaluationFailed("only IPv4 networks have a netmask")
    return str(network.netmask)


def _subnet(network: _Network, bits: int, number: int) -> _Network:
    length = network.prefixlen + bits
    if bits < 0:
        raise Unknown("cidrsubnet() with fewer bits is a network above")
    if length > network.max_prefixlen or not 0 <= number < 1 << bits:
        raise EvaluationFailed(f"{network} has no subnet number {number} of {bits} more bits")
    first = int(network.network_address) + (number << (network.max_prefixlen - length))
    return type(network)((first, length))


def _cidrsubnet(prefix: Value, bits: Value, number: Value) -> str:
    return str(_subnet(_prefix(prefix), _whole(bits), _whole(number)))


def _cidrsubnets(prefix: Value, *bits: Value) -> Value:
    network = _prefix(prefix)
    following = int(network.network_address)
    found: list[Value] = []
    for each in bits:
        more = _whole(each)
        length = network.prefixlen + more
        if more < 1 or length > network.max_prefixlen:
            raise EvaluationFailed(f"{network} cannot be extended by {more} bits")
        size = 1 << (network.max_prefixlen - length)
        first = -(-following // size) * size
        if first + size > int(network.network_address) + network.num_addresses:
            raise EvaluationFailed(f"{network} is too small for these subnets")
        found.append(str(type(network)((first, length))))
        following = first + size
    return ListOf(found)


FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "cidrhost": _cidrhost,
    "cidrnetmask": _cidrnetmask,
    "cidrsubnet": _cidrsubnet,
    "cidrsubnets": _cidrsubnets,
}
