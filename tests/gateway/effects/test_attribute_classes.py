"""Every attribute of the provider's schema is in one reviewed class; a new one, and every one of a new type, is unclassified."""

import json
from collections.abc import Mapping
from importlib.resources import files

import pytest

from gateway.effects.attribute_classes import (
    EXPOSING,
    FILE,
    AttributeClass,
    class_of,
    classes_of,
    has_role_or_network,
    is_map,
    judged_paths,
)
from gateway.effects.schema import Schemas, TypeSchema, known_schemas
from tests.tools.attribute_classes import FILE as WRITTEN
from tests.tools.attribute_classes import proposed, text_of, unclassified

C = AttributeClass


@pytest.fixture(scope="module")
def schemas() -> Mapping[str, TypeSchema]:
    """All types of the provider."""
    return known_schemas(frozenset(Schemas()))


@pytest.fixture(scope="module")
def review() -> Mapping[str, Mapping[str, list[str]]]:
    """The file."""
    found: Mapping[str, Mapping[str, list[str]]] = json.loads((files("gateway.effects") / FILE).read_bytes())
    return found


@pytest.mark.slow
def test_every_attribute_is_classified(schemas: Mapping[str, TypeSchema]) -> None:
    assert unclassified(schemas) == {}, (
        "run `python -m tests.tools.attribute_classes --write`, and review what it wrote"
    )


def test_a_new_attribute_and_a_new_type_are_unclassified() -> None:
    new = TypeSchema(kinds={"name": "string", "some_new_thing": "string", "count": "number"}, sensitive=frozenset())
    assert set(unclassified({"aws_lambda_function": new})) == {"some_new_thing"}
    assert set(unclassified({"aws_new_thing": new})) == {"name", "some_new_thing"}
    assert has_role_or_network("aws_new_thing")


def test_each_name_and_place_is_in_one_class(review: Mapping[str, Mapping[str, list[str]]]) -> None:
    names = [name for lines in review["names"].values() for line in lines for name in line.split()]
    places = [place for entries in review["places"].values() for place in entries]
    assert len(names) == len(set(names))
    assert len(places) == len(set(places))


def test_the_review_names_what_exists(
    schemas: Mapping[str, TypeSchema], review: Mapping[str, Mapping[str, list[str]]]
) -> None:
    paths = {path for schema in schemas.values() for path in schema.kinds}
    known = {path.rpartition(".")[2] for path in paths}
    assert {name for lines in review["names"].values() for line in lines for name in line.split()} <= known
    for entries in review["places"].values():
        for place in entries:
            kind, _, path = place.rpartition(":")
            if kind:
                assert path in schemas[kind].kinds, place
            else:
                assert any(each.endswith(f".{path}") or each == path for each in paths), place


def test_a_doubt_is_about_what_is_harmless(
    schemas: Mapping[str, TypeSchema], review: Mapping[str, Mapping[str, str]]
) -> None:
    harmless = {
        path.rpartition(".")[2]
        for kind, schema in schemas.items()
        for path in schema.kinds
        if class_of(kind, path) is C.HARMLESS
    }
    assert set(review["doubts"]) <= harmless
    assert all(reason.endswith(".") for reason in review["doubts"].values())


def test_maps_and_types_follow_from_the_schema(schemas: Mapping[str, TypeSchema]) -> None:
    wrong = [
        f"{kind}:{path}"
        for kind, schema in schemas.items()
        for path, form in schema.kinds.items()
        if ("block" in form or form.startswith("map(")) and path.rpartition(".")[2] != "tags"
        if form.startswith("map(") != is_map(kind, path)
    ]
    assert wrong == []
    for kind, schema in schemas.items():
        assert has_role_or_network(kind) == bool(classes_of(schema.steps) & EXPOSING), kind


@pytest.mark.parametrize(
    ("resource_type", "path", "wanted"),
    [
        ("aws_lambda_function", "handler", C.RUNS_CODE),
        ("aws_lambda_function", "environment.variables", C.ENVIRONMENT),
        ("aws_lambda_function", "s3_bucket", C.RUNS_CODE),
        ("aws_lambda_function", "file_system_config.arn", C.OWNED_ELSEWHERE),
        ("aws_lambda_function", "vpc_config.subnet_ids", C.REACH),
        ("aws_lambda_function", "description", C.LABEL),
        ("aws_lambda_permission", "source_account", C.OWNED_ELSEWHERE),
        ("aws_lb_listener", "default_action.redirect.host", C.SENDS_TO),
        ("aws_lb", "access_logs.bucket", C.SENDS_TO),
        ("aws_route53_record", "records", C.SENDS_TO),
        ("aws_instance", "key_name", C.GRANTS),
        ("aws_instance", "ami", C.RUNS_CODE),
        ("aws_autoscaling_group", "launch_template.version", C.RUNS_CODE),
        ("aws_autoscaling_group", "desired_capacity", None),
        ("aws_ecs_task_definition", "task_role_arn", C.HANDS_ROLE),
        ("aws_sqs_queue", "policy", C.POLICY),
        ("aws_sqs_queue", "name", C.HARMLESS),
        ("aws_api_gateway_rest_api_put", "body", C.RUNS_CODE),
        ("aws_codebuild_project", "secondary_source_version.source_version", C.RUNS_CODE),
        ("aws_elastic_beanstalk_configuration_template", "setting.value", C.RUNS_CODE),
        ("aws_lambda_function", "image_config.working_directory", C.RUNS_CODE),
        ("aws_pipes_pipe", "enrichment", C.RUNS_CODE),
        ("aws_sagemaker_notebook_instance_lifecycle_configuration", "on_start", C.RUNS_CODE),
        (
            "aws_ssm_maintenance_window_task",
            "task_invocation_parameters.run_command_parameters.parameter.values",
            C.RUNS_CODE,
        ),
        ("aws_launch_template", "iam_instance_profile.name", C.HANDS_ROLE),
        ("aws_cloudfront_key_group", "items", C.GRANTS),
        ("aws_cloudwatch_event_permission", "action", C.GRANTS),
        ("aws_kms_grant", "operations", C.GRANTS),
        ("aws_s3_bucket_acl", "access_control_policy.grant.grantee.id", C.GRANTS),
        ("aws_cloudfront_distribution", "default_cache_behavior.target_origin_id", C.SENDS_TO),
        ("aws_dms_endpoint", "server_name", C.SENDS_TO),
        ("aws_route53_records_exclusive", "resource_record_set.resource_records.value", C.SENDS_TO),
        ("aws_workspacesweb_user_settings", "customer_managed_key", C.OWNED_ELSEWHERE),
        ("aws_nobody_knows", "name", None),
    ],
)
def test_some_classes(resource_type: str, path: str, wanted: AttributeClass | None) -> None:
    assert class_of(resource_type, path) == wanted


def test_a_number_and_a_block_of_attributes_need_no_class(schemas: Mapping[str, TypeSchema]) -> None:
    judged = set(judged_paths(schemas["aws_lambda_function"]))
    assert not judged & {"memory_size", "vpc_config"}
    assert "vpc_config.subnet_ids" in judged


def test_the_tool_proposes_and_keeps_the_form(review: Mapping[str, Mapping[str, list[str]]]) -> None:
    assert proposed("execution_role_arn") is C.HANDS_ROLE
    assert proposed("webhook_url") is C.SENDS_TO
    assert proposed("retention_mode") is C.HARMLESS
    assert text_of(review) == WRITTEN.read_text()
