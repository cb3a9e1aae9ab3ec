"""An answer about creations is right only with its exit code, and with type or event, identity and maker of what is left."""

import json
from typing import Any

import pytest

from tests.bench.drift.answer import Said, expected, fault
from tests.bench.drift.contestants import read_report
from tests.bench.drift.made import Created
from tests.bench.drift.scenario import Change, Creates, Kind, Scenario

_URL = "https://sqs.eu-west-1.amazonaws.com/123456789012/spare"


def _scenario(*, left: bool = True, on: str = "", sees: str = "invisible", maker: str = "") -> Scenario:
    creates = None if sees == "nothing" else Creates(type="aws_sqs_queue", where={"name": "spare"}, import_id=_URL)
    kind = Kind(name="k", sees=sees, calls=[["sqs", "create_queue", {}]], reads=[[]], creates=creates)
    change = Change(kind=kind, on=on, left=left)
    return Scenario(id="p/x", root=".", origin="creation", shape="s", changes=[change], maker=maker)


def _queue(*, left: bool = True) -> Created:
    return Created(
        type="aws_sqs_queue", where={"name": "spare"}, import_id=_URL, names=[_URL, "spare"], events=["CreateQueue"],
        left=left, form="",
    )  # fmt: skip


def _said(*entries: dict[str, Any], code: int = 2) -> Said:
    return read_report(code, json.dumps({"left": list(entries)}), "", 0.0).said


@pytest.mark.parametrize(
    "entry",
    [
        {"address": "aws_sqs_queue", "attribute": "", "reason": f"{_URL} was made by ada."},
        {"event": "CreateQueue", "identity": "spare", "maker": "arn:aws:iam::123456789012:user/ada"},
    ],
)
def test_an_entry_in_any_form_names_what_identity_and_maker(entry: dict[str, Any]) -> None:
    assert fault(_scenario(), [_queue()], _said(entry)) == ""


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "aws_sqs_queue", "identity": "spare", "maker": "metadata"},
        {"type": "aws_sqs_queue", "identity": "spare-2", "maker": "ada"},
        {"type": "aws_sqs_queue_policy", "identity": "spare", "maker": "ada"},
        {"type": "aws_sqs_queue", "maker": "ada"},
    ],
)
def test_an_entry_without_one_of_the_three_is_no_answer(entry: dict[str, Any]) -> None:
    assert "No entry of `left` names aws_sqs_queue (or CreateQueue)" in fault(_scenario(), [_queue()], _said(entry))


def test_the_three_in_two_entries_are_no_answer() -> None:
    halves = ({"type": "aws_sqs_queue", "identity": "spare"}, {"type": "aws_sqs_queue", "maker": "ada"})
    assert fault(_scenario(), [_queue()], _said(*halves))


def test_the_exit_code_has_to_say_it_too() -> None:
    entry = {"type": "aws_sqs_queue", "identity": "spare", "maker": "ada"}
    assert "The exit code is 0 and not 2" in fault(_scenario(), [_queue()], _said(entry, code=0))
    assert "The exit code is 2 and not 0" in fault(_scenario(sees="nothing"), [], _said())


def test_what_is_written_or_leaves_nothing_new_is_not_listed() -> None:
    entry = {"type": "aws_sqs_queue", "identity": "spare", "maker": "ada"}
    linked = _scenario(left=False, on="aws_vpc.main")
    assert fault(linked, [_queue(left=False)], Said()) == ""
    assert "nobody has to see to" in fault(linked, [_queue(left=False)], _said(entry, code=0))
    assert "nobody has to see to" in fault(_scenario(sees="nothing"), [], _said(entry, code=0))


def test_where_nothing_was_created_no_answer_is_asked_for() -> None:
    assert fault(_scenario(sees="plan"), [_queue()], Said()) != ""
    kind = Kind(name="k", sees="plan", calls=[], reads=[])
    drift = Scenario(id="p/x", root=".", origin="human", shape="s", changes=[Change(kind=kind, on="a.b")])
    assert fault(drift, [], Said(code=2)) == ""


@pytest.mark.parametrize("maker", ["", "agent", "runbook"])
def test_the_right_answer_is_right(maker: str) -> None:
    scenario = _scenario(maker=maker)
    assert fault(scenario, [_queue()], expected(scenario, [_queue()])) == ""
    assert expected(scenario, [_queue(left=False)]) == Said()
