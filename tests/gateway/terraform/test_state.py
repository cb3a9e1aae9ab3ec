"""State files: what is read, that secrets are masked, and that malformed files are refused with a reason."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.core.errors import CodeInvalid
from gateway.core.model.masking import PER_RUN, is_masked
from gateway.terraform.state import StateLookup, parse_state

KAFKA = Path(__file__).parents[2] / "cases" / "stacks" / "kafka" / "terraform.tfstate"


def state_of(*blocks: dict[str, Any]) -> bytes:
    return json.dumps({"version": 4, "serial": 3, "resources": list(blocks)}).encode()


def block(*instances: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"mode": "managed", "type": "aws_x", "name": "y", "instances": list(instances), **more}


def test_instances_are_found_by_address() -> None:
    state = parse_state(KAFKA.read_bytes(), KAFKA.name)

    assert state.serial == 31
    assert state.resources["aws_autoscaling_group.kafka_consumer"].attributes["desired_capacity"] == 4
    assert 'module.archive["hot"].aws_sqs_queue.this' in state.resources
    assert "aws_sqs_queue.shard[1]" in state.resources
    assert state.resources['module.archive["hot"].aws_sqs_queue.this'].dependencies == (
        "module.archive.aws_sqs_queue.dead_letters",
    )
    assert list(state.data) == ["data.aws_caller_identity.current"]


def test_no_secret_of_the_file_is_kept() -> None:
    state = parse_state(KAFKA.read_bytes(), KAFKA.name)

    assert state.resources["aws_db_instance.reports"].attributes["password"] == PER_RUN.mask(
        "correct horse battery staple"
    )
    assert "correct horse" not in repr(state)


@pytest.mark.parametrize(
    ("attributes", "marked", "expected"),
    [
        ({"a": "s", "b": "o"}, [[{"type": "get_attr", "value": "a"}]], {"a": "#", "b": "o"}),
        ({"a": {"x": "s", "y": "o"}}, [[{"type": "get_attr", "value": "a"}, {"type": "index", "value": {"value": "x", "type": "string"}}]], {"a": {"x": "#", "y": "o"}}),
        ({"a": ["o", "s"]}, [[{"type": "get_attr", "value": "a"}, {"type": "index", "value": {"value": 1, "type": "number"}}]], {"a": ["o", "#"]}),
        ({"a": ["s"]}, [[{"type": "get_attr", "value": "a"}, {"type": "index", "value": {"value": 7, "type": "number"}}]], {"a": ["#"]}),
        ({"a": "s"}, [{"type": "get_attr", "value": "a"}], {"a": "#"}),
        ({"a": None}, [[{"type": "get_attr", "value": "a"}]], {"a": None}),
        ({"b": "o"}, [[{"type": "get_attr", "value": "a"}]], {"b": "o"}),
        ({"db_password": "s", "master_password": "s", "password_length": 8}, [], {"db_password": "#", "master_password": "#", "password_length": 8}),
        ({"manage_master_user_password": True, "password": ""}, [], {"manage_master_user_password": True, "password": ""}),
    ],
)  # fmt: skip
def test_secrets_are_masked_by_their_digests(attributes: Any, marked: Any, expected: Any) -> None:
    state = parse_state(state_of(block({"attributes": attributes, "sensitive_attributes": marked})), "s")

    def unmasked(value: Any) -> Any:
        if isinstance(value, dict):
            return "#" if is_masked(value) else {key: unmasked(item) for key, item in value.items()}
        return [unmasked(item) for item in value] if isinstance(value, list) else value

    assert unmasked(state.resources["aws_x.y"].attributes) == expected


def test_the_value_of_a_parameter_is_secret_whatever_the_state_says() -> None:
    state = parse_state(state_of(block({"attributes": {"value": "s"}}, type="aws_ssm_parameter")), "s")

    assert state.resources["aws_ssm_parameter.y"].attributes["value"] == PER_RUN.mask("s")


def test_deposed_objects_are_left_out() -> None:
    state = parse_state(
        state_of(block({"attributes": {"id": "new"}}, {"attributes": {"id": "old"}, "deposed": "ab"})), "s"
    )

    assert state.resources["aws_x.y"].attributes["id"] == "new"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b'{\n"version": 4,\n', "s:3: The state file is not JSON"),
        (b"\xff", "s:1: The state file is not JSON"),
        (b"[]", "s:1: The state has format version None"),
        (b'{"version": 3}', "s:1: The state has format version 3"),
        (b'{"version": 4, "resources": [{}]}', "s:1: The state file is not a complete version 4 state"),
        (b'{"version": 4, "resources": [7]}', "s:1: The state file is not a complete version 4 state"),
        (state_of(block({}, {})), "is in it twice"),
        (state_of(block({"attributes": [1]})), "are not an object"),
        (state_of(block({}, mode="odd")), "s:1: The state file is not a complete version 4 state"),
        (state_of(block({}, name="a b")), "is not an address"),
        (state_of(block({"attributes": {"a": 1}, "sensitive_attributes": [[]]})), "not a complete version 4 state"),
    ],
)
def test_a_malformed_file_is_refused(source: bytes, expected: str) -> None:
    with pytest.raises(CodeInvalid) as caught:
        parse_state(source, "s")

    assert expected in str(caught.value)


def test_expressions_see_resources_and_data_of_their_module() -> None:
    state = parse_state(KAFKA.read_bytes(), KAFKA.name)
    lookup = StateLookup(state)

    caller = state.data["data.aws_caller_identity.current"]
    assert lookup("", ["data"]) == {"data": {"aws_caller_identity": {"current": caller}}}
    queues: Any = lookup("", ["aws_sqs_queue", "aws_nothing"])["aws_sqs_queue"]
    assert set(queues["shard"]) == {"0", "1"}
    assert set(lookup('module.archive["hot"]', ["aws_sqs_queue"])["aws_sqs_queue"]) == {"this", "dead_letters"}  # type: ignore[arg-type]  # a mapping
