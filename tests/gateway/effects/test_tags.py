"""Tags in all forms become one attribute per key."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.effects.tags import all_tags, drop_tags, set_tags, specified_tags, tag_map
from gateway.effects.values import NotUnderstood


@pytest.fixture
def target(context: Callable[..., Any]) -> Any:
    resources = {"aws_sqs_queue.q": {"name": "q", "tags": {"team": "a", "old": "yes"}}}
    return context(resources=resources).target("aws_sqs_queue", {"name": "q"})


@pytest.mark.parametrize(
    "form",
    [
        {"k": "v"},
        [{"Key": "k", "Value": "v"}],
        [{"key": "k", "value": "v"}],
        [{"TagKey": "k", "TagValue": "v"}],
    ],
)
def test_every_form_is_the_same_map(form: Any) -> None:
    assert tag_map(form) == {"k": "v"}


@pytest.mark.parametrize("form", ["k", 3, [{"k": "v"}], [{"Key": "k", "Value": "v", "More": 1}], ["k"]])
def test_other_forms_are_not_understood(form: Any) -> None:
    with pytest.raises(NotUnderstood):
        tag_map(form)


def test_set_drop_and_replace(target: Any) -> None:
    assert set_tags(target, {"team": "b"}) == {"tags.team": "b"}
    assert drop_tags(target, ["old"]) == {"tags.old": None}
    assert drop_tags(target, [{"Key": "old"}]) == {"tags.old": None}
    assert all_tags(target, {"team": "b"}) == {"tags.team": "b", "tags.old": None}


def test_a_key_with_a_dot_is_one_tag_too_and_leaves_the_others_alone(target: Any) -> None:
    assert set_tags(target, {"k8s.io/x": "1", "team": "b"}) == {"tags.k8s%2Eio/x": "1", "tags.team": "b"}
    assert drop_tags(target, ["k8s.io/x"]) == {"tags.k8s%2Eio/x": None}
    assert all_tags(target, {"app.team": "b"}) == {"tags.app%2Eteam": "b", "tags.team": None, "tags.old": None}


def test_tag_specifications_for_another_kind_are_not_understood(target: Any) -> None:
    specified = [{"ResourceType": "instance", "Tags": [{"Key": "a", "Value": "b"}]}]
    assert specified_tags("instance")(target, specified) == {"tags.a": "b"}
    assert specified_tags("x", instance="volume_tags")(target, specified) == {"volume_tags": {"a": "b"}}
    with pytest.raises(NotUnderstood):
        specified_tags("volume")(target, specified)
