"""Every row of every table names operations, parameters and attributes that exist, and has a case with its effects."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore.validate import ParamValidator

from gateway.aws.models import call_classes
from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, CallClass, Effect
from gateway.effects.operation import Operation
from gateway.effects.registry import SERVICES, WITHOUT_RESOURCE
from gateway.effects.resolver import EffectResolver
from gateway.effects.schema import read_schemas

CASES = Path(__file__).parents[2] / "cases" / "effects"
BOTOCORE: Any = botocore.session
SESSION = BOTOCORE.get_session()
ROWS = [(service, name, row) for service, table in SERVICES.items() for name, row in table.items()]
RECORDED: list[dict[str, Any]] = [json.loads(line) for line in (CASES / "operations.jsonl").read_text().splitlines()]
ResolverFor = Callable[[Mapping[str, Mapping[str, Json]]], EffectResolver]


def model(service: str, operation: str) -> Any:
    """Botocore's model of the operation. Botocore ships no types."""
    return SESSION.get_service_model(service).operation_model(operation)


def real(value: Any) -> Any:
    if isinstance(value, dict):
        return b"z" * value["$bytes"] if set(value) == {"$bytes"} else {key: real(item) for key, item in value.items()}
    return [real(item) for item in value] if isinstance(value, list) else value


def has_path(shape: Any, path: str) -> bool:
    for step in path.split("."):
        while shape.type_name == "list":
            shape = shape.member
        if shape.type_name != "structure" or step not in shape.members:
            return False
        shape = shape.members[step]
    return True


def call_of(case: Mapping[str, Any]) -> Call:
    return Call(
        service=case["service"],
        operation=case["operation"],
        parameters=real(case["parameters"]),
        account="123456789012",
        region="eu-west-1",
    )


def written(effects: tuple[Effect, ...]) -> list[list[Json]]:
    return [[effect.address, effect.attribute, str(effect.action), effect.value] for effect in effects]


def test_three_hundred_operations_are_understood() -> None:
    assert len(ROWS) >= 300


@pytest.mark.parametrize("service", SERVICES)
def test_every_operation_exists_in_botocore(service: str) -> None:
    assert set(SERVICES[service]) <= set(SESSION.get_service_model(service).operation_names)


@pytest.mark.parametrize("service", SERVICES)
def test_every_parameter_exists_in_botocore(service: str) -> None:
    """Operations may share a mapping of attributes, so each of its parameters must exist in at least one of them."""
    table = SERVICES[service]
    wrong = []
    for name, row in table.items():
        own = (*row.identity, *(row.controls if row.handler is None else ()))
        accounted = (*row.arguments, *row.content)
        wrong += [(name, path) for path in accounted if not any(_has(service, other, path) for other in table)]
        wrong += [(name, path) for path in own if not _somewhere(service, table, row, name, path)]
        wrong += [
            (name, path)
            for path in row.attributes
            if not any(_has(service, other, path) for other, it in table.items() if path in it.attributes)
        ]
    # The parameters of the row for index updates are relative to one update.
    assert [item for item in wrong if not item[1].startswith("Index")] == []


def _has(service: str, name: str, path: str) -> bool:
    shape = model(service, name).input_shape
    return shape is not None and has_path(shape, path)


def _somewhere(service: str, table: Mapping[str, Operation], row: Operation, name: str, path: str) -> bool:
    if path in row.identity:
        return _has(service, name, path)
    return any(_has(service, other, path) for other, it in table.items() if path in it.controls)


@pytest.mark.parametrize("service", SERVICES)
def test_every_attribute_that_a_table_names_exists_in_the_provider(service: str) -> None:
    table = SERVICES[service]
    schemas = read_schemas({row.resource_type for row in table.values()})
    wrong = []
    for name, row in table.items():
        schema = schemas[row.resource_type]
        named = {rule for rule in row.attributes.values() if isinstance(rule, str)} | set(row.constants) | row.secrets
        named |= set(row.defaults).union(*row.overwrites.values())
        wrong += [(name, attribute) for attribute in named if not schema.knows(attribute)]
        wrong += [(name, path) for path in row.overwrites if not any(_has(service, other, path) for other in table)]
    assert wrong == []


