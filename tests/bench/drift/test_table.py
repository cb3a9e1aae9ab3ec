"""The table counts what was judged."""

from typing import Any

from tests.bench.drift.judge import Grade, Verdict
from tests.bench.drift.play import Result
from tests.bench.drift.scenario import Replacement, Scenario
from tests.bench.drift.table import row, table


def _result(grade: Grade, *, lines: int = 2, contestant: str = "sentinel", **more: Any) -> Result:
    given: dict[str, Any] = {"id": "flat/x", "root": ".", "origin": "human", "shape": "literal", "changes": ()}
    scenario = Scenario(**{**given, "changes": _CHANGES, "gold": [Replacement(file="a", old="b", new="c")], **more})
    verdict = Verdict(grade=grade, lines=lines)
    return Result(contestant=contestant, scenario=scenario, verdict=verdict, seconds=2.0, tokens=0, gold_lines=2)


class _Seen:
    class kind:  # noqa: N801  stands for a Kind
        sees = "plan"
        creates = None


_CHANGES: Any = (_Seen(),)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")[1:-1]]


def test_a_row_counts_every_grade() -> None:
    results = [_result(grade) for grade in (Grade.PASS, Grade.PASS, Grade.LEFT, Grade.MISSED)] + [
        _result(Grade.WRONG, lines=9)
    ]
    assert _cells(row("all", results)) == ["all", "5", "0.400", "1", "1", "1", "2.0/2.0", "2.0", "0"]


def test_the_first_contestant_is_shown_by_class_shape_and_visibility() -> None:
    results = [
        _result(Grade.PASS),
        _result(Grade.LEFT, origin="runbook", shape="block"),
        _result(Grade.WRONG, contestant="plan-and-revert"),
    ]
    text = table(results)
    rows = {cells[0]: cells[1:3] for line in text.splitlines() if len(cells := _cells(line)) > 2}
    assert rows["sentinel"] == ["2", "0.500"]
    assert rows["plan-and-revert"] == ["1", "0.000"]
    assert rows["human"] == ["1", "1.000"]
    assert rows["block"] == ["1", "0.000"]
    assert rows["plan"] == ["2", "0.500"]
    assert rows["flat"] == ["2", "0.500"]


class _New:
    class kind:  # noqa: N801  stands for a Kind
        sees = "invisible"
        creates = True

    on = ""


def test_creations_are_counted_by_what_they_belong_to_and_what_is_to_be_written() -> None:
    results = [
        _result(Grade.PASS, changes=(_New(),)),
        _result(Grade.MISSED, changes=(_New(),)),
        _result(Grade.LEFT, changes=(_New(),), adopt="all"),
        _result(Grade.PASS),
    ]
    text = table(results).partition("sentinel: created")[2]
    rows = {cells[0]: cells[1:3] for line in text.splitlines() if len(cells := _cells(line)) > 2}
    assert rows["unlinked"] == ["2", "0.500"]
    assert rows["unlinked, --adopt all"] == ["1", "0.000"]
    assert [name for name in rows if "linked" in name] == ["unlinked", "unlinked, --adopt all"]


def test_what_issue_22_added_is_counted_by_its_classes_in_their_order() -> None:
    results = [
        _result(Grade.PASS, issue_class="10"),
        _result(Grade.PASS, issue_class="2"),
        _result(Grade.LEFT, issue_class="2"),
        _result(Grade.WRONG),
    ]
    text = table(results).partition("class of issue 22")[2]
    rows = [cells[:3] for line in text.splitlines() if len(cells := _cells(line)) > 2 and cells[0].isdigit()]
    assert rows == [["2", "2", "0.500"], ["10", "1", "1.000"]]
