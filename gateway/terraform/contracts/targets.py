"""Finds contracts for types and resources that the stack does not have: a misspelt name beside `prevent_delete` protects nothing."""

import difflib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gateway.terraform.address import parse_address
from gateway.terraform.contracts.attribute_names import known_types
from gateway.terraform.contracts.contract import ResourceRule

_CLOSE = 0.8
"""How alike two names are of which one is likely meant for the other."""
_PREFIX = "aws_"


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingTarget:
    """A contract for something that the stack does not have."""

    sentence: str
    """With file and line."""
    likely_misspelt: bool
    """Whether a name that no other contract has is nearly the same, or the provider has no such type."""


def missing_targets(
    rules: Sequence[ResourceRule],
    addresses: Collection[str],
    matching: Callable[[str], Iterable[ResourceRule]],
) -> tuple[MissingTarget, ...]:
    """The rules that name a type or a resource which is not among the addresses of the stack's code and state.

    A rule with a pattern (`*`, `?`) may be for resources to come. `matching` returns the rules that are for an address.
    """
    exact = {rule.types for rule in rules if _is_exact(rule.types)}
    by_type: dict[str, list[str]] = {}
    for address in sorted(addresses) if exact else ():
        where = parse_address(address)
        if where is not None and not where.data and where.resource_type in exact:
            by_type.setdefault(where.resource_type, []).append(address)
    return tuple(_missing(rules, by_type, matching))


def _missing(
    rules: Sequence[ResourceRule],
    by_type: Mapping[str, Sequence[str]],
    matching: Callable[[str], Iterable[ResourceRule]],
) -> Iterator[MissingTarget]:
    found: set[int] = set()
    free: dict[str, list[str]] = {}
    for kind, own in by_type.items():
        for address in own:
            named = {id(rule) for rule in matching(address) if _is_exact(rule.names)}
            found |= named
            if not named:
                free.setdefault(kind, []).append(address)
    for rule in rules:
        if not _is_exact(rule.types):
            continue
        if (unknown := _unknown_type(rule, by_type)) is not None:
            yield unknown
        elif _is_exact(rule.names) and id(rule) not in found:
            yield _unknown_resource(rule, free.get(rule.types, ()))


def _is_exact(pattern: str) -> bool:
    return not any(mark in pattern for mark in "*?")


def _unknown_type(rule: ResourceRule, by_type: Collection[str]) -> MissingTarget | None:
    """Types of other providers are not judged, nor one that the stack has although the shipped schema does not."""
    known = known_types()
    if not rule.types.startswith(_PREFIX) or rule.types in known or rule.types in by_type:
        return None
    close = difflib.get_close_matches(rule.types, sorted(known), n=1, cutoff=_CLOSE)
    sentence = f"{rule.source}: The provider has no resource type {rule.types!r}{_hint(close)}"
    return MissingTarget(sentence=sentence, likely_misspelt=True)


def _unknown_resource(rule: ResourceRule, free: Sequence[str]) -> MissingTarget:
    """`free` are the resources of its type that no other exact rule is for."""
    names = {each.rpartition(".")[2].partition("[")[0]: each for each in free}
    own = rule.names.rpartition(".")[2].partition("[")[0]
    close = difflib.get_close_matches(own, sorted(names), n=1, cutoff=_CLOSE)
    sentence = f"{rule.source}: The stack neither declares nor records {rule.types}.{rule.names}{_hint([names[each] for each in close])}"
    return MissingTarget(sentence=sentence, likely_misspelt=bool(close))


def _hint(close: Sequence[str]) -> str:
    return f"; did you mean {close[0]!r}?" if close else "."
