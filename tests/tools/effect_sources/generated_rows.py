"""The rows of origin `model`: what the rules derive, without the operations that a hand-made table or the provider's own requests know better."""

from collections.abc import Iterator, Mapping

from gateway.effects.derived_rows import DerivedRow, Origin, derived_rows
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
    """The rows that add something: none for an operation with a hand-made row or traced ones, but for tags of further types."""
    for (service, operation), found in rows.items():
        if operation in SERVICES.get(service, {}):
            continue
        traced = {row.resource_type for row in derived_rows(service, operation) if row.origin is Origin.TRACED}
        if not traced:
            yield from found
        elif split(operation).verb in ("Tag", "Untag"):
            yield from (row for row in found if row.resource_type not in traced)
