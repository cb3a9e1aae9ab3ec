"""The reconciler's own work on real amounts of code: `python -m tests.bench rewrite`, one JSON object a figure.

Two values are written back into code of 300 and of 3,000 resources: one that a shared local decides, or that only a literal far away can
hold, and one tag. It reads the code, traces, edits, and shows what else each candidate would change. No Terraform runs. The value is
the processor time in a process that has loaded its modules, `growth` the time of 3,000 resources over that of 300: 10 is linear.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from reconciler.model import Wanted
from reconciler.rewrite.value_edits import edit_values
from tests.bench.figure import show
from tests.bench.real_code import write_flat, write_map, write_modules

SIZES = (300, 3000)
ROUNDS = 3
SHAPES: dict[str, tuple[Callable[[Path, int], str], str, int]] = {
    "flat": (write_flat, "delay_seconds", 33),
    "map": (write_map, "visibility_timeout_seconds", 77),
    "modules": (write_modules, "delay_seconds", 99),
}
"""By style: the code, and an attribute with the value to write."""


def main() -> None:
    """Measure and print."""
    for shape, (write, attribute, value) in SHAPES.items():
        spent = {size: _spent(write, size, attribute, value) for size in SIZES}
        small, large = SIZES
        show(f"rewrite.{shape}.{small}", spent[small], "ms", n=ROUNDS)
        show(f"rewrite.{shape}.{large}", spent[large], "ms", floor=spent[small], n=ROUNDS)


def _spent(write: Callable[[Path, int], str], size: int, attribute: str, value: int) -> float:
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        address = write(root, size)
        wanted = [
            Wanted(address=address, attribute=attribute, value=value),
            Wanted(address=address, attribute="tags.Owner", value="team-other"),
        ]
        return statistics.median(_once(root, wanted) for _ in range(ROUNDS))


def _once(root: Path, wanted: list[Wanted]) -> float:
    began = time.process_time()
    result = edit_values(root, wanted)
    spent = time.process_time() - began
    assert len({each.wanted.key for each in result.edits}) + len(result.left) == len(wanted), result
    return spent * 1000


if __name__ == "__main__":
    main()
