"""The printed result: one row per class, shape and visibility, for each contestant."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from statistics import median

from tests.bench.drift.judge import Grade
from tests.bench.drift.play import Result

_HEAD = "| {:<30} | {:>4} | {:>6} | {:>4} | {:>6} | {:>5} | {:>11} | {:>7} | {:>6} |"
_COLUMNS = ("n", "pass@1", "left", "missed", "wrong", "lines/gold", "seconds", "tokens")


def table(results: Sequence[Result]) -> str:
    """All contestants: one line each, then the rows of Sentinel (or of the only one who played) by class, shape and visibility."""
    first = results[0].contestant if results else ""
    own = [result for result in results if result.contestant == first]
    sections = [
        _section("contestant", results, lambda result: result.contestant),
        _section(f"{first}: class", own, lambda result: result.scenario.origin),
        _section(f"{first}: shape", own, lambda result: result.scenario.shape.partition(",")[0]),
        _section(f"{first}: a plan shows", own, lambda result: result.scenario.sees),
        _section(f"{first}: project", own, lambda result: result.scenario.id.partition("/")[0]),
        *_creations(first, own),
        *_of_issue(first, own),
    ]
    return "\n\n".join(sections)


def _creations(first: str, own: Sequence[Result]) -> Iterator[str]:
    """Creations by whether they belong to a resource of the stack, and by what may be written of them."""
    creations = [result for result in own if result.scenario.creations]
    if creations:
        yield _section(f"{first}: created", creations, _created)


def _of_issue(first: str, own: Sequence[Result]) -> Iterator[str]:
    """The scenarios that issue 22 added, by its classes, in their order."""
    added = [result for result in own if result.scenario.issue_class]
    if added:
        numbered = sorted(added, key=lambda result: result.scenario.issue_class.zfill(2))
        yield _section(f"{first}: class of issue 22", numbered, lambda result: result.scenario.issue_class)


def row(name: str, results: Sequence[Result]) -> str:
    """One row: shares and medians of these results."""
    grades = [result.verdict.grade for result in results]
    passed = [result for result in results if result.verdict.grade is Grade.PASS and result.gold_lines]
    lines = f"{_mean([r.verdict.lines for r in passed])}/{_mean([r.gold_lines for r in passed])}" if passed else "-"
    return _HEAD.format(
        name,
        len(results),
        f"{grades.count(Grade.PASS) / len(results):.3f}",
        grades.count(Grade.LEFT),
        grades.count(Grade.MISSED),
        grades.count(Grade.WRONG),
        lines,
        f"{median(result.seconds for result in results):.1f}",
        sum(result.tokens for result in results),
    )


def _created(result: Result) -> str:
    adopt = result.scenario.adopt
    return result.scenario.creations + (f", --adopt {adopt}" if adopt else "")


def _section(title: str, results: Sequence[Result], key: Callable[[Result], str]) -> str:
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        groups[key(result)].append(result)
    return "\n".join(_rows(title, groups))


def _rows(title: str, groups: dict[str, list[Result]]) -> Iterator[str]:
    yield _HEAD.format(title, *_COLUMNS)
    yield "|" + "|".join("-" * len(cell) for cell in _HEAD.format(title, *_COLUMNS).split("|")[1:-1]) + "|"
    for name, results in groups.items():
        yield row(name, results)


def _mean(values: Sequence[int]) -> str:
    return f"{sum(values) / len(values):.1f}"
