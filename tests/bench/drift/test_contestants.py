"""What contestants say is read as they say it; the baselines do what their names say."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bench.drift.contestants import Contestant, block_of, generate, read_report, revert, sentinel
from tests.bench.drift.judge import Grade

DIRECT = "aws_cloudwatch_log_group.direct"


def test_a_report_names_what_is_left() -> None:
    out = json.dumps({"left": [{"address": "aws_x.n", "attribute": "a", "reason": "No edit fits."}], "tokens": 7})
    played = read_report(2, out, "", 1.5)
    assert (played.said.left, played.said.words, played.said.admits) == (["aws_x.n"], "aws_x.n.a: No edit fits.", True)
    assert (played.seconds, played.tokens) == (1.5, 7)


def test_a_report_without_anything_left_claims_that_all_is_written() -> None:
    assert not read_report(0, json.dumps({"left": []}), "", 1.0).said.admits


def test_an_error_is_admitted_with_its_words() -> None:
    said = read_report(1, json.dumps({"code": "x", "detail": "Terraform is missing."}), "", 1.0).said
    assert said.admits
    assert "Terraform is missing." in said.words
    assert "Traceback" in read_report(1, "", "Traceback", 1.0).said.words


def test_a_block_is_found_by_its_address() -> None:
    first = 'resource "aws_x" "a" {\n  b {\n    c = 1\n  }\n}\n'
    assert block_of(f'# note\n{first}\nresource "aws_x" "ab" {{\n}}\n', "aws_x.a") == first
    assert block_of(first, "aws_x.b") == ""


@pytest.mark.long
@pytest.mark.terraform
@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
@pytest.mark.parametrize(
    ("contestant", "grade"),
    [(sentinel, Grade.PASS), (generate, Grade.PASS), (revert, Grade.WRONG)],
)
def test_everyone_plays_as_they_should(
    tiny: Any, change: Callable[..., Any], tmp_path: Path, contestant: Contestant, grade: Grade
) -> None:
    """Sentinel edits the literal; generated configuration is judged like any edit; the revert undoes the drift."""
    with tiny.drifted(change("log-retention", "aws_cloudwatch_log_group.spare", 30), workdir=tmp_path) as checkout:
        said = contestant(checkout.case, checkout.path, tmp_path / "events.json").said
        assert checkout.verdict(left=said.left, words=said.words, admits=said.admits).grade is grade
        if contestant is sentinel:
            assert '"/one/spare"\n  retention_in_days = 30' in (checkout.path / "one/main.tf").read_text()
