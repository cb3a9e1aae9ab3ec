"""A state machine is judged as the calls of its tasks."""

import json
from typing import Any

import pytest

from gateway.effects.resolver import Explanation
from tests.gateway.effects.conftest import ACCOUNT, REGION
from tests.gateway.effects.proxies.conftest import FUNCTION, ROLE, Understand, inner_effects

SCALE = {"Cluster": "main", "Service": "web", "DesiredCount": 5}
SDK = "arn:aws:states:::aws-sdk:"
SCALED = ("aws_ecs_service.web", "desired_count", "set", 5, "ecs:UpdateService")
INVOKED = ("aws_lambda_function.worker", "*", "invoke", None, "lambda:Invoke")


def task(resource: str, **members: Any) -> dict[str, Any]:
    return {"Type": "Task", "Resource": resource, "End": True, **members}


def machine(**states: Any) -> dict[str, Any]:
    return {"StartAt": next(iter(states)), "States": states}


def created(understand: Understand, definition: object) -> Explanation:
    text = definition if isinstance(definition, str) else json.dumps(definition)
    return understand("stepfunctions", "CreateStateMachine", {"name": "m", "definition": text, "roleArn": ROLE})


@pytest.mark.parametrize(
    "state",
    [
        task(SDK + "ecs:updateService", Parameters=SCALE),
        task(SDK + "ecs:updateService", QueryLanguage="JSONata", Arguments=SCALE),
        {"Type": "Parallel", "Branches": [machine(A=task(SDK + "ecs:updateService", Parameters=SCALE))], "End": True},
        {"Type": "Map", "ItemProcessor": machine(A=task(SDK + "ecs:updateService", Parameters=SCALE)), "End": True},
        {"Type": "Map", "Iterator": machine(A=task(SDK + "ecs:updateService", Parameters=SCALE)), "End": True},
    ],
)
def test_a_task_has_the_effects_of_its_call(understand: Understand, state: dict[str, Any]) -> None:
    found = created(understand, machine(S=state))
    assert inner_effects(found) == [SCALED]
    assert [each.role for each in found.inner] == [ROLE]


@pytest.mark.parametrize(
    "state",
    [
        task(FUNCTION),
        task("arn:aws:states:::lambda:invoke", Parameters={"FunctionName": FUNCTION, "Payload.$": "$"}),
        task(
            "arn:aws:states:::lambda:invoke.waitForTaskToken",
            Parameters={"FunctionName": FUNCTION, "Payload": {"t.$": "$$.Task.Token"}},
        ),
    ],
)
def test_data_that_nobody_interprets_may_be_known_later(understand: Understand, state: dict[str, Any]) -> None:
    assert inner_effects(created(understand, machine(S=state))) == [INVOKED]


def test_states_without_calls_and_activities_have_no_effect(understand: Understand) -> None:
    activity = f"arn:aws:states:{REGION}:{ACCOUNT}:activity:a"
    found = created(understand, machine(W={"Type": "Wait", "Seconds": 1}, A=task(activity), E={"Type": "Succeed"}))
    assert found.effects
    assert found.inner == ()


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (task(SDK + "ecs:updateService", Parameters={**SCALE, "Service.$": "$.s"}), "names a parameter twice"),
        (
            task(SDK + "ecs:updateService", Parameters={"Cluster": "main", "Service.$": "$.s"}),
            "known only when AWS makes",
        ),
        (task(SDK + "ecs:updateService"), "known only when AWS makes the call"),
        (
            task(SDK + "ecs:updateService", QueryLanguage="JSONata", Arguments={**SCALE, "Service": "{% $s %}"}),
            "known only when AWS makes the call",
        ),
        (task(SDK + "ecs:updateService", QueryLanguage="JSONata", Arguments="{% $all %}"), "computes all parameters"),
        (task(SDK + "ecs:updateService", Parameters=SCALE, Credentials={"RoleArn": "r"}), "assumes another role"),
        (task("arn:aws:states:::http:invoke", Parameters={}), "http:invoke, which is not unpacked"),
        (task("arn:aws:elsewhere"), "a resource that is not unpacked"),
        ({"Type": "Task"}, "has no resource"),
        ({"Type": "Odd"}, "of an unknown type"),
        ("Pass", "in an unknown form"),
        ({"Type": "Map", "ItemReader": {}, "ItemProcessor": machine(E={"Type": "Succeed"})}, "reads or writes objects"),
        ({"Type": "Parallel", "Branches": ["A"]}, "in an unknown form"),
    ],
)
def test_what_cannot_be_unpacked_is_held_with_the_reason(understand: Understand, state: Any, reason: str) -> None:
    found = created(understand, machine(S=state))
    assert found.effects == ()
    assert reason in found.not_understood


@pytest.mark.parametrize("definition", ["", "{", "[]", "{}", '{"States": {"A": 1}, "States": {}}', "[" * 100_000])
def test_a_definition_that_cannot_be_read_is_held(understand: Understand, definition: str) -> None:
    found = created(understand, definition)
    assert found.effects == ()
    assert found.not_understood


def test_a_call_that_nobody_may_make_is_found_behind_one_that_cannot_be_read(understand: Understand) -> None:
    found = created(understand, machine(A=task("arn:aws:elsewhere"), B=task(SDK + "sts:assumeRole", Parameters={})))
    assert [each.name for each in found.inner] == ["sts:AssumeRole"]


def test_an_update_of_the_role_alone_carries_no_call(understand: Understand) -> None:
    arn = f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:m"
    found = understand("stepfunctions", "UpdateStateMachine", {"stateMachineArn": arn, "roleArn": ROLE})
    assert [each.attribute for each in found.effects] == ["role_arn"]


def test_an_update_of_the_definition_runs_with_the_role_that_the_machine_has(understand: Understand) -> None:
    parameters = {
        "stateMachineArn": f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:m",
        "definition": json.dumps(machine(S=task(SDK + "ecs:updateService", Parameters=SCALE))),
    }
    found = understand("stepfunctions", "UpdateStateMachine", parameters)
    assert inner_effects(found) == [SCALED]
    assert all(each.role for each in found.inner)


def test_trying_a_state_is_held(understand: Understand) -> None:
    found = understand("stepfunctions", "TestState", {"definition": "{}", "roleArn": ROLE})
    assert "makes its call at once" in found.not_understood
