"""What the tests cost, by file and by test: `python -m pytest -p tests.tools.costs …`, as a table of processor and wall time after the summary.

Processor time is user and system time of the process that tests and of its children, once these have ended. So a machine that does other work beside changes
little, and a gateway that a session shares is counted where the session stops it. Fixtures and pytest's own work are in it. `--costs-file` names a file
that gets a line a test as it ends, so a run that was interrupted tells too.
"""

import resource
import time
from collections import defaultdict
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

_FILES: Final = 1_000
_TESTS: Final = 100


class Cost(NamedTuple):
    """Seconds, and of how many tests."""

    processor: float
    wall: float
    tests: int = 0

    def __add__(self, other: "Cost") -> "Cost":  # type: ignore[override] # a sum, not a longer tuple
        """Both together."""
        return Cost(self.processor + other.processor, self.wall + other.wall, self.tests + other.tests)


def table(tests: dict[str, Cost], collected: Cost) -> Iterable[str]:
    """The lines of the report, the most expensive first. `tests` by the test's id, `collected` until the first test."""
    files: dict[str, Cost] = defaultdict(lambda: Cost(0, 0))
    for name, cost in tests.items():
        files[name.partition("::")[0]] += cost
    total = sum(files.values(), Cost(0, 0))
    yield f"{'processor':>10} {'wall':>9} {'tests':>6}"
    yield _line("start and collection", collected)
    yield _line("tests", total)
    yield _line("all", collected + total)
    for heading, costs, most in (("files", files, _FILES), ("tests", tests, _TESTS)):
        yield f"The most expensive {heading}:"
        yield from (
            _line(name, cost) for name, cost in sorted(costs.items(), key=lambda each: -each[1].processor)[:most]
        )


def _line(name: str, cost: Cost) -> str:
    return f"{cost.processor:>9.2f}s {cost.wall:>8.2f}s {cost.tests or '':>6} {name}"


def _now() -> Cost:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return Cost(sum(each.ru_utime + each.ru_stime for each in used), time.monotonic())


def _since(start: Cost) -> Cost:
    now = _now()
    return Cost(now.processor - start.processor, now.wall - start.wall)


class _Costs:
    """One process measures; with `--processes`, the one that starts the others adds up what they hand back."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.tests: dict[str, Cost] = {}
        self.collected = Cost(0, 0)
        self._started = time.monotonic()
        self._last: Cost | None = None

    def pytest_collection_finish(self) -> None:
        now = _now()
        self.collected = Cost(now.processor, now.wall - self._started)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        started = self._last or _now()
        try:
            return (yield)
        finally:
            # From the end of the test before: what is between tests belongs to them. Waiting for work does not.
            cost = self.tests[item.nodeid] = _since(started)._replace(tests=1)
            if self.file:
                with self.file.open("a") as lines:
                    lines.write(f"{_line(item.nodeid, cost)}\n")
            self._last = _now()

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        handed = getattr(session.config, "workeroutput", None)
        if handed is not None:
            handed["costs"] = {name: list(cost) for name, cost in self.tests.items()}

    @pytest.hookimpl(optionalhook=True)
    def pytest_process_ended(self, output: dict[str, Any]) -> None:
        self.tests |= {name: Cost(*cost) for name, cost in output["costs"].items()}

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("costs")
        for line in table(self.tests, self.collected):
            terminalreporter.write_line(line)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The one option."""
    parser.addoption("--costs-file", type=Path)


def pytest_configure(config: pytest.Config) -> None:
    """Register the measurement."""
    config.pluginmanager.register(_Costs(config.getoption("costs_file")), "costs")
