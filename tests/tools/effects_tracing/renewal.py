"""What becomes of the rows that are written when types are traced again: nothing that an earlier trace saw is lost because a later one saw less."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from gateway.core.derived_rows import Confidence, DerivedRow

_ORDER = (Confidence.ATTRIBUTES, Confidence.RESOURCE, Confidence.TYPE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewal:
    """The rows of the types that were traced again, beside those that stood there before."""

    rows: tuple[DerivedRow, ...]
    """The rows to write: all that were derived now, and those of operations that only the earlier traces saw."""
    unseen: tuple[DerivedRow, ...]
    """The rows of operations that the traces of now do not show."""
    less_sure: tuple[tuple[DerivedRow, DerivedRow], ...]
    """The rows that are less certain now, each after the one that it replaces."""
    surer: tuple[tuple[DerivedRow, DerivedRow], ...]


def renewed(before: Iterable[DerivedRow], now: Collection[DerivedRow], *, whole: bool = False) -> Renewal:
    """Compare the rows of the same types and the same origin. `whole`: what the traces of now do not show is forgotten."""
    by_key = {_key(row): row for row in now}
    unseen: list[DerivedRow] = []
    less_sure: list[tuple[DerivedRow, DerivedRow]] = []
    surer: list[tuple[DerivedRow, DerivedRow]] = []
    for row in before:
        found = by_key.get(_key(row))
        if found is None:
            unseen.append(row)
        elif _ORDER.index(found.confidence) > _ORDER.index(row.confidence):
            less_sure.append((row, found))
        elif found.confidence is not row.confidence:
            surer.append((row, found))
    return Renewal(rows=(*now, *(() if whole else unseen)), unseen=(*unseen,), less_sure=(*less_sure,), surer=(*surer,))


def report(renewal: Renewal) -> str:
    """The difference as text: counts, and a line for each row that was lost or is less certain."""
    unseen, less, surer = len(renewal.unseen), len(renewal.less_sure), len(renewal.surer)
    lines = [
        f"rows of operations that the traces do not show: {unseen}, that are less certain: {less}, that are surer: {surer}"
    ]
    lines += [f"  not seen: {_name(row)} ({row.confidence})" for row in renewal.unseen]
    lines += [
        f"  less certain: {_name(now)}: {before.confidence} → {now.confidence}, unexplained {', '.join(sorted(now.unexplained)) or 'nothing'}"
        for before, now in renewal.less_sure
    ]
    return "\n".join(lines) + "\n"


def _key(row: DerivedRow) -> tuple[str, str, str]:
    return row.service, row.operation, row.resource_type


def _name(row: DerivedRow) -> str:
    return f"{row.service}:{row.operation} of {row.resource_type}"
