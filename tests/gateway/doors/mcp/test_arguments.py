"""A mistake in arguments is named by its place. Its value is never repeated: a model, and its log, would keep it."""

from typing import Any

import pytest

from gateway.core.errors import Malformed
from gateway.doors.mcp import arguments as a
from gateway.doors.mcp.tools import TOOLS

SECRET = "hunter2-secret"


@pytest.mark.parametrize(
    ("model", "given", "place"),
    [
        (a.GetContext, {}, "address"),
        (a.GetContext, {"address": [SECRET]}, "address"),
        (a.GetContext, {"address": "x", "max_age_seconds": SECRET}, "max_age_seconds"),
        (a.GetContext, {"address": SECRET * 500}, "address"),
        (a.FindResources, {"limit": SECRET}, "limit"),
        (a.ListDrift, {"cause": SECRET}, "cause"),
        (a.ListClaims, {"more": SECRET}, "more"),
        (a.WaitForDecision, {"mutation_id": "m", "seconds": 61}, "seconds"),
        (a.ProposeMutation, {"service": "s", "operation": "o", "parameters": SECRET}, "parameters"),
        (a.ProposeMutation, {"service": "s", "operation": "o", "motive": {"intent": SECRET}}, "motive.intent"),
    ],
)
def test_the_place_is_named_and_not_the_value(model: Any, given: dict[str, Any], place: str) -> None:
    with pytest.raises(Malformed, match=place) as raised:
        a.arguments_of(model, given)
    assert SECRET not in str(raised.value)
    assert raised.value.__cause__ is None


def test_no_arguments_are_the_defaults() -> None:
    assert a.arguments_of(a.FindResources, None).limit == 50
    assert a.arguments_of(a.ListClaims, {}).address == ""


@pytest.mark.parametrize("tool", TOOLS)
def test_the_schema_names_every_argument_and_refuses_others(tool: str) -> None:
    schema = TOOLS[tool].input_schema
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    assert set(schema["properties"]) == set(TOOLS[tool].arguments.model_fields)
