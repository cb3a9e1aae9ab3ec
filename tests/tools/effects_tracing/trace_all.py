"""Traces many resource types with one running provider, and keeps what each did in a file of its own, so that a broken run can go on."""

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.tools.effects_tracing.endpoints import provider_environment
from tests.tools.effects_tracing.provider import Provider, find_executable
from tests.tools.effects_tracing.stub import Stub
from tests.tools.effects_tracing.tracer import TypeTracer
from tests.tools.effects_tracing.traces import Trace, path_of, read_trace, write_trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which types are traced, and how."""

    types: Sequence[str] = ()
    """Names, or starts of names that end with `*`; all types if empty."""
    variant: int = 1
    """From the second on, what the variants before left out is set where only one of several attributes can be."""
    again: str = ""
    """`failed`: also the types whose traces reached no change; `cut`: also those that were broken off; `all`: all."""
    share: tuple[int, int] = (0, 1)
    """The share of this process, and how many processes share the types."""
    patience: float = 1.0


async def trace_all(directory: Path, selection: Selection) -> int:
    """Trace what is selected and not traced yet, into a directory that is there. Returns how many types were traced. Raises `errors.PluginUnavailable`."""
    stub = Stub()
    await stub.start()
    with tempfile.TemporaryDirectory(prefix="trace-home-") as home:
        provider = Provider(find_executable(), provider_environment(stub.port, home))
        await provider.start()
        traced = 0
        try:
            for name in _selected(directory, selection, provider):
                trace = await _trace(provider, stub, name, selection, directory)
                write_trace(directory, trace)
                traced += 1
                _say(trace)
        finally:
            await provider.close()
            await stub.close()
    return traced


def _selected(directory: Path, selection: Selection, provider: Provider) -> Iterator[str]:
    names = sorted(provider.types)
    if selection.types:
        whole = {name for name in selection.types if not name.endswith("*")}
        starts = tuple(name[:-1] for name in selection.types if name.endswith("*"))
        names = [name for name in names if name in whole or (starts and name.startswith(starts))]
    place, places = selection.share
    for name in names[place::places]:
        path = path_of(directory, name, selection.variant)
        if selection.variant > 1 and not _were_reached(directory, name, selection.variant):
            continue
        if not path.exists() or _is_wanted_again(read_trace(path), selection.again):
            yield name


def _is_wanted_again(trace: Trace, again: str) -> bool:
    match again:
        case "all":
            return True
        case "failed":
            return not trace.summary.reached
        case "cut":
            return trace.summary.reached and trace.summary.create.startswith("cut")
    return False


def _were_reached(directory: Path, name: str, variant: int) -> bool:
    """Whether every variant before was traced and reached a change."""
    before = [path_of(directory, name, each) for each in range(1, variant)]
    return all(path.exists() and read_trace(path).summary.reached for path in before)


def _left_out(directory: Path, name: str, variant: int) -> list[str]:
    """What every variant before left out."""
    summaries = [read_trace(path_of(directory, name, each)).summary for each in range(1, variant)]
    return sorted(set.intersection(*(set(summary.unset) for summary in summaries)))


async def _trace(provider: Provider, stub: Stub, name: str, selection: Selection, directory: Path) -> Trace:
    if not await provider.is_alive(0.1):
        await provider.restart()
    prefer = _left_out(directory, name, selection.variant) if selection.variant > 1 else ()
    tracer = TypeTracer(provider, stub, name, variant=selection.variant, prefer=prefer, patience=selection.patience)
    return await tracer.trace()


def _say(trace: Trace) -> None:
    summary = trace.summary
    marks = f"{'ok' if summary.reached else '--'} {'min' if summary.minimal else '   '}"
    moment = time.strftime("%H:%M:%S")
    why = (summary.reason or summary.create)[:140].replace("\n", " ")
    sys.stdout.write(f"{moment} {summary.resource_type:60} {marks} {summary.seconds:6.1f} s  {why}\n")
    sys.stdout.flush()
