"""Values that are one change: a new resource and what names it, parts of one resource, and what is gone together. All are written, or none."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gateway.terraform.config.module import load_module
from reconciler.adoption.model import LeftCreation
from reconciler.model import Drift, DriftOrigin, Left, Wanted
from reconciler.proof.composites import composites, parted

_TOPIC = "arn:aws:sns:eu-west-1:123456789012:pager"
_CODE = """resource "aws_alarm" "a" {}
resource "aws_s3_bucket" "b" {}
resource "aws_s3_bucket_versioning" "b" {
  bucket = aws_s3_bucket.b.id
}
"""


def _drift(address: str, attribute: str, value: Any, actor: str = "ada") -> Drift:
    origin = DriftOrigin(actor=actor, event="s:O", at=datetime(2026, 11, 20, tzinfo=UTC)) if actor else None
    return Drift(wanted=Wanted(address=address, attribute=attribute, value=value), before=None, origin=origin)


def _new(address: str, text: str = "", arn: str = "") -> Drift:
    return _drift(address, "*", {"import_id": "i", "text": text, "names": {"arn": arn} if arn else {}})


@pytest.fixture
def code(tmp_path: Path) -> Any:
    (tmp_path / "main.tf").write_text(_CODE)
    return load_module(tmp_path)


_PAGER = _new("aws_sns_topic.pager", 'resource "aws_sns_topic" "pager" {}', _TOPIC)
_BLOCK = _new(
    "aws_s3_bucket_public_access_block.b",
    'resource "aws_s3_bucket_public_access_block" "b" {\n  bucket = aws_s3_bucket.b.id\n}\n',
)
_ACTIONS = _drift("aws_alarm.a", "actions", [_TOPIC])
_POLICY = _drift("aws_alarm.a", "policy", json.dumps({"to": _TOPIC}))
_STATUS = _drift("aws_s3_bucket_versioning.b", "status", "Enabled")
_TAGS = _drift("aws_s3_bucket.b", "tags", {"a": "b"})


def _groups(code: Any, *drifts: Drift) -> set[frozenset[str]]:
    return {frozenset(address for address, _ in group) for group in composites(code, drifts, ()).groups}


def test_a_new_resource_is_one_change_with_what_names_it_and_with_parts_of_what_it_is_a_part_of(code: Any) -> None:
    assert _groups(code, _PAGER, _ACTIONS, _POLICY, _STATUS) == {frozenset({"aws_sns_topic.pager", "aws_alarm.a"})}
    block = frozenset({_BLOCK.wanted.address, _STATUS.wanted.address, _TAGS.wanted.address})
    assert _groups(code, _BLOCK, _STATUS, _TAGS, _ACTIONS) == {block}
    assert _groups(code, _STATUS, _TAGS) == set()


def test_of_two_actors_nothing_is_one_change_and_who_is_not_known_may_be_either(code: Any) -> None:
    assert _groups(code, _PAGER, _drift("aws_alarm.a", "actions", [_TOPIC], actor="bob")) == set()
    assert len(_groups(code, _PAGER, _drift("aws_alarm.a", "actions", [_TOPIC], actor=""))) == 1


def test_a_new_resource_is_one_change_with_another_new_one_that_refers_to_it(code: Any) -> None:
    text = 'resource "aws_alarm" "n" {\n  actions = [aws_sns_topic.pager.arn]\n}\n'
    assert _groups(code, _new("aws_alarm.n", text), _PAGER) == {frozenset({"aws_alarm.n", "aws_sns_topic.pager"})}


def test_what_is_gone_with_what_it_referred_to_is_one_change(code: Any) -> None:
    part, bucket, alarm = (
        _drift(address, "*", None) for address in ("aws_s3_bucket_versioning.b", "aws_s3_bucket.b", "aws_alarm.a")
    )
    assert _groups(code, part, bucket, alarm) == {frozenset({part.wanted.address, bucket.wanted.address})}


def test_what_is_one_change_with_something_left_is_left_too(code: Any) -> None:
    drifts = [_PAGER, _ACTIONS, _STATUS]
    found = composites(code, drifts, ())
    (entry,) = parted(found, drifts, [Left(wanted=_PAGER.wanted, reason="It cannot be read.")])
    assert (entry.wanted, parted(found, drifts, ())) == (_ACTIONS.wanted, [])
    assert entry.reason.startswith("It is one change with aws_sns_topic.pager, which is left.")


def test_a_value_that_names_what_was_created_and_is_not_written_is_left_too(code: Any) -> None:
    assert _ACTIONS.origin is not None
    unwritten = LeftCreation(resource_type="t", identity="pager", arn=_TOPIC, origin=_ACTIONS.origin, why="w")
    (entry,) = parted(composites(code, [_ACTIONS, _STATUS], [unwritten]), [_ACTIONS, _STATUS], ())
    assert (entry.wanted, "It names pager" in entry.reason) == (_ACTIONS.wanted, True)


def test_a_name_in_a_map_names_a_new_resource_only_under_a_key_that_speaks_of_its_type(code: Any) -> None:
    stream = _drift("aws_kinesis_stream.s", "*", {"import_id": "s", "text": "", "names": {"name": "shop-refunds"}})
    other = stream.wanted.address
    for attribute, value, named in (
        ("dimensions", {"StreamName": "shop-refunds"}, True),
        ("dimensions.StreamName", "shop-refunds", True),
        ("dimensions", {"QueueName": "shop-refunds"}, False),
        ("description", "shop-refunds", False),
    ):
        groups = {frozenset({other, "aws_alarm.a"})} if named else set()
        assert _groups(code, stream, _drift("aws_alarm.a", attribute, value)) == groups


def test_new_resources_of_which_one_says_that_it_names_another_one_are_one_change(code: Any) -> None:
    alarm = _drift("aws_alarm.n", "*", {"import_id": "n", "text": "", "naming": ["aws_sns_topic.pager"]})
    assert _groups(code, alarm, _PAGER) == {frozenset({"aws_alarm.n", "aws_sns_topic.pager"})}


def test_what_one_entry_of_the_code_makes_is_one_change_whoever_made_it(code: Any) -> None:
    alarm = _drift("aws_alarm.n", "*", {"import_id": "n", "comes_with": "aws_sns_topic.pager"}, actor="bob")
    assert _groups(code, alarm, _PAGER) == {frozenset({"aws_alarm.n", "aws_sns_topic.pager"})}


def test_new_resources_that_name_one_declared_resource_are_one_change_and_what_is_gone_from_it_too(code: Any) -> None:
    def named(address: str, owner: str, actor: str = "ada") -> Drift:
        return _drift(address, "*", {"import_id": "i", "text": "", "owners": [owner]}, actor)

    policy, subscription = named("aws_sqs_queue_policy.q", "aws_sqs_queue.q"), named("aws_sub.s", "aws_sqs_queue.q")
    assert _groups(code, policy, subscription) == {frozenset({policy.wanted.address, subscription.wanted.address})}
    assert _groups(code, policy, named("aws_sub.s", "aws_sqs_queue.q", "bob")) == set()
    assert _groups(code, named("aws_a.a", "aws_vpc.v"), named("aws_b.b", "aws_vpc.v")) == set()
    gone = _drift("aws_s3_bucket_versioning.b", "*", None)
    assert len(_groups(code, named("aws_a.a", "aws_s3_bucket.b"), gone)) == 1
