"""Compares rows of the sources with those that are known to be right: the hand-made tables, and the requests of the provider."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from gateway.core.derived_rows import Confidence, DerivedRow, Origin, derived_rows, operations_of, services
from gateway.core.model.mutation import EffectAction
from gateway.effects.registry import SERVICES

_SAME_RESOURCE = frozenset({"arn", "id", "identifier", "name", "url"})
"""Attributes that any type may be identified by: they say the same resource in other words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a comparison says about one point of one row."""

    service: str
    operation: str
    confidence: Confidence
    point: str
    """`type`, `direction` or `identity`."""
    agrees: bool
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known about one operation."""

    types: frozenset[str]
    actions: frozenset[EffectAction]
    identity: Mapping[tuple[str, str], str | None]
    """(Resource type, parameter) → attribute; None if code finds the resource."""


def hand_made() -> Mapping[tuple[str, str], Known]:
    """(service, operation) → what its hand-made row says."""
    found = {}
    for service, table in SERVICES.items():
        for operation, row in table.items():
            actions = {row.action, *((EffectAction.CREATE, EffectAction.SET) if row.upserts else ())}
            found[service, operation] = Known(
                types=frozenset({row.resource_type, *row.other_types}),
                actions=frozenset(actions),
                identity={
                    (row.resource_type, name): rule if isinstance(rule, str) else None
                    for name, rule in row.identity.items()
                },
            )
    return found


def traced() -> Mapping[tuple[str, str], Known]:
    """(service, operation) → what the provider was seen to send."""
    found = {}
    for service in services():
        for operation in operations_of(service):
            rows = [row for row in derived_rows(service, operation) if row.origin is Origin.TRACED]
            if rows:
                identity = {
                    (row.resource_type, name): source.attribute for row in rows for name, source in row.identity.items()
                }
                found[service, operation] = Known(
                    types=frozenset(row.resource_type for row in rows),
                    actions=frozenset().union(*(row.actions for row in rows)),
                    identity=identity,
                )
    return found


def compare(
    rows: Mapping[tuple[str, str], tuple[DerivedRow, ...]], known: Mapping[tuple[str, str], Known]
) -> Iterator[Verdict]:
    """A verdict on each point of the rows of operations that are known. Of several rows, those count whose type is known."""
    for key, truth in known.items():
        found = rows.get(key, ())
        fitting = [row for row in found if row.resource_type in truth.types]
        for row in fitting or found[:1]:
            yield from _verdicts(row, truth)


def _verdicts(row: DerivedRow, truth: Known) -> Iterator[Verdict]:
    def verdict(point: str, agrees: bool, ours: object, theirs: object) -> Verdict:
        return Verdict(
            service=row.service,
            operation=row.operation,
            confidence=row.confidence,
            point=point,
            agrees=agrees,
            ours=str(ours),
            theirs=str(theirs),
        )

    same = row.resource_type in truth.types
    yield verdict("type", same, row.resource_type, ", ".join(sorted(truth.types)))
    if not same:
        return
    yield verdict("direction", bool(row.actions & truth.actions), _names(row.actions), _names(truth.actions))
    for parameter, source in sorted(row.identity.items()):
        theirs = truth.identity.get((row.resource_type, parameter))
        if theirs is not None:
            agrees = source.attribute == theirs or _general(source.attribute, row.resource_type) == _general(
                theirs, row.resource_type
            )
            yield verdict("identity", agrees, f"{parameter} = {source.attribute}", theirs)


def _names(actions: frozenset[EffectAction]) -> str:
    return ", ".join(sorted(actions))


def _general(attribute: str, resource_type: str) -> str:
    """An attribute without the words of its own type, so that `function_name` of a function is its `name`."""
    last = attribute.rpartition("_")[2]
    own = attribute.removesuffix(f"_{last}")
    return "identity" if last in _SAME_RESOURCE and (own == attribute or own in resource_type) else attribute


def report(name: str, verdicts: list[Verdict], write: Callable[[str], object]) -> None:
    """Write the counts by confidence and point, then each contradiction."""
    write(f"{name}\n")
    for confidence in (Confidence.RESOURCE, Confidence.TYPE):
        for point in ("type", "direction", "identity"):
            found = [each.agrees for each in verdicts if each.confidence is confidence and each.point == point]
            write(
                f"  {confidence.value:<9} {point:<10} {found.count(True):>5} agree {found.count(False):>4} contradict\n"
            )
    for each in sorted(verdicts, key=lambda each: (each.confidence, each.service, each.operation)):
        if not each.agrees:
            write(
                f"    {each.confidence.value} {each.service}:{each.operation} {each.point}: {each.ours}, not {each.theirs}\n"
            )
