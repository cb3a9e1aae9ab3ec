"""The judge fails every kind of wrong edit, each made on purpose, and passes the right one."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.bench.drift.judge import Grade
from tests.bench.drift.made import client

pytestmark = [pytest.mark.terraform, pytest.mark.slow, pytest.mark.long, pytest.mark.allow_hosts(["127.0.0.1"])]

DIRECT = "aws_cloudwatch_log_group.direct"
MAIN = "one/main.tf"
HERE = '"/one/direct"\n  retention_in_days = 7'
"""The literal that declares what drifts in most tests."""


@pytest.fixture
def drifted(tiny: Any, change: Callable[..., Any], tmp_path: Path) -> Any:
    """A checkout whose log group keeps its events for 30 days instead of 7."""
    with tiny.drifted(change("log-retention", DIRECT, 30), workdir=tmp_path) as checkout:
        yield checkout


def _right(drifted: Any) -> None:
    drifted.edit(MAIN, HERE, HERE.replace("7", "30"))


def test_the_right_edit_with_a_refreshed_state_passes(drifted: Any) -> None:
    _right(drifted)
    drifted.refresh()
    verdict = drifted.verdict()
    assert (verdict.grade, verdict.reason, verdict.lines) == (Grade.PASS, "", 2)


def test_an_output_that_still_has_the_old_value_is_wrong(drifted: Any) -> None:
    _right(drifted)
    verdict = drifted.verdict()
    assert verdict.grade is Grade.WRONG
    assert "output days" in verdict.reason


def test_a_wrong_value_is_wrong(drifted: Any) -> None:
    drifted.edit(MAIN, HERE, HERE.replace("7", "90"))
    drifted.refresh()
    verdict = drifted.verdict()
    assert verdict.grade is Grade.WRONG
    assert DIRECT in verdict.reason


def test_another_value_that_moves_too_is_wrong(drifted: Any) -> None:
    _right(drifted)
    drifted.edit(MAIN, '"/one/spare"\n  retention_in_days = 7', '"/one/spare"\n  retention_in_days = 30')
    drifted.refresh()
    verdict = drifted.verdict()
    assert verdict.grade is Grade.WRONG
    assert "aws_cloudwatch_log_group.spare (update)" in verdict.reason


def test_ignore_changes_is_wrong_although_the_plan_is_clean(drifted: Any) -> None:
    drifted.edit(MAIN, HERE, HERE + "\n\n  lifecycle {\n    ignore_changes = [retention_in_days]\n  }")
    drifted.refresh()
    verdict = drifted.verdict()
    assert (verdict.grade, verdict.reason) == (Grade.WRONG, "It added ignore_changes.")


def test_code_that_is_not_formatted_is_wrong(drifted: Any) -> None:
    drifted.edit(MAIN, HERE, '"/one/direct"\n  retention_in_days =   30')
    verdict = drifted.verdict()
    assert verdict.grade is Grade.WRONG
    assert "not formatted" in verdict.reason


def test_a_file_of_another_module_is_wrong(drifted: Any) -> None:
    _right(drifted)
    drifted.edit("modules/log/main.tf", 'variable "name" {', '# a note\nvariable "name" {')
    verdict = drifted.verdict()
    assert (verdict.grade, verdict.reason) == (
        Grade.WRONG,
        "modules/log/main.tf is not a file of the modules of what drifted.",
    )


def test_code_that_does_not_parse_is_wrong(drifted: Any) -> None:
    drifted.edit(MAIN, HERE, '"/one/direct"\n  retention_in_days = ')
    assert drifted.verdict().grade is Grade.WRONG


def test_a_state_that_forgot_a_resource_is_wrong(drifted: Any) -> None:
    block = 'resource "aws_cloudwatch_log_group" "direct" {\n  name              = "/one/direct"\n  retention_in_days = 7\n}\n\n'
    drifted.edit(MAIN, block, "")
    drifted.edit(MAIN, '\noutput "days" {\n  value = aws_cloudwatch_log_group.direct.retention_in_days\n}\n', "")
    drifted.case.drifted.must(drifted.path / "one", "state", "rm", DIRECT)
    verdict = drifted.verdict()
    assert verdict.grade is Grade.WRONG
    assert "dropped" in verdict.reason


def test_undoing_the_drift_is_wrong(drifted: Any) -> None:
    logs = client("logs", drifted.case.endpoint)
    logs.put_retention_policy(logGroupName="/one/direct", retentionInDays=7)
    verdict = drifted.verdict()
    assert verdict.grade is Grade.WRONG
    assert "live values" in verdict.reason


def test_leaving_it_is_left_if_it_is_said_and_missed_if_not(drifted: Any) -> None:
    assert drifted.verdict(admits=True, words="No edit fits.").grade is Grade.LEFT
    assert drifted.verdict().grade is Grade.MISSED


def test_a_vendored_module_is_not_edited(tiny: Any, change: Callable[..., Any], tmp_path: Path) -> None:
    drift = change("log-retention", "module.app.aws_cloudwatch_log_group.this", 30)
    with tiny.drifted(drift, workdir=tmp_path, frozen=["modules"]) as checkout:
        checkout.edit("modules/log/main.tf", "default = 14", "default = 30")
        verdict = checkout.verdict()
    assert verdict.grade is Grade.WRONG
    assert "modules/log/main.tf is not" in verdict.reason


def test_an_edit_that_reaches_another_root_is_wrong(tiny: Any, change: Callable[..., Any], tmp_path: Path) -> None:
    drift = change("log-retention", "module.app.aws_cloudwatch_log_group.this", 30)
    with tiny.drifted(drift, workdir=tmp_path) as checkout:
        checkout.edit("modules/log/main.tf", "default = 14", "default = 30")
        checkout.refresh()
        verdict = checkout.verdict()
    assert verdict.grade is Grade.WRONG
    assert "The plan of two exits 2" in verdict.reason


def test_a_value_that_must_stay_out_passes_only_if_it_stays_out(
    tiny: Any, change: Callable[..., Any], tmp_path: Path
) -> None:
    with tiny.drifted(change("log-retention", DIRECT, 30), workdir=tmp_path, out=True) as checkout:
        assert checkout.verdict(admits=True).grade is Grade.PASS
        _right(checkout)
        assert checkout.verdict().grade is Grade.WRONG


def test_what_must_stay_out_passes_only_with_the_words_that_a_human_needs(
    tiny: Any, change: Callable[..., Any], tmp_path: Path
) -> None:
    drift = change("log-retention", DIRECT, 30)
    with tiny.drifted(drift, workdir=tmp_path, out=True, says=["variables.tf"]) as checkout:
        assert checkout.verdict().grade is Grade.MISSED
        assert checkout.verdict(admits=True, words="No edit fits.").grade is Grade.LEFT
        assert checkout.verdict(words="variables.tf:3 refuses it.").grade is Grade.MISSED
        assert checkout.verdict(admits=True, words="variables.tf:3 refuses it.").grade is Grade.PASS
        assert checkout.verdict(admits=True, entries=["variables.tf:3"]).grade is Grade.PASS


_POLICY = '{"Version":"2012-10-17","Id":"tiny","Statement":[{"Effect":"Allow","Principal":"*","Action":"kms:*","Resource":"*"}]}'


def test_a_silent_value_has_to_be_in_the_code(tiny: Any, change: Callable[..., Any], tmp_path: Path) -> None:
    """The plan is clean whatever the code says, so a clean plan alone proves nothing here."""
    with tiny.drifted(change("key-policy-unset", "aws_kms_key.main", _POLICY), workdir=tmp_path) as checkout:
        line = "  deletion_window_in_days = 7\n"
        checkout.edit(MAIN, line, f"{line}  # A note is an edit too.\n")
        assert "not captured" in checkout.verdict().reason
        checkout.edit(MAIN, "  # A note is an edit too.\n", f"  policy                  = {_hcl(_POLICY)}\n")
        verdict = checkout.verdict()
    assert (verdict.grade, verdict.reason) == (Grade.PASS, "")


def test_a_deleted_resource_leaves_code_and_state(tiny: Any, change: Callable[..., Any], tmp_path: Path) -> None:
    with tiny.drifted(change("log-delete", "aws_cloudwatch_log_group.spare"), workdir=tmp_path) as checkout:
        block = 'resource "aws_cloudwatch_log_group" "spare" {\n  name              = "/one/spare"\n  retention_in_days = 7\n}\n\n'
        checkout.edit(MAIN, block, "")
        assert "The state still has" in checkout.verdict().reason
        checkout.case.drifted.must(checkout.path / "one", "apply", "-refresh-only", "-auto-approve")
        assert checkout.verdict().grade is Grade.PASS


def test_a_new_resource_has_to_be_imported(tiny: Any, change: Callable[..., Any], tmp_path: Path) -> None:
    with tiny.drifted(change("log-create", "", "/one/new", days=3), workdir=tmp_path) as checkout:
        (checkout.path / "one" / "new.tf").write_text(
            'resource "aws_cloudwatch_log_group" "new" {\n  name              = "/one/new"\n  retention_in_days = 3\n}\n\n'
            'import {\n  to = aws_cloudwatch_log_group.new\n  id = "/one/new"\n}\n'
        )
        assert "(import)" in checkout.verdict().reason
        checkout.refresh()
        assert checkout.verdict().grade is Grade.PASS


def test_what_has_to_stay_out_is_neither_written_nor_imported(
    tiny: Any, change: Callable[..., Any], tmp_path: Path
) -> None:
    new = replace(change("log-create", "", "/one/new", days=3), left=True)
    entry = "aws_cloudwatch_log_group /one/new by ada"
    with tiny.drifted(new, workdir=tmp_path, out=True) as checkout:
        assert checkout.verdict(admits=True, code=2, entries=[entry]).grade is Grade.PASS
        assert checkout.verdict(admits=True, code=2).grade is Grade.LEFT
        assert checkout.verdict().grade is Grade.MISSED
        (checkout.path / "one" / "new.tf").write_text(
            'import {\n  to = aws_cloudwatch_log_group.new\n  id = "/one/new"\n}\n\n'
            'resource "aws_cloudwatch_log_group" "new" {\n  name              = "/one/new"\n  retention_in_days = 3\n}\n'
        )
        assert "must stay out" in checkout.verdict(admits=True, code=2, entries=[entry]).reason
        checkout.refresh()
        (checkout.path / "one" / "new.tf").unlink()
        verdict = checkout.verdict(admits=True, code=2, entries=[entry])
    assert (verdict.grade, "The state has" in verdict.reason) == (Grade.WRONG, True)


def test_a_new_resource_has_the_form_of_its_siblings(tiny: Any, change: Callable[..., Any], tmp_path: Path) -> None:
    new = replace(change("log-create", DIRECT, "/one/new", days=3), form="aws_cloudwatch_log_group.day[")
    with tiny.drifted(new, workdir=tmp_path) as checkout:
        (checkout.path / "one" / "new.tf").write_text(
            'resource "aws_cloudwatch_log_group" "new" {\n  name              = "/one/new"\n  retention_in_days = 3\n}\n\n'
            'import {\n  to = aws_cloudwatch_log_group.new\n  id = "/one/new"\n}\n'
        )
        checkout.refresh()
        assert "form of its siblings" in checkout.verdict().reason


def test_a_partial_edit_is_left_only_if_the_rest_was_named(
    tiny: Any, change: Callable[..., Any], tmp_path: Path
) -> None:
    spare = "aws_cloudwatch_log_group.spare"
    both = (change("log-retention", DIRECT, 30), change("log-retention", spare, 60))
    with tiny.drifted(*both, workdir=tmp_path) as checkout:
        _right(checkout)
        checkout.case.drifted.must(checkout.path / "one", "apply", "-refresh-only", "-auto-approve", "-lock=false")
        assert checkout.verdict(admits=True, left=[spare]).grade is Grade.LEFT
        assert checkout.verdict(admits=True, left=[DIRECT]).grade is Grade.WRONG
        assert checkout.verdict().grade is Grade.WRONG
        checkout.edit(MAIN, '"/one/spare"\n  retention_in_days = 7', '"/one/spare"\n  retention_in_days = 14')
        assert checkout.verdict(admits=True, left=[spare]).grade is Grade.WRONG


def _hcl(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'
