"""The result of the truth run as a table: a line for each service, and the mistakes that no row may make."""

from collections.abc import Mapping, Sequence
from typing import Any

_COLUMNS = (
    "service",
    "types",
    "operations",
    "understood",
    "resource right",
    "right",
    "whole",
    "missed",
    "invented",
    "wrong rows",
)


def table(results: Sequence[Mapping[str, Any]]) -> str:
    """The table of results as `result` makes them."""
    lines = [_line(each["service"], each) for each in results]
    lines.append(_line("all", _sum(results)))
    widths = [max(len(row[column]) for row in [_COLUMNS, *lines]) for column in range(len(_COLUMNS))]
    shown = [_COLUMNS, *lines]
    return "\n".join(
        "  ".join(
            _fit(cell, width, number) for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in shown
    )


def _fit(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column == 0 else cell.rjust(width)


def _line(name: str, result: Mapping[str, Any]) -> tuple[str, ...]:
    scores = result["scores"]
    calls = sum(score["seen"] for score in scores.values())
    understood = sum(score["understood"] for score in scores.values())
    return (
        name,
        str(len(result["types"])),
        str(len(scores)),
        f"{understood}/{calls}",
        f"{sum(score['resource_right'] for score in scores.values())}/{understood}",
        *(str(sum(score[member] for score in scores.values())) for member in ("right", "whole", "missed", "invented")),
        str(len(result["wrong"])),
    )


def _sum(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    scores = {f"{each['service']}/{name}": score for each in results for name, score in each["scores"].items()}
    operations: dict[str, dict[str, int]] = {}
    for name, score in scores.items():
        kept = operations.setdefault(name.partition("/")[2], {})
        for member, value in score.items():
            if isinstance(value, int):
                kept[member] = kept.get(member, 0) + value
    types = sorted({name for each in results for name in each["types"]})
    wrong = [mistake for each in results for mistake in each["wrong"]]
    return {"scores": operations, "types": types, "wrong": wrong}


def told(mistake: Mapping[str, Any]) -> str:
    """A mistake as one sentence."""
    return (
        f"{mistake['kind']} ({mistake['row']} row) {mistake['operation']}: {mistake['address']} {mistake['attribute']}: "
        f"expected {mistake['expected']}, foreseen {mistake['foreseen']} [{mistake['phase']}; {', '.join(mistake['parameters'])}]"
    )
