"""What the traces of a type say about one operation: the parameters of each run beside the configuration and the state of that run."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from gateway.core.model.mutation import CallClass
from tests.tools.effects_tracing.columns import Columns, attribute_columns, columns
from tests.tools.effects_tracing.comparison import way
from tests.tools.effects_tracing.traces import Phase, RecordedCall, Run, Trace

_NO_ROWS = {"", CallClass.READ.value, CallClass.SECRET.value}
"""Classes of calls that change nothing, so that no row tells what they change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One run in which the operation was called; several calls of it in that run are seen as one."""

    variant: int
    phase: Phase
    run: str
    place: int
    """The place of its first call among the changing calls of the run."""
    calls: int
    config: Columns
    state: Columns
    """The state before it; for a create, the one after it if it succeeded."""
    parameters: Columns
    misread: frozenset[str] = frozenset()
    """The attributes that were read back with another value than they were created with: the stub made it up."""

    @property
    def changed(self) -> frozenset[str]:
        """The attributes whose values differ between configuration and state."""
        names = self.config.keys() | self.state.keys()
        return frozenset(name for name in names if self.config.get(name) != self.state.get(name))


@dataclass(slots=True, kw_only=True)
class Evidence:
    """All observations of one operation with one type."""

    service: str
    operation: str
    observations: list[Observation] = field(default_factory=list)
    is_unread: bool = False
    """Whether a call of it could not be read, so that parameters are missing."""

    def of(self, *phases: Phase) -> list[Observation]:
        """The observations of these phases."""
        return [each for each in self.observations if each.phase in phases]

    @property
    def parameters(self) -> list[str]:
        """The paths of all parameters that were seen, sorted."""
        return sorted({path for each in self.observations for path in each.parameters})

    @property
    def phases(self) -> frozenset[Phase]:
        """The phases in which it was called."""
        return frozenset(each.phase for each in self.observations)


def evidence_of(traces: Iterable[Trace]) -> Mapping[tuple[str, str], Evidence]:
    """(Service, operation) → the evidence in the traces of one type."""
    found: dict[tuple[str, str], Evidence] = {}
    traces = list(traces)
    misread = frozenset(name for trace in traces for run in trace.runs for name in _misread(run))
    for trace in traces:
        for run in trace.runs:
            _add_run(found, trace.summary.variant, run, misread)
    return found


def _misread(run: Run) -> Iterator[str]:
    """The attributes at the top that a create configured, and that were read back with a value that does not follow from it."""
    if run.phase is not Phase.CREATE:
        return
    for name, given in (run.config or {}).items():
        read = (run.after or {}).get(name)
        if isinstance(given, str) and isinstance(read, str) and given and read and way(given, read) is None:
            yield name


def _add_run(found: dict[tuple[str, str], Evidence], variant: int, run: Run, misread: frozenset[str]) -> None:
    config = attribute_columns(run.config)
    state = attribute_columns(run.after if run.phase is Phase.CREATE else run.state)
    calls: dict[tuple[str, str], list[tuple[int, RecordedCall]]] = defaultdict(list)
    changing = [call for call in run.calls if call.operation and call.call_class not in _NO_ROWS]
    for place, call in enumerate(changing):
        calls[call.service, call.operation].append((place, call))
    for key, each in calls.items():
        evidence = found.setdefault(key, Evidence(service=key[0], operation=key[1]))
        evidence.is_unread |= any(call.problem for _, call in each)
        parameters: dict[str, list[object]] = defaultdict(list)
        for _, call in each:
            for path, values in columns(call.parameters).items():
                parameters[path].extend(value for value in values if value not in parameters[path])
        observation = Observation(
            variant=variant,
            phase=run.phase,
            run=run.run,
            place=each[0][0],
            calls=len(each),
            config=config,
            state=state,
            parameters=parameters,
            misread=misread,
        )
        evidence.observations.append(observation)
