"""A value that nobody had set is a new resource where the stack declares such values by resources of their own."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.terraform.config.module import load_module
from reconciler.drift.own_resources import as_own_resources
from reconciler.model import Drift, DriftOrigin, Wanted

_QUEUE = 'resource "aws_sqs_queue" "q" {\n  name = "q"\n}\n'
_POLICY = 'resource "aws_sqs_queue_policy" "other" {\n  queue_url = "other"\n  policy = "{}"\n}\n'
_INLINE = 'resource "aws_sqs_queue" "other" {\n  policy = "{}"\n}\n'
_ORIGIN = DriftOrigin(actor="ada", event="sqs:SetQueueAttributes", at=datetime(2026, 11, 28, tzinfo=UTC))
_LIVE: dict[str, dict[str, Json]] = {"aws_sqs_queue.q": {"id": "https://sqs/1/q"}}


@pytest.mark.parametrize(
    ("code", "value", "is_own"),
    [
        (_QUEUE + _POLICY, '{"Statement": []}', True),
        (_QUEUE + _POLICY + _INLINE, '{"Statement": []}', False),
        (_QUEUE, '{"Statement": []}', True),
        (_QUEUE + _POLICY, "no document", False),
    ],
)
def test_the_form_of_its_siblings_decides(tmp_path: Path, code: str, value: str, *, is_own: bool) -> None:
    (tmp_path / "main.tf").write_text(code)
    drift = Drift(
        wanted=Wanted(address="aws_sqs_queue.q", attribute="policy", value=value), before=None, origin=_ORIGIN
    )
    made, rest = as_own_resources(load_module(tmp_path), [drift], _LIVE)
    assert ([each.resource_type for each, _ in made], len(rest)) == (["aws_sqs_queue_policy"] * is_own, 1 - is_own)
    for each, origin in made:
        assert (each.import_id, each.attributes["queue_url"], origin) == ("https://sqs/1/q", "https://sqs/1/q", _ORIGIN)
        assert each.attributes["policy"] == {"json": {"Statement": []}}
