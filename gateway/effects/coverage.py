"""How well Sentinel understands AWS's operations, by service, and by resource type for the types that somebody uses."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from gateway.core.derived_rows import Confidence, DerivedRow, derived_rows, operations_of, services
from gateway.effects.registry import SERVICES

HAND = "hand"
"""Beside the origins of derived rows: a row that a person wrote."""
_ORDER = (Confidence.ATTRIBUTES, Confidence.RESOURCE, Confidence.TYPE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """By which row an operation is known best, and how much that row explains."""

    origin: str
    """`hand`, or the `Origin` of the row."""
    confidence: Confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCoverage:
    """How many of the operations of one service are understood, and by what."""

    service: str
    operations: int
    origins: Mapping[str, int]
    """Origin → operations that are known best by a row of it."""
    confidences: Mapping[Confidence, int]

    @property
    def unknown(self) -> int:
        """Operations without a row."""
        return self.operations - sum(self.origins.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCoverage:
    """The operations that concern one resource type, as `service:operation`, by how well each is understood. Sorted."""

    resource_type: str
    exactly: tuple[str, ...]
    """Each attribute is known."""
    as_a_whole: tuple[str, ...]
    """Only the resource is known: agents need `allow_invoke` or a bound on it."""
    with_a_plan: tuple[str, ...]
    """Only the type is known: such a call is held, unless a plan explains it."""


def understanding(service: str, operation: str) -> Understanding | None:
    """How well an operation is understood; None if no row has it."""
    if operation in SERVICES.get(service, {}):
        return Understanding(origin=HAND, confidence=Confidence.ATTRIBUTES)
    return _best(derived_rows(service, operation))


def _best(rows: Iterable[DerivedRow]) -> Understanding | None:
    ordered = sorted(rows, key=lambda row: (_ORDER.index(row.confidence), row.origin))
    return Understanding(origin=ordered[0].origin.value, confidence=ordered[0].confidence) if ordered else None


def service_coverage(service: str, operations: Collection[str]) -> ServiceCoverage:
    """The coverage of these operations of a service."""
    found = [each for each in (understanding(service, operation) for operation in operations) if each is not None]
    return ServiceCoverage(
        service=service,
        operations=len(operations),
        origins=Counter(each.origin for each in found),
        confidences=Counter(each.confidence for each in found),
    )


def type_coverage(types: Collection[str]) -> tuple[TypeCoverage, ...]:
    """The coverage of these resource types, sorted. Reads all derived rows, which takes a fraction of a second."""
    found: dict[str, dict[Confidence, set[str]]] = {name: {level: set() for level in Confidence} for name in types}
    for service, table in SERVICES.items():
        for operation, row in table.items():
            for name in {row.resource_type, *row.other_types} & found.keys():
                found[name][Confidence.ATTRIBUTES].add(f"{service}:{operation}")
    for service in services():
        for operation in operations_of(service):
            if operation not in SERVICES.get(service, {}):
                _add(found, service, operation)
    return tuple(
        TypeCoverage(
            resource_type=name,
            exactly=tuple(sorted(levels[Confidence.ATTRIBUTES])),
            as_a_whole=tuple(sorted(levels[Confidence.RESOURCE])),
            with_a_plan=tuple(sorted(levels[Confidence.TYPE])),
        )
        for name, levels in sorted(found.items())
    )


def _add(found: Mapping[str, Mapping[Confidence, set[str]]], service: str, operation: str) -> None:
    """Add the operation to the types that its rows name."""
    rows = derived_rows(service, operation)
    for name in {row.resource_type for row in rows} & found.keys():
        best = _best(row for row in rows if row.resource_type == name)
        if best is not None:
            found[name][best.confidence].add(f"{service}:{operation}")
