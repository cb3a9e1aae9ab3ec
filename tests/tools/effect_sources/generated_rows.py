"""The rows of origin `model`: what the rules derive, without the operations that a hand-made table or the provider's own requests know better."""

from collections.abc import Iterator, Mapping, Sequence

from gateway.effects.derived_rows import Confidence, DerivedRow, Origin, derived_rows
from gateway.effects.registry import SERVICES
from tests.tools.effect_sources.all_services import service_kinds, service_operations, terraform_attributes
from tests.tools.effect_sources.operation_names import split
from tests.tools.effect_sources.rules import derive


def all_rows() -> Mapping[tuple[str, str], tuple[DerivedRow, ...]]:
    """(service, operation) → its rows by the sources alone, for every operation that is not a read."""
    kinds = service_kinds()
    attributes = terraform_attributes()
    return {
        (service, operation.name): derive(operation, kinds[service], attributes)
        for service, each in service_operations().items()
        for operation in each
    }


def rows_to_write(rows: Mapping[tuple[str, str], tuple[DerivedRow, ...]]) -> Iterator[DerivedRow]:
    """The rows that add something: none for an operation with a hand-made row, and few for one with traced rows."""
    for (service, operation), found in rows.items():
        if operation in SERVICES.get(service, {}):
            continue
        traced = [row for row in derived_rows(service, operation) if row.origin is Origin.TRACED]
        yield from (row for row in found if not traced or _adds(row, traced))


def _adds(row: DerivedRow, traced: Sequence[DerivedRow]) -> bool:
    """Whether a row says more than the traced ones: tags of another type, or surely what the only one of them says less surely."""
    types = {each.resource_type for each in traced}
    if split(row.operation).verb in ("Tag", "Untag") and row.resource_type not in types:
        return True
    surer = row.confidence is Confidence.RESOURCE and all(each.confidence is Confidence.TYPE for each in traced)
    return surer and types == {row.resource_type} and all(each.actions == row.actions for each in traced)
