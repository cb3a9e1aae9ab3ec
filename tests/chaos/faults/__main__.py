"""Print the fail-closed matrix: `python -m tests.chaos.faults [PLACE …]`. Exits with 1 unless every cell is as it must be."""

import asyncio
import logging
import sys
import tempfile
from pathlib import Path

import structlog

from tests.chaos.faults.matrix import PLACES, Cell, play
from tests.chaos.faults.proxy import Fault


async def _row(place: str) -> list[Cell]:
    cells = []
    with tempfile.TemporaryDirectory(prefix="sentinel-faults-") as directory:
        async for cell in play(Path(directory), place):
            print(f"| {cell.place} | {cell.fault} | {cell.seen} | {'; '.join(cell.problems) or 'holds'} |", flush=True)
            cells.append(cell)
    return cells


def main() -> int:
    """Play the places whose names hold one of the arguments, or all."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    wanted = [place for place in PLACES if not sys.argv[1:] or any(part in place for part in sys.argv[1:])]
    print("| Place | Fault | Seen | |\n|---|---|---|---|", flush=True)
    cells = [cell for place in wanted for cell in asyncio.run(_row(place))]
    held = sum(not cell.problems for cell in cells)
    print(f"\n{held} of {len(wanted) * len(Fault)} hold")
    return int(held != len(wanted) * len(Fault))


if __name__ == "__main__":
    sys.exit(main())
