"""Tests in several processes that share one collection: `python -m pytest -p tests.tools.processes --processes 4`.

The tests are collected once, and the processes are forked from the one that collected them. With pytest-xdist each would import and collect everything
for itself: 11.5 s of a processor and 700 MB for each. A process takes the next file when it has ended one. It ends by `_exit`, because Python's own end
frees Wasm modules after their library. Warnings are not handed over, because they are errors here.
"""

import os
import selectors
import signal
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import pytest

_FORK: Final = get_context("fork")
_NUMBER: Final = 4
"""Bytes of a number of a unit in the queue: so few are read or written whole or not at all."""

SHARING: Final = {
    "tests/bench/drift/": "the tiny project",
    "tests/chaos/test_": "forked crashes",
    "tests/clients/": "the gateway of the clients",
    "tests/gateway/attacks/test_row_05.py": "forked gateways",
    "tests/gateway/cli/test_serve.py": "forked gateways",
    "tests/kit/test_forked.py": "forked gateways",
    "tests/ports/test_ledger_archive.py": "forked gateways",
    "tests/ports/test_ledger_processes.py": "forked gateways",
    "tests/reconciler/drift/put_backs/test_workflow.py": "forked gateways",
    "tests/system/test_contention.py": "forked gateways",
    "tests/system/test_crash.py": "forked gateways",
    "tests/system/test_replicas.py": "forked gateways",
    "tests/system/test_rolling_upgrade.py": "forked gateways",
    "tests/reconciler/drift/test_healing.py": "fleet",
    "tests/reconciler/drift/test_replaced_stack.py": "fleet",
    "tests/reconciler/line/": "fleet",
    "tests/reconciler/terraform/": "fleet",
    "tests/reconciler/working_copy/": "fleet",
    "tests/reconciler/suggest/": "Anthropic's client",
    "tests/system/users/": "the users' sentinel up",
}
"""Files that begin so, and what they share: applied stacks and started programs, which take longer than most tests that use them."""


def unit_of(test: str) -> str:
    """The tests that go to one process together with the one of this id: those of its file, or all that share what is dear, so that it is made once."""
    return shared_by(test) or test.partition("::")[0]


def shared_by(test: str) -> str:
    """What is dear that this test shares with tests of other files, or nothing."""
    return next((what for beginning, what in SHARING.items() if test.startswith(beginning)), "")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The one option."""
    parser.addoption(
        "--processes", type=int, default=0, help="how many processes share the tests; 0: this one runs them"
    )


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """The one hook."""
    pluginmanager.add_hookspecs(_Hooks)


class _Hooks:
    def pytest_process_ended(self, output: dict[str, Any]) -> None:
        """A process that ran tests has ended, and plugins left this in its `config.workeroutput`."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests in processes, where they were asked for."""
    if not session.config.getoption("processes") or session.config.option.collectonly or session.testsfailed:
        return None  # pytest's own loop, which also tells errors of the collection
    _Run(session).run(session.config.getoption("processes"))
    return True


class _Passed(NamedTuple):
    """All that differs between the reports of steps of tests that passed and told nothing: one in full takes half as long as a test that does nothing."""

    when: Literal["setup", "call", "teardown"]
    duration: float
    start: float
    stop: float


@dataclass(slots=True, eq=False)
class _Worker:
    process: ForkProcess
    told: Connection
    ends: int
    """Readable when the process has ended, also where children of it hold its end of the pipe."""
    pending: dict[int, None] = field(default_factory=dict)
    """Tests that it has taken and not ended, in the order in which it runs them."""
    last: int = 0
    ended: bool = False


