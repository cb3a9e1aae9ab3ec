"""A plan's machine-readable output becomes its exit code, its changes and one sentence."""

import json
import os
from pathlib import Path

import pytest

from tests.bench.drift.terraform import Ran, Tool, environment_for, read_plan, read_wanted


def _line(**members: object) -> str:
    return json.dumps({"@level": "info", **members})


def test_changes_outputs_and_errors_are_read() -> None:
    change = {"resource": {"addr": "aws_x.n"}, "action": "update"}
    out = "\n".join(
        [
            "Warning: not JSON",
            _line(type="resource_drift", change={"resource": {"addr": "aws_x.other"}, "action": "update"}),
            _line(type="planned_change", change=change),
            _line(type="outputs", outputs={"a": {"action": "update"}, "b": {"action": "noop"}}),
        ]
    )
    plan = read_plan(Ran(code=2, out=out))
    assert plan.changes == {"aws_x.n": "update"}
    assert plan.text == "aws_x.n (update); output a"
    assert not plan.clean


def test_what_is_imported_is_known_also_where_it_is_changed_too() -> None:
    changes = [
        {"resource": {"addr": "aws_x.a"}, "action": "import", "importing": {"id": "a"}},
        {"resource": {"addr": "aws_x.b"}, "action": "update", "importing": {"id": "b"}},
        {"resource": {"addr": "aws_x.c"}, "action": "update"},
    ]
    out = "\n".join(_line(type="planned_change", change=change) for change in changes)
    assert read_plan(Ran(code=2, out=out)).imported == {"aws_x.a", "aws_x.b"}


def test_an_error_is_its_sentence() -> None:
    diagnostic = {"summary": "No such file", "detail": "It is gone."}
    plan = read_plan(Ran(code=1, out=json.dumps({"@level": "error", "type": "diagnostic", "diagnostic": diagnostic})))
    assert (plan.code, plan.text, plan.clean) == (1, "No such file: It is gone.", False)


def test_what_a_plan_would_set_is_read_to_the_value() -> None:
    change = {"actions": ["update"], "before": {"a": 1, "b": 2}, "after": {"a": 1, "b": [3]}}
    same = {"actions": ["no-op"], "before": {"a": 1}, "after": {"a": 1}}
    document = {
        "resource_changes": [{"address": "aws_x.n", "change": change}, {"address": "aws_x.m", "change": same}],
        "output_changes": {"o": {"actions": ["update"], "before": 1, "after": 2}},
    }
    assert read_wanted(document) == {("aws_x.n", "b"): "[3]", ("output", "o"): "2"}


def test_a_command_that_does_not_end_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.bench.drift.terraform._LONGEST_SECONDS", 0.01)
    program = tmp_path / "terraform"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    plan = Tool(environment={"PATH": os.environ["PATH"]}).plan(tmp_path)
    assert (plan.code, plan.text) == (1, "terraform plan had not ended after 0.01 s.")


def test_no_key_of_an_llm_reaches_a_contestant(tmp_path: Path, monkeypatch: object) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")  # type: ignore[attr-defined]
    environment = environment_for("http://127.0.0.1:1", tmp_path)
    assert not [name for name in environment if "ANTHROPIC" in name]
    assert environment["AWS_ENDPOINT_URL"] == "http://127.0.0.1:1"
