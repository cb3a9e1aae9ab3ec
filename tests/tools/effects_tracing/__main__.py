"""The commands of the tracer: `python -m tests.tools.effects_tracing trace|derive|exam|figures`; the README beside this file documents them."""

import argparse
import asyncio
import sys
from collections import Counter
from pathlib import Path

import botocore

from gateway.core.service_models import ServiceModels
from gateway.effects.derived_rows import DerivedRow, Origin, rows_of_text
from gateway.effects.schema import Schemas, known_schemas
from tests.tools.effects_tracing.called_operations import called_operations
from tests.tools.effects_tracing.derivation import rows_of_type
from tests.tools.effects_tracing.exam import examine, report
from tests.tools.effects_tracing.figures import figures_of_calls, figures_of_rows, figures_of_traces
from tests.tools.effects_tracing.provider import find_executable, version_of
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
            derive(given.traces)
        case "exam":
            exam = examine(row for row in written_rows() if row.origin is Origin.TRACED)
            sys.stdout.write(report(exam))
            return int(bool(exam.contradictions))
        case "figures":
            rows = written_rows()
            sys.stdout.write(figures_of_traces(read_traces(given.traces), len(Schemas())) + figures_of_rows(rows))
            sys.stdout.write(figures_of_calls(called_operations(find_executable()), rows))
    return 0


def derive(traces: Path) -> None:
    """Derive the rows of all traces and write them into the files of the gateway."""
    found = read_traces(traces)
    schemas = known_schemas(set(found))
    models = ServiceModels()
    rows = [row for name, each in found.items() for row in rows_of_type(each, schemas[name], models)]
    sources = {"terraform-provider-aws": version_of(find_executable()), "botocore": botocore.__version__}
    replace_rows(Origin.TRACED, rows, sources)
    confidence = Counter(row.confidence.value for row in rows)
    sys.stdout.write(f"{len(rows)} rows of {len(found)} types: {dict(sorted(confidence.items()))}\n")


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
    commands.add_parser("derive", help="derive rows from the traces, and write them")
    commands.add_parser("exam", help="compare the written rows with those by hand")
    commands.add_parser("figures", help="count")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
