"""The rows of origin `model`: what the rules derive, without the operations that a hand-made table or the provider's own requests know better."""

from collections.abc import Iterator, Mapping, Sequence

from gateway.core.derived_rows import Confidence, DerivedRow, Origin, derived_rows
from gateway.effects.registry import SERVICES
from tests.tools.effect_sources.all_services import service_kinds, service_operations, terraform_attributes
from tests.tools.effect_sources.operation_names import split
from tests.tools.effect_sources.rules import derive, findings
from tests.tools.effect_sources.siblings import Siblings


def all_rows() -> Mapping[tuple[str, str], tuple[DerivedRow, ...]]:
    """(service, operation) → its rows by the sources alone, for every operation that is not a read."""
    kinds = service_kinds()
    attributes = terraform_attributes()
    return {
        (service, operation.name): derive(operation, kinds[service], attributes)
        for service, each in service_operations().items()
        for operation in each
    }


def rows_by_siblings() -> Mapping[tuple[str, str], tuple[DerivedRow, ...]]:
    """(service, operation) → its row by what was traced of other operations, also where its own trace or a hand-made row knows it."""
    kinds = service_kinds()
    attributes = terraform_attributes()
    by_key = {(each.service, each.name): each for found in service_operations().values() for each in found}
    siblings = Siblings((row for key in by_key for row in _traced(*key)), by_key, attributes.keys())
    found = {key: siblings.row(key, findings(each, kinds[key[0]], attributes)) for key, each in by_key.items()}
    return {key: (row,) for key, row in found.items() if row is not None}


def rows_to_write(
    rows: Mapping[tuple[str, str], tuple[DerivedRow, ...]], siblings: Mapping[tuple[str, str], tuple[DerivedRow, ...]]
) -> Iterator[DerivedRow]:
    """The rows that add something: none for an operation with a hand-made row, and few for one with traced rows.

    What the siblings know counts where neither the model nor the operation's own trace is certain of the resource.
    """
    for (service, operation), found in rows.items():
        if operation in SERVICES.get(service, {}):
            continue
        traced = _traced(service, operation)
        added = [row for row in found if not traced or _adds(row, traced)]
        unsure = all(row.confidence is Confidence.TYPE for row in (*traced, *added))
        yield from siblings.get((service, operation), added) if unsure else added


def _traced(service: str, operation: str) -> list[DerivedRow]:
    return [row for row in derived_rows(service, operation) if row.origin is Origin.TRACED]


def _adds(row: DerivedRow, traced: Sequence[DerivedRow]) -> bool:
    """Whether a row says more than the traced ones: tags of another type, or surely what the only one of them says less surely."""
    types = {each.resource_type for each in traced}
    if split(row.operation).verb in ("Tag", "Untag") and row.resource_type not in types:
        return True
    surer = row.confidence is Confidence.RESOURCE and all(each.confidence is Confidence.TYPE for each in traced)
    return surer and types == {row.resource_type} and all(each.actions == row.actions for each in traced)
