"""The commands of the tracer: `python -m tests.tools.effects_tracing trace|derive|exam|figures`; the README beside this file documents them."""

import argparse
import asyncio
import sys
from collections import Counter
from pathlib import Path

import botocore

from gateway.core.derived_rows import DerivedRow, Origin, rows_of_text
from gateway.core.service_models import ServiceModels
from gateway.effects.schema import Schemas, known_schemas
from tests.tools.effects_tracing.called_operations import called_operations
from tests.tools.effects_tracing.derivation import rows_of_type
from tests.tools.effects_tracing.exam import examine, report
from tests.tools.effects_tracing.figures import figures_of_calls, figures_of_rows, figures_of_traces
from tests.tools.effects_tracing.provider import find_executable, version_of
from tests.tools.effects_tracing.renewal import renewed
from tests.tools.effects_tracing.renewal import report as report_of_renewal
from tests.tools.effects_tracing.row_files import DERIVED, replace_rows
from tests.tools.effects_tracing.trace_all import Selection, trace_all
from tests.tools.effects_tracing.traces import read_traces


def main(arguments: list[str]) -> int:
    """Run a command; returns the exit code."""
    given = _parser().parse_args(arguments)
    match given.command:
        case "trace":
            place, _, places = given.share.partition("/")
            selection = Selection(
                types=given.types,
                variant=given.variant,
                again=given.again,
                share=(int(place), int(places)),
                patience=given.patience,
            )
            given.traces.mkdir(parents=True, exist_ok=True)
            asyncio.run(trace_all(given.traces, selection))
        case "derive":
            derive(given.traces, whole=given.whole)
        case "exam":
            exam = examine(row for row in written_rows() if row.origin is Origin.TRACED)
            sys.stdout.write(report(exam))
            return int(bool(exam.contradictions))
        case "figures":
            rows = written_rows()
            sys.stdout.write(figures_of_traces(read_traces(given.traces), len(Schemas())) + figures_of_rows(rows))
            sys.stdout.write(figures_of_calls(called_operations(find_executable()), rows))
    return 0


def derive(traces: Path, *, whole: bool = False) -> None:
    """Derive the rows of the traces that are there, and write them in place of those of the same types; the rows of all other types stay.

    `whole`: every type was traced, so that a type or an operation that no trace shows has no row any more.
    """
    found = {name: each for name, each in read_traces(traces).items() if any(trace.summary.reached for trace in each)}
    schemas = known_schemas(set(found))
    models = ServiceModels()
    rows = [row for name, each in found.items() for row in rows_of_type(each, schemas[name], models)]
    types = None if whole else frozenset(found)
    before = [row for row in written_rows() if row.origin is Origin.TRACED and (whole or row.resource_type in found)]
    renewal = renewed(before, rows, whole=whole)
    sources = {"terraform-provider-aws": version_of(find_executable()), "botocore": botocore.__version__}
    replace_rows(Origin.TRACED, renewal.rows, sources, types=types)
    confidence = Counter(row.confidence.value for row in renewal.rows)
    sys.stdout.write(report_of_renewal(renewal))
    sys.stdout.write(f"{len(renewal.rows)} rows of {len(found)} types: {dict(sorted(confidence.items()))}\n")


def written_rows() -> list[DerivedRow]:
    """The rows of all files of the gateway."""
    return [row for path in sorted(DERIVED.glob("*.json")) for row in rows_of_text(path.stem, path.read_bytes())]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.effects_tracing")
    parser.add_argument("--traces", type=Path, default=Path(".sentinel/effects_traces"), help="directory of the traces")
    commands = parser.add_subparsers(dest="command", required=True)
    trace = commands.add_parser("trace", help="trace the resource types that have no traces yet")
    trace.add_argument("types", nargs="*", help="types, or starts of their names that end with *; all if none is named")
    trace.add_argument("--variant", type=int, default=1, help="2: set what the first variant had to leave out")
    trace.add_argument("--again", choices=("failed", "cut", "all"), default="", help="trace these once more")
    trace.add_argument("--share", default="0/1", help="the part of this process, of several: 0/2, 1/2")
    trace.add_argument("--patience", type=float, default=1.0, help="factor of all times")
    derives = commands.add_parser(
        "derive", help="derive rows from the traces, and write them; rows of types without traces stay"
    )
    derives.add_argument(
        "--whole", action="store_true", help="every type was traced: what no trace shows has no row any more"
    )
    commands.add_parser("exam", help="compare the written rows with those by hand")
    commands.add_parser("figures", help="count")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
