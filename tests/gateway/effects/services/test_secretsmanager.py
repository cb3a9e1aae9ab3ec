"""No effect contains a secret's value."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.core.model.masking import PER_RUN
from gateway.core.model.mutation import EffectAction

ARN = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf"
RESOURCES = {
    "aws_secretsmanager_secret.s": {"name": "db", "arn": ARN},
    "aws_secretsmanager_secret_version.v": {"secret_id": ARN},
}


@pytest.mark.parametrize("name", ["db", ARN])
def test_a_new_value_is_a_hash(effects_of: Callable[..., Any], name: str) -> None:
    (effect,) = effects_of("secretsmanager", "PutSecretValue", {"SecretId": name, "SecretString": "hush"}, RESOURCES)
    assert (effect.address, effect.attribute) == ("aws_secretsmanager_secret_version.v", "secret_string")
    assert effect.sensitive
    assert effect.value == PER_RUN.mask("hush")


def test_creating_a_secret_with_a_value_creates_two_resources(effects_of: Callable[..., Any]) -> None:
    effects = effects_of("secretsmanager", "CreateSecret", {"Name": "x", "SecretBinary": {"$bytes": 4}}, {})
    assert {effect.resource_type for effect in effects} == {
        "aws_secretsmanager_secret",
        "aws_secretsmanager_secret_version",
    }
    assert {effect.action for effect in effects} == {EffectAction.CREATE}
    assert "zzzz" not in repr(effects)


def test_an_update_that_changes_nothing_is_not_understood(effects_of: Callable[..., Any]) -> None:
    assert effects_of("secretsmanager", "UpdateSecret", {"SecretId": "db"}, RESOURCES) == ()
