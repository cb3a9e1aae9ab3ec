"""Changes as text for lists: with both values, without secrets, and short."""

from gateway.cli.changes import change, few_changes, shortened

EFFECT = {"address": "aws_sqs_queue.q", "attribute": "delay", "action": "set", "before": 1, "value": "x"}


def test_a_value_is_shown_with_the_one_it_replaces() -> None:
    assert change(EFFECT) == 'aws_sqs_queue.q.delay: 1 → "x"'


def test_what_sets_no_value_is_its_action() -> None:
    assert change({**EFFECT, "action": "invoke"}) == "aws_sqs_queue.q.delay: invoke"
    assert change({**EFFECT, "action": "delete", "attribute": "*"}) == "delete aws_sqs_queue.q"


def test_a_secret_is_said_to_be_one() -> None:
    assert change({**EFFECT, "sensitive": True}) == "aws_sqs_queue.q.delay: a secret"


def test_many_changes_are_counted() -> None:
    shown = few_changes([{**EFFECT, "attribute": name} for name in "abcde"])
    assert shown.count("→") == 3
    assert shown.endswith(" and 2 more")


def test_a_long_text_is_cut() -> None:
    assert shortened("a" * 120) == "a" * 120
    assert shortened("a" * 121) == "a" * 120 + "…"
