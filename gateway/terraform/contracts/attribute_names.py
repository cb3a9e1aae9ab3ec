"""Refuses contracts that name an attribute which no resource of the type has; otherwise a misspelt bound would only show as a denial."""

import difflib
import functools
import gzip
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files

from gateway.core.errors import CodeInvalid
from gateway.core.model.path import AttributePath
from gateway.terraform.address import fits
from gateway.terraform.contracts.contract import ConditionRule, ResourceRule

Seen = Callable[[str], Collection[str]]
"""From a glob on resource types to the attributes that resources of these types have in the code or the state."""

_FILE = "attributes_aws_5.json.gz"
"""Resource type → the names of its attributes and blocks. `gateway.aws.models.generate_schema` writes it."""
_PREFIX = "aws_"
_OF_THE_RESOURCE = ("self", "before")
_META = ("timeouts",)
"""What every type may have beside the attributes of its schema."""


def check_attributes(rules: Sequence[ResourceRule], seen: Seen) -> None:
    """Raise `errors.CodeInvalid`, with file, line and the nearest name, for an attribute that no matching resource type has.

    The provider may be newer than the shipped schema, so what is `seen` in code or state is known too. Types of other providers are
    not judged.
    """
    for rule in rules:
        own = [each for e in rule.enforcements for each in _named_in(e)]
        for source, name in [*_named(rule), *own]:
            _check(source, name, (rule.types,), seen)
    for shared, types in _sharing(rules):
        for source, name in _named_in(shared):
            _check(source, name, types, seen)


def _named(rule: ResourceRule) -> Iterator[tuple[str, str]]:
    """Where a rule names which attributes: those that it bounds or lists, and those that its bounds refer to."""
    for bound in rule.bounds:
        yield bound.limit.source, AttributePath(bound.attribute).top
        yield from ((bound.limit.source, name) for name in _own(bound.limit.references))
    for path in (*rule.mutable, *rule.immutable):
        yield rule.source, AttributePath(path).top


def _named_in(enforcement: ConditionRule) -> Iterator[tuple[str, str]]:
    for expression in (enforcement.condition, enforcement.message):
        yield from ((expression.source, name) for name in _own(expression.references))


def _own(references: Iterable[tuple[str, str]]) -> list[str]:
    return sorted(name for root, name in references if root in _OF_THE_RESOURCE)


def _sharing(rules: Sequence[ResourceRule]) -> Iterator[tuple[ConditionRule, tuple[str, ...]]]:
    """The conditions of whole contracts, each with the types of all blocks that share it: it applies to those that have its attributes."""
    found: dict[str, tuple[ConditionRule, list[str]]] = {}
    for rule in rules:
        for shared in rule.shared:
            found.setdefault(shared.condition.source, (shared, []))[1].append(rule.types)
    return ((shared, tuple(types)) for shared, types in found.values())


def _check(source: str, name: str, types: Sequence[str], seen: Seen) -> None:
    """Raise `errors.CodeInvalid` unless one of the types may have the attribute."""
    if not all(pattern.startswith(_PREFIX) for pattern in types):
        return
    matching = _matching(tuple(types))
    if any(name in names for names in matching.values()) or not matching or name in _META:
        return
    if any(name in seen(pattern) for pattern in types):
        return
    close = difflib.get_close_matches(name, sorted(set().union(*matching.values())), n=1, cutoff=0.6)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    raise CodeInvalid(f"{source}: {' or '.join(dict.fromkeys(types))} has no attribute {name!r}{hint}")


def known_types() -> Collection[str]:
    """The resource types of the shipped schema."""
    return _lines().keys()


@functools.lru_cache(maxsize=256)
def _matching(patterns: tuple[str, ...]) -> Mapping[str, frozenset[str]]:
    """The types of the shipped schema that fit one of the patterns, each with its attributes."""
    return {kind: _names(line) for kind, line in _lines().items() if any(fits(pattern, kind) for pattern in patterns)}


def _names(line: bytes) -> frozenset[str]:
    return frozenset(json.loads(line)[1:])


@functools.cache
def _lines() -> Mapping[str, bytes]:
    """The lines of the file by type, not parsed yet: most stacks have few types."""
    packed = (files(__package__) / _FILE).read_bytes()
    return {line[2 : line.index(b'"', 2)].decode(): line for line in gzip.decompress(packed).splitlines()}
