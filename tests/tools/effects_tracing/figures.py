"""The figures of tracing: types reached, operations, rows by confidence, and how many of the operations that the provider calls are known."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from gateway.aws.models import call_classes
from gateway.core.derived_rows import Confidence, DerivedRow
from gateway.core.model.mutation import CallClass
from gateway.effects.registry import SERVICES
from tests.tools.effects_tracing.traces import Trace

Key = tuple[str, str]
"""Service and operation."""
_KNOWN = (Confidence.ATTRIBUTES, Confidence.RESOURCE)


def figures_of_traces(traces: Mapping[str, Sequence[Trace]], types: int) -> str:
    """How many of the provider's types were traced, and with how much of their configuration. `types` is how many it has."""
    reached = {name: each for name, each in traces.items() if any(trace.summary.reached for trace in each)}
    settable = {name: set(each[0].summary.is_set) | set(each[0].summary.unset) for name, each in reached.items()}
    done = {name: {path for trace in each for path in trace.summary.is_set} for name, each in reached.items()}
    share = sum(map(len, done.values())) / max(1, sum(map(len, settable.values())))
    variants = Counter(trace.summary.variant for each in traces.values() for trace in each)
    cut = sum(each[0].summary.create.startswith("cut") for each in reached.values())
    return (
        f"types of the provider: {types}, traced: {len(traces)}, reached a change: {len(reached)}\n"
        f"runs per variant: {dict(sorted(variants.items()))}; creates that were cut in a waiter: {cut}\n"
        f"leaf attributes set in a variant: {share:.0%}\n"
    )


def figures_of_rows(rows: Collection[DerivedRow]) -> str:
    """How many rows there are, by origin and confidence."""
    lines = []
    for origin in sorted({row.origin for row in rows}):
        own = [row for row in rows if row.origin is origin]
        operations = {(row.service, row.operation) for row in own}
        confidence = Counter(row.confidence.value for row in own)
        mappings = sum(len(row.attributes) for row in own)
        lines.append(
            f"origin {origin.value}: {len(own)} rows {dict(confidence)}, {len(operations)} operations of "
            f"{len({service for service, _ in operations})} services, {len({row.resource_type for row in own})} types\n"
            f"  mappings of attributes: {mappings}, of identity: {sum(len(row.identity) for row in own)}, removals: "
            f"{sum(len(row.removes) for row in own)}, constants: {sum(len(row.constants) for row in own)}, controls: "
            f"{sum(len(row.controls) for row in own)}, unexplained parameters: {sum(len(row.unexplained) for row in own)}\n"
        )
    return "".join(lines)


def figures_of_calls(called: Iterable[Key], rows: Collection[DerivedRow]) -> str:
    """How many of the mutating operations that the provider's code calls are known: by hand-made rows, and by derived ones.

    An operation is known if each of its rows of the best origin is certain of the resource, exact if each is certain of the attributes.
    """
    classes = call_classes.shipped()
    mutating = {key for key in called if classes.of(*key) not in (CallClass.READ, CallClass.SECRET)}
    hand = {(service, operation) for service, table in SERVICES.items() for operation in table} & mutating
    by_operation: dict[Key, list[DerivedRow]] = defaultdict(list)
    for row in rows:
        by_operation[row.service, row.operation].append(row)
    lines = [f"mutating operations that the provider calls: {len(mutating)}, with a row by hand: {len(hand)}\n"]
    for origins in ("traced", "traced model learned"):
        named = {key: [row for row in each if row.origin.value in origins] for key, each in by_operation.items()}
        found = {key for key in mutating if named.get(key)}
        known = {key for key in found if any(row.confidence in _KNOWN for row in named[key])}
        exact = {key for key in found if any(row.confidence is Confidence.ATTRIBUTES for row in named[key])}
        strict = {key for key in exact if all(row.confidence is Confidence.ATTRIBUTES for row in named[key])}
        lines.append(
            f"  rows of {origins}: seen {_share(found, mutating)}; with those by hand: type known {_share(found | hand, mutating)}, "
            f"resource known {_share(known | hand, mutating)}, attributes exact {_share(exact | hand, mutating)} "
            f"(for each of its types {_share(strict | hand, mutating)})\n"
        )
    return "".join(lines)


def _share(part: Collection[Key], whole: Collection[Key]) -> str:
    return f"{len(part)} ({len(part) / max(1, len(whole)):.0%})"