class _Run:
    """The process that collected: it shares out units, and tells what the others report as if the tests had run here."""

    def __init__(self, session: pytest.Session) -> None:
        self.session = session
        units: dict[str, list[int]] = defaultdict(list)
        for number, item in enumerate(session.items):
            units[unit_of(item.nodeid)].append(number)
        self.units = list(units.values())
        self.workers: list[_Worker] = []
        self.waits = selectors.DefaultSelector()
        self.left = set(range(len(session.items)))
        self.started = 0
        # What a process may take next is in a pipe: whoever reads a number has it, and nobody waits for this process.
        self.queue, numbers = os.pipe()
        os.set_blocking(numbers, False)
        os.write(numbers, b"".join(number.to_bytes(_NUMBER) for number in range(len(self.units))))
        os.close(numbers)

    def run(self, processes: int) -> None:
        self.session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined] # its subdirectories are the processes'
        try:
            for _ in range(min(processes, len(self.units))):
                self._start([])
            while self.workers:
                for key, _ in self.waits.select():
                    if key.data in self.workers:  # it may have ended by what came just before
                        self._hear(key.data, over=key.fileobj != key.data.told)
                self._stop_early()
                if not self.workers and self.left:  # taken by a process that ended before it could say so
                    self._start(sorted(self.left))
        finally:
            self._end()

    def _start(self, first: Sequence[int]) -> None:
        hears, tells = _FORK.Pipe(duplex=False)
        self.started += 1
        process = _FORK.Process(target=_work, args=(self, tells, first))
        process.start()
        tells.close()
        worker = _Worker(process, hears, os.pidfd_open(process.pid or 0), dict.fromkeys(first))
        self.workers.append(worker)
        for each in (worker.told, worker.ends):
            self.waits.register(each, selectors.EVENT_READ, worker)

    def _hear(self, worker: _Worker, *, over: bool) -> None:
        """Take one thing that it told, or note that it is over: what it told before its end is taken first."""
        if over and not worker.told.poll():
            self._ended(worker)
            return
        try:
            what, *rest = worker.told.recv()
        except EOFError:
            self._ended(worker)
            return
        hook = self.session.config.hook
        if what == "unit":
            worker.pending |= dict.fromkeys(self.units[rest[0]])
        elif what == "end":
            worker.ended = True
            hook.pytest_process_ended(output=rest[0])
            self._ended(worker)
        else:
            worker.last, reports = rest
            self._report(worker, worker.last, [self._made(worker.last, each) for each in reports])

    def _made(self, number: int, told: "_Passed | dict[str, Any]") -> pytest.TestReport:
        if isinstance(told, dict):
            report = self.session.config.hook.pytest_report_from_serializable(config=self.session.config, data=told)
            assert isinstance(report, pytest.TestReport)
            return report
        item = self.session.items[number]
        return pytest.TestReport(item.nodeid, item.location, {}, "passed", None, told.when, (), *told[1:])

    def _report(self, worker: _Worker, number: int, reports: list[pytest.TestReport]) -> None:
        item, hook = self.session.items[number], self.session.config.hook
        worker.pending.pop(number, None)
        self.left.discard(number)
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in reports:
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _ended(self, worker: _Worker) -> None:
        """A process has ended. If it did so in a test, this has failed, and a new process runs what was left of the unit."""
        worker.process.join()
        self.workers.remove(worker)
        for each in (worker.told, worker.ends):
            self.waits.unregister(each)
        worker.told.close()
        os.close(worker.ends)
        if worker.ended and not worker.pending and not worker.process.exitcode:
            return
        number = next(iter(worker.pending), worker.last)
        item, during = self.session.items[number], "" if worker.pending else " and what it started"
        text = f"The process of this test{during} ended with {worker.process.exitcode} before it had told its end."
        self._report(
            worker,
            number,
            [pytest.TestReport(item.nodeid, item.location, dict.fromkeys(item.keywords, 1), "failed", text, "call")],
        )
        if worker.pending and not (self.session.shouldfail or self.session.shouldstop):
            self._start(list(worker.pending))

    def _stop_early(self) -> None:
        if reason := self.session.shouldfail:
            raise self.session.Failed(reason)
        if reason := self.session.shouldstop:
            raise self.session.Interrupted(reason)

    def _end(self) -> None:
        os.close(self.queue)
        for worker in self.workers:  # only where this run ends early: they stop what they had started
            with suppress(ProcessLookupError):
                os.kill(worker.process.pid or 0, signal.SIGINT)
        for worker in self.workers:
            with suppress(EOFError):
                while True:
                    worker.told.recv()
            worker.process.join()


class _Sender:
    """In a process that tests: keeps the reports of one test."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.reports: list[object] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.passed and not (report.sections or report.user_properties or report.longrepr):
            self.reports.append(_Passed(report.when, report.duration, report.start, report.stop))
            return
        self.reports.append(self.config.hook.pytest_report_to_serializable(config=self.config, report=report))


class _Following:
    """The test after one, as the end of this one needs it: which fixtures does it share? So a long test keeps no unit from the other processes."""

    def __init__(self, items: Sequence[pytest.Item], numbers: Iterator[int]) -> None:
        self.items = items
        self.numbers = numbers

    @cached_property
    def number(self) -> int | None:
        return next(self.numbers, None)

    def __bool__(self) -> bool:
        return self.number is not None

    def listchain(self) -> list[pytest.Item | pytest.Collector]:
        return [] if self.number is None else self.items[self.number].listchain()  # type: ignore[return-value]


def _work(run: _Run, tells: Connection, first: Sequence[int]) -> None:
    """What a process does."""
    # A shell that starts a command in the background has it ignore this signal, and the first process sends it to the others.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    session, config, name = run.session, run.session.config, f"process-{run.started}"
    # By these two, plugins know that another process writes what is told at the end, as they do with pytest-xdist.
    config.workerinput = {"workerid": name}  # type: ignore[attr-defined]
    config.workeroutput = {}  # type: ignore[attr-defined]
    config.pluginmanager.unregister(name="terminalreporter")
    capture = config.pluginmanager.getplugin("capturemanager")
    assert capture is not None
    capture.stop_global_capturing()  # its files are shared with the process that this one was forked from
    capture.start_global_capturing()
    temporary = config._tmp_path_factory  # type: ignore[attr-defined]
    temporary._basetemp = Path(temporary.getbasetemp()) / name
    temporary._basetemp.mkdir(mode=0o700)
    sender = _Sender(config)
    config.pluginmanager.register(sender)
    interrupted = False
    try:
        numbers = _taken(run, tells, first)
        number = next(numbers, None)
        while number is not None:
            following = _Following(session.items, numbers)
            config.hook.pytest_runtest_protocol(item=session.items[number], nextitem=following)
            tells.send(("test", number, sender.reports))
            sender.reports = []
            number = following.number
    except (KeyboardInterrupt, BrokenPipeError):
        interrupted = True
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal tells all processes, and then the first one does
    finally:
        # Only where all is well are directories removed, and that is before what was started ends: a gateway without its ledger never would.
        well = not (interrupted or session.testsfailed)
        status = pytest.ExitCode.OK if well else pytest.ExitCode.TESTS_FAILED
        config.hook.pytest_sessionfinish(session=session, exitstatus=status)
        with suppress(BrokenPipeError):
            tells.send(("end", config.workeroutput))  # type: ignore[attr-defined]
        capture.stop_global_capturing()


def _taken(run: _Run, tells: Connection, first: Sequence[int]) -> Iterator[int]:
    """The numbers of the tests that this process runs. A unit is taken when the one before it has ended."""
    yield from first
    while number := os.read(run.queue, _NUMBER):
        unit = int.from_bytes(number)
        tells.send(("unit", unit))
        yield from run.units[unit]
