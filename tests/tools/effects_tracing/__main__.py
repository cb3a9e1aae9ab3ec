"""The commands of the tracer: `python -m tests.tools.effects_tracing trace|derive|exam`; the README beside this file documents them."""

import argparse
import asyncio
import sys
from pathlib import Path

from tests.tools.effects_tracing.trace_all import Selection, trace_all


def main(arguments: list[str]) -> int:
    """Run a command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.effects_tracing", description=__doc__)
    parser.add_argument("--traces", type=Path, default=Path(".sentinel/effects_traces"), help="directory of the traces")
    commands = parser.add_subparsers(dest="command", required=True)
    trace = commands.add_parser("trace", help="trace resource types that have no traces yet")
    trace.add_argument("types", nargs="*", help="types, or starts of their names that end with *")
    trace.add_argument("--variant", type=int, default=1)
    trace.add_argument("--again", choices=("failed", "cut", "all"), default="")
    trace.add_argument("--share", default="0/1", help="the part of this process: 0/2, 1/2")
    trace.add_argument("--patience", type=float, default=1.0)
    given = parser.parse_args(arguments)
    if given.command == "trace":
        place, _, places = given.share.partition("/")
        selection = Selection(
            types=given.types,
            variant=given.variant,
            again=given.again,
            share=(int(place), int(places)),
            patience=given.patience,
        )
        asyncio.run(trace_all(given.traces, selection))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
