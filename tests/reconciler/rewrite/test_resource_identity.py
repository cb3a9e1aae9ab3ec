"""A created resource is known by its id, or by all that tells it from others; an edit must not give it another name."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from reconciler.changes.event_creations import Created
from reconciler.rewrite.edited_code import read_code
from reconciler.rewrite.resource_identity import is_declared, is_in_code, is_known

QUEUE = Created(resource_type="aws_sqs_queue", import_id="https://q/jobs", attributes={"name": "jobs"}, name="jobs")


@pytest.mark.parametrize(
    ("live", "known"),
    [
        ({"aws_sqs_queue.a": {"id": "https://q/jobs"}}, True),
        ({"aws_sqs_queue.a": {"id": "https://other/jobs", "name": "jobs"}}, True),
        ({"aws_sqs_queue.a": {"id": "https://q/mail", "name": "mail"}}, False),
        ({"data.aws_sqs_queue.a": {"id": "https://q/jobs"}}, False),
        ({"aws_sns_topic.a": {"id": "https://q/jobs", "name": "jobs"}}, False),
        ({}, False),
    ],
)
def test_what_the_state_has_is_known(live: dict[str, dict[str, Json]], known: bool) -> None:
    assert is_known(QUEUE, live) is known


@pytest.mark.parametrize(
    ("name", "declares"), [('"jobs"', True), ('"mail"', False), ("aws_sns_topic.a.arn", True)], ids=str
)
def test_code_declares_it_if_its_name_is_the_same_or_not_known(tmp_path: Path, name: str, declares: bool) -> None:
    (tmp_path / "main.tf").write_text(f'resource "aws_sqs_queue" "a" {{\n  name = {name}\n}}\n')
    code = read_code(tmp_path, {}, None)
    assert is_declared(code, "aws_sqs_queue.a", QUEUE) is declares
    assert not is_declared(code, "aws_sqs_queue.b", QUEUE)


@pytest.mark.parametrize(
    ("code", "there"),
    [
        ('resource "aws_sqs_queue" "a" {\n  name = "jobs"\n}\n', True),
        ('resource "aws_sqs_queue" "a" {\n  for_each = toset(["jobs", "mail"])\n  name     = each.key\n}\n', True),
        ('resource "aws_sqs_queue" "a" {\n  name = "mail"\n}\n', False),
        ('resource "aws_sqs_queue" "a" {\n  name = aws_sns_topic.a.arn\n}\n', False),
        ('resource "aws_sns_topic" "a" {\n  name = "jobs"\n}\n', False),
    ],
)
def test_what_an_earlier_edit_added_is_in_code(tmp_path: Path, code: str, there: bool) -> None:
    (tmp_path / "main.tf").write_text(code)
    assert is_in_code(read_code(tmp_path, {}, None), QUEUE) is there
