"""What AWS marks as sensitive is known without botocore; what would run is shown to an approver all the same."""

import pytest

from gateway.effects.sensitive_members import reply_may_hold_secret, sensitive_parameters


@pytest.mark.parametrize(
    ("service", "operation", "member"),
    [
        ("lambda", "UpdateFunctionConfiguration", "Variables"),
        ("ecs", "RegisterTaskDefinition", "environment"),
        ("rds", "ModifyDBInstance", "MasterUserPassword"),
        ("secretsmanager", "PutSecretValue", "SecretString"),
        ("ssm", "PutParameter", "Value"),
        ("ec2", "RunInstances", "UserData"),
        ("iam", "CreateLoginProfile", "Password"),
    ],
)
def test_marked_parameters_are_known(service: str, operation: str, member: str) -> None:
    assert member in sensitive_parameters(service, operation)


@pytest.mark.parametrize(
    ("service", "operation"),
    [
        ("ssm", "SendCommand"),
        ("lambda", "Invoke"),
        ("stepfunctions", "StartExecution"),
        ("sqs", "PurgeQueue"),
        ("x", "Y"),
    ],
)
def test_what_would_run_is_shown(service: str, operation: str) -> None:
    assert not sensitive_parameters(service, operation) & {"Parameters", "Payload", "input"}


@pytest.mark.parametrize(
    ("service", "operation", "expected"),
    [
        ("lambda", "UpdateFunctionConfiguration", True),
        ("lambda", "PublishVersion", True),
        ("ecs", "RegisterTaskDefinition", True),
        ("ec2", "CreateLaunchTemplateVersion", True),
        ("iam", "CreateAccessKey", True),
        ("s3", "PutObject", False),
        ("autoscaling", "SetDesiredCapacity", False),
        ("rds", "ModifyDBInstance", False),
    ],
)
def test_replies_that_repeat_secrets_are_known(service: str, operation: str, expected: bool) -> None:
    assert reply_may_hold_secret(service, operation) is expected
