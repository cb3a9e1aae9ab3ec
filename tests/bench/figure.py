"""One figure, as one JSON object on one line: `name, value, unit, floor, ratio, n`."""

import json
from collections.abc import Sequence


def show(name: str, value: float, unit: str, *, floor: float | None = None, n: int) -> None:
    """Print a figure. `floor` is what was measured beside it in the same run, in the same unit; None where nothing compares."""
    ratio = round(value / floor, 3) if floor else None
    shown = {
        "name": name,
        "value": round(value, 4),
        "unit": unit,
        "floor": None if floor is None else round(floor, 4),
        "ratio": ratio,
        "n": n,
    }
    print(json.dumps(shown), flush=True)


def quantile(values: Sequence[float], part: float) -> float:
    """The value below which `part` of them lie."""
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]
