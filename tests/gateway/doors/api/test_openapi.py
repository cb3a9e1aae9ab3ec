"""Real answers of a gateway are what `/v1/openapi.json` says of them."""

from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it has no stubs here
import pytest

from gateway.doors.api.openapi import ANSWERS
from tests.gateway.doors.api.test_routes import MOTIVE, PROPOSAL, _held, ask, propose
from tests.kit.gate import ASG, Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]


def _answers(gate: Gate) -> dict[tuple[str, str], Any]:
    """An answer of each route, with something in it."""
    applied, held, other = propose(gate), propose(gate, _held()), propose(gate, _held())
    told = {
        ("get", path): ask(gate, "GET", path, "human").json() for path in ("/v1/records", "/v1/claims", "/v1/holds")
    }
    one = "/v1/mutations/{mutation_id}"
    told["get", one] = ask(gate, "GET", f"/v1/mutations/{applied}", "agent").json()
    told["post", f"{one}/approve"] = ask(gate, "POST", f"/v1/mutations/{held}/approve", "human").json()
    told["post", f"{one}/reject"] = ask(
        gate, "POST", f"/v1/mutations/{other}/reject", "human", {"reason": "No."}
    ).json()
    told["post", f"{one}/release"] = ask(gate, "POST", f"/v1/mutations/{applied}/release", "agent").json()
    told["post", "/v1/sessions"] = ask(gate, "POST", "/v1/sessions", "agent", {"motive": MOTIVE}).json()
    gate.upstream.behaviour = "cut"
    doubtful = propose(gate, {**PROPOSAL, "parameters": {"AutoScalingGroupName": ASG, "DesiredCapacity": 7}})
    gate.upstream.behaviour = "ok"
    settled = {"outcome": "failed", "reason": "I looked."}
    told["post", f"{one}/settle"] = ask(gate, "POST", f"/v1/mutations/{doubtful}/settle", "human", settled).json()
    return told


def test_every_answer_is_what_its_schema_says(gate: Gate) -> None:
    document = ask(gate, "GET", "/v1/openapi.json", None).json()
    answers = _answers(gate)
    assert set(answers) == set(ANSWERS)
    for (method, path), answer in answers.items():
        said = document["paths"][path][method]["responses"]["200"]["content"]["application/json"]["schema"]
        assert said == ANSWERS[method, path]
        jsonschema.Draft202012Validator(said).validate(answer)
    assert answers["get", "/v1/claims"]["claims"]
    assert answers["get", "/v1/holds"]["holds"]


def test_a_member_that_is_missing_or_of_another_type_would_be_noticed() -> None:
    judge = jsonschema.Draft202012Validator(ANSWERS["get", "/v1/records"])
    assert judge.is_valid({"records": []})
    assert not judge.is_valid({})
    assert not judge.is_valid({"records": [{"seq": 1}]})
    assert not judge.is_valid({"records": {}})