def test_every_operation_has_a_case() -> None:
    have = {(case["service"], case["operation"]) for case in RECORDED}
    assert {(service, name) for service, name, _ in ROWS} - have == set()


def test_the_parameters_of_every_case_are_valid() -> None:
    validator: Any = ParamValidator()
    wrong = []
    for case in RECORDED:
        report = validator.validate(real(case["parameters"]), model(case["service"], case["operation"]).input_shape)
        wrong += [(case["service"], case["operation"], report.generate_report())] if report.has_errors() else []
    assert wrong == []


@pytest.mark.slow
def test_every_case_has_exactly_its_effects(resolver_for: ResolverFor, stack: Mapping[str, Mapping[str, Json]]) -> None:
    resolver = resolver_for(stack)
    wrong = []
    for case in RECORDED:
        against = resolver_for({**stack, **case["state"]}) if "state" in case else resolver
        got = written(against.effects(call_of(case)))
        wrong += [] if got and got == case["effects"] else [(case["service"], case["operation"], got)]
    assert wrong == []


@pytest.mark.slow
def test_an_unknown_parameter_makes_any_call_not_understood(
    resolver_for: ResolverFor, stack: Mapping[str, Mapping[str, Json]]
) -> None:
    """A parameter that AWS adds in the future is not matched for harmless."""
    resolver = resolver_for(stack)
    passed = []
    for case in RECORDED:
        odd = {**case, "parameters": {**case["parameters"], "SomethingNew": "x"}}
        passed += [case["operation"]] if resolver.effects(call_of(odd)) else []
    assert passed == []


@pytest.mark.slow
def test_calls_to_another_account_never_name_our_resources(
    resolver_for: ResolverFor, stack: Mapping[str, Mapping[str, Json]]
) -> None:
    """A call to another account names no resource whose ARN the state records."""
    resolver = resolver_for(stack)
    matched = []
    for case in RECORDED:
        call = call_of(case)
        other = Call(service=call.service, operation=call.operation, parameters=call.parameters, account="9" * 12)
        for effect in resolver.effects(other):
            matched += [effect.address] if effect.declared and "arn" in stack[effect.address] else []
    assert set(matched) <= {"aws_s3_bucket.b", "aws_s3_object.o", "aws_route53_zone.z", "aws_sns_topic_subscription.s"}


@pytest.mark.slow
def test_every_call_of_terraform_for_a_whole_stack_is_understood(
    recording: dict[str, Any], resolver_for: ResolverFor
) -> None:
    """Create, change and destroy, each against the state before that phase."""
    held = []
    for phase in recording["phases"]:
        resolver = resolver_for(phase["state"])
        for call in phase["calls"]:
            effects = resolver.effects(call_of(call))
            held += [] if effects else [(phase["phase"], call["service"], call["operation"])]
    assert held == []
    assert [len(phase["calls"]) > 50 for phase in recording["phases"]] == [True, True, True]


def test_resources_that_terraform_changes_or_destroys_are_found_in_the_state(
    recording: dict[str, Any], resolver_for: ResolverFor
) -> None:
    for phase in recording["phases"][1:]:
        resolver = resolver_for(phase["state"])
        for call in phase["calls"]:
            if not call["operation"].startswith(("Create", "Run", "Register", "Deregister")):
                assert any(effect.declared for effect in resolver.effects(call_of(call))), call["operation"]


@pytest.mark.slow
def test_no_effect_contains_a_secret(recording: dict[str, Any], resolver_for: ResolverFor) -> None:
    for phase in recording["phases"]:
        resolver = resolver_for(phase["state"])
        for call in phase["calls"]:
            assert "hush" not in repr(resolver.effects(call_of(call)))


def test_they_are_of_the_data_plane_and_in_no_table() -> None:
    classes = call_classes.shipped()
    assert {classes.of(*operation) for operation in WITHOUT_RESOURCE} == {CallClass.DATA}
    assert not [name for service, name in WITHOUT_RESOURCE if name in SERVICES.get(service, {})]
