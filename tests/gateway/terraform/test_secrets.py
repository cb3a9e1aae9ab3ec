"""Which attributes are secrets, and what of them is shown: by the provider's marks, by the lists, by names and by forms."""

import json
from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.core.model.masking import Masker, holds_mask, is_masked
from gateway.effects.schema import read_schemas
from gateway.terraform import secrets
from gateway.terraform.secrets import is_secret, masked, masked_text, may_hold_secret, shows_secret, unmasked_documents

MASKER = Masker(key=b"secrets")
MASKED = MASKER.mask("v")


def shown(value: Json, attribute: str, resource_type: str = "aws_x", recorded: Json = None) -> Any:
    return masked(value, resource_type=resource_type, attribute=attribute, masker=MASKER, recorded=recorded)


@pytest.mark.parametrize(
    ("resource_type", "attribute"),
    [
        ("aws_db_instance", "password"),
        ("aws_ssm_parameter", "value"),
        ("aws_ssm_parameter", "value.0"),
        ("aws_glue_connection", "connection_properties.PASSWORD"),
        ("aws_elasticache_replication_group", "auth_token"),
        ("random_password", "result"),
        ("aws_x", "dbPassword"),
        ("aws_x", "settings.0.API_KEY"),
        ("aws_x", "tags.--github-token"),
        ("aws_x", "hec_token"),
        ("aws_x", "master_password_wo"),
        ("aws_x", "bgp_auth_key"),
    ],
)
def test_secrets_are_known_by_mark_list_and_name(resource_type: str, attribute: str) -> None:
    assert is_secret(resource_type, attribute)
    assert shown("v", attribute, resource_type) == MASKED


@pytest.mark.parametrize(
    ("resource_type", "attribute"),
    [
        ("aws_lambda_function", "environment"),
        ("aws_lambda_function", "environment.variables"),
        ("aws_lambda_function", "environment.0.variables.MODE"),
        ("aws_ecs_task_definition", "container_definitions"),
        ("aws_launch_template", "user_data"),
        ("aws_instance", "user_data_base64"),
        ("aws_codebuild_project", "environment.environment_variable"),
        ("aws_glue_job", "default_arguments.--key"),
        ("aws_amplify_app", "environment_variables"),
        ("aws_cloudfront_distribution", "origin.custom_header.value"),
        ("aws_apprunner_service", "source_configuration.image_repository.image_configuration.runtime_environment_variables"),
        ("aws_batch_job_definition", "container_properties"),
    ],
)  # fmt: skip
def test_configuration_that_people_put_secrets_into(resource_type: str, attribute: str) -> None:
    assert may_hold_secret(resource_type, attribute)
    assert not is_secret(resource_type, attribute)
    assert holds_mask(shown("v", attribute, resource_type))


@pytest.mark.parametrize(
    ("value", "attribute"),
    [
        ("orders", "name"),
        (True, "manage_master_user_password"),
        (8, "password_length"),
        ("", "password"),
        ("arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf", "secret"),
        ("required", "metadata_options.http_tokens"),
        ("x", "client_token"),
        ("arn:aws:iam::123456789012:role/api", "credentials"),
        ("https://sqs.eu-west-1.amazonaws.com/123456789012/orders", "url"),
        ('{"Statement":[{"Resource":"arn:aws:secretsmanager:*:*:secret:db-*","Action":"secretsmanager:GetSecretValue"}]}', "policy"),
        ('{"Condition":{"StringLike":{"aws:PrincipalTag/password":"*"}}}', "policy"),
        ({"owner": "team", "cost": "7"}, "tags"),
    ],
)  # fmt: skip
def test_what_is_no_secret_is_shown_as_it_is(value: Json, attribute: str) -> None:
    assert shown(value, attribute) == value
    assert not shows_secret(value, resource_type="aws_x", attribute=attribute)


FORMS = {
    "a URL with a password": ("postgres://app:hunter2@db/app", "hunter2"),
    "a URL without a user": ("redis://:hunter2@cache:6379", "hunter2"),
    "a connection string": ("Server=db;User Id=app;Password=hunter2;", "hunter2"),
    "an Azure key": ("AccountName=a;AccountKey=aHVudGVyMg==;", "aHVudGVyMg"),
    "an option": ("serve --db-password=hunter2 --port=1", "hunter2"),
    "a line of HCL": ('  db_password                    = "hunter2"', "hunter2"),
    "JSON": ('{"user":"app","password": "hunter2"}', "hunter2"),
    "JSON in JSON": ('{"a":"{\\"password\\":\\"hunter2\\"}"}', "hunter2"),
    "a private key": ("-----BEGIN RSA PRIVATE KEY-----\nMIIhunter2+/=\n-----END RSA PRIVATE KEY-----", "MIIhunter2"),
    "a token of GitHub": ("use ghp_abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghijkl"),
    "a token of Slack": ("say xoxb-1234567890-abcdefghijkl", "abcdefghijkl"),
}


@pytest.mark.parametrize(("text", "secret"), FORMS.values(), ids=FORMS.keys())
def test_a_secret_inside_a_text_is_masked_and_the_rest_stays(text: str, secret: str) -> None:
    found = masked_text(text, MASKER)
    assert secret not in found
    assert "hmac_sha256:" in found
    assert found[:4] == text[:4]
    assert masked_text(text, Masker(key=b"other")) != found
    assert shows_secret(text, resource_type="aws_x", attribute="description")


def test_nobody_hides_a_statement_from_the_policies_by_a_secret_in_it() -> None:
    policy = '{"Statement":[{"Sid":"password=hunter2","Effect":"Allow","Action":"*","Resource":"*"}]}'
    (statement,) = json.loads(shown(policy, "policy"))["Statement"]
    assert (statement["Effect"], statement["Action"], statement["Resource"]) == ("Allow", "*", "*")


