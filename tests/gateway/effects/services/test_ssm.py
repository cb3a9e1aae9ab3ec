"""Parameters: plain text is shown, every other value is masked."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.core.model.masking import PER_RUN

PLAIN = {"aws_ssm_parameter.p": {"name": "/a/p", "type": "String"}}
INSECURE = {"aws_ssm_parameter.p": {"name": "/a/p", "type": "String", "insecure_value": "old"}}


def value_of(effects: Any) -> Any:
    return {effect.attribute: (effect.value, effect.sensitive) for effect in effects if "value" in effect.attribute}


@pytest.mark.parametrize(
    ("kind", "resources", "shown"),
    [
        ({"Type": "String"}, {}, {"value": ("x", False)}),
        ({}, PLAIN, {"value": ("x", False)}),
        ({}, INSECURE, {"insecure_value": ("x", False)}),
        ({"Type": "SecureString"}, {}, {"value": (PER_RUN.mask("x"), True)}),
        ({"Type": "SecureString"}, PLAIN, {"value": (PER_RUN.mask("x"), True)}),
        ({}, {}, {"value": (PER_RUN.mask("x"), True)}),
    ],
)
def test_only_a_value_known_to_be_plain_text_is_shown(
    effects_of: Callable[..., Any], kind: Any, resources: Any, shown: Any
) -> None:
    effects = effects_of("ssm", "PutParameter", {"Name": "/a/p", "Value": "x", **kind}, resources)
    assert value_of(effects) == shown


def test_an_arn_names_the_same_parameter(effects_of: Callable[..., Any]) -> None:
    arn = "arn:aws:ssm:eu-west-1:123456789012:parameter/a/p"
    (effect,) = effects_of("ssm", "DeleteParameter", {"Name": arn}, PLAIN)
    assert effect.address == "aws_ssm_parameter.p"


def test_running_code_is_never_understood(effects_of: Callable[..., Any]) -> None:
    assert effects_of("ssm", "SendCommand", {"DocumentName": "AWS-RunShellScript"}, {}) == ()