def test_a_mask_stays_in_the_string_it_begins_in() -> None:
    text = '{"a":["x://b:","c@"],"b":{"password":"hunter2","c":1.50},"k":["-----BEGIN PRIVATE KEY-----","AAAA","-----END PRIVATE KEY-----"]}'
    assert masked_text(text, MASKER) == text.replace("hunter2", f"hmac_sha256:{MASKER.digest('hunter2')[:16]}")


@pytest.mark.parametrize(
    "text",
    ['x://a:b"},{"c@d', "x://a:b c@d", "x://a:{b}@d", "password=\nhunter2", "-----BEGIN PRIVATE KEY-----\nrm -rf\n-----END PRIVATE KEY-----"],
)  # fmt: skip
def test_no_mask_crosses_quotes_brackets_or_blanks(text: str) -> None:
    assert masked_text(text, MASKER) == text


def test_policies_are_given_documents_as_they_are_and_no_other_secret() -> None:
    document = '{"a":"x://b:hunter2@d"}'
    value: Json = {
        "policy": document,
        "items": [document, "x://b:hunter2@d"],
        "password": document,
        "odd": "{x://b:c@d",
    }
    judged = unmasked_documents(value, shown(value, "v"))
    other = f"x://b:hmac_sha256:{MASKER.digest('hunter2')[:16]}@d"
    assert judged == {
        "policy": document,
        "items": [document, other],
        "password": MASKER.mask(document),
        "odd": "{x://b:c@d",
    }


@pytest.mark.parametrize(
    "unit", ["password=", "://a:", "secret =", "-----BEGIN PRIVATE KEY-----", "ghp_", '"password":"', "=" * 9, "a@"]
)
def test_a_text_made_to_be_slow_is_searched_once(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts the digests made: they grow with the text, and no part of it is masked twice."""
    made: list[int] = []
    digest = Masker.digest

    def counted(masker: Masker, text: str) -> str:
        made.append(len(text))
        return digest(masker, text)

    monkeypatch.setattr(Masker, "digest", counted)
    text = unit * (20_000 // len(unit))
    masked_text(text, MASKER)
    assert sum(made) <= len(text)


def test_of_a_container_only_what_cannot_be_a_secret_is_shown() -> None:
    definition: dict[str, Any] = {
        "name": "web",
        "image": "web:1",
        "environment": [{"name": "MODE", "value": "hunter2"}],
        "command": ["serve", "hunter2"],
        "logConfiguration": {"logDriver": "splunk", "options": {"token": "hunter2"}},
        "secrets": [{"name": "KEY", "valueFrom": "arn:aws:ssm:eu-west-1:123456789012:parameter/key"}],
        "tomorrowsMember": "hunter2",
    }
    (found,) = json.loads(shown(json.dumps([definition]), "container_definitions", "aws_ecs_task_definition"))
    assert "hunter2" not in repr(found)
    assert (found["image"], found["secrets"]) == ("web:1", definition["secrets"])
    assert found["environment"][0]["name"] == "MODE"
    assert is_masked(found["environment"][0]["value"])
    assert found["logConfiguration"]["logDriver"] == "splunk"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        '"hunter2"',
        '[{"image":"a","image":"b"}]',
        '["hunter2"]',
        '{"environment": "hunter2"}',
        "[" * 100_000,
    ],
)
def test_container_definitions_in_another_form_are_masked_as_a_whole(text: str) -> None:
    assert is_masked(shown(text, "container_definitions", "aws_ecs_task_definition"))


@pytest.mark.parametrize("odd", ["hunter2", ["hunter2"], [["hunter2"]], {"a": "hunter2"}, 4711])
def test_an_environment_in_another_form_is_masked(odd: Json) -> None:
    text = json.dumps([{"environment": odd, "logConfiguration": odd}])
    found = shown(text, "container_definitions", "aws_ecs_task_definition")
    assert "hunter2" not in found
    assert "4711" not in found


def test_the_order_of_members_does_not_matter() -> None:
    one, other = '[{"name":"a","environment":[]}]', '[{"environment": [], "name": "a"}]'
    kind = ("container_definitions", "aws_ecs_task_definition")
    assert shown(one, *kind) == shown(other, *kind)


@pytest.mark.parametrize(
    ("value", "attribute", "recorded", "expected"),
    [
        ("v", "name", None, "v"),
        ("v", "name", MASKED, MASKED),
        (6, "size", MASKED, MASKER.mask(6)),
        (None, "name", MASKED, None),
        ({"a": "v", "b": "w"}, "settings", {"a": MASKED}, {"a": MASKED, "b": "w"}),
        (["v", "w"], "list", [MASKED], [MASKED, "w"]),
        ([{"a": "v"}], "list", [{"a": MASKED}], [{"a": MASKED}]),
        ("v", "list", [MASKED], "v"),
    ],
)
def test_what_the_state_marks_is_masked_in_the_new_value_too(
    value: Json, attribute: str, recorded: Json, expected: Json
) -> None:
    assert shown(value, attribute, recorded=recorded) == expected


def test_the_provider_marks_are_those_of_its_schema() -> None:
    marks = secrets._sensitive()
    schemas = read_schemas(marks)
    assert {name: set(map(str, schema.sensitive)) for name, schema in schemas.items()} == {
        name: set(attributes) for name, attributes in marks.items()
    }


def test_the_lists_name_attributes_that_the_provider_has() -> None:
    schemas = read_schemas(secrets._OFTEN_SECRET)
    wrong = [
        (name, attribute)
        for name, attributes in secrets._OFTEN_SECRET.items()
        for attribute in attributes - {"outputs", "all_settings"}  # only the state has these two
        if not schemas[name].knows(attribute)
    ]
    assert wrong == []
