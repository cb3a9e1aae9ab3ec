"""Everybody who masks, shows or reviews secrets knows every word of the one vocabulary, in every spelling."""

import re
from pathlib import Path

import pytest

from gateway.aws.models.read_review import secret_members
from gateway.core.model.json import Json
from gateway.core.model.masking import Masker
from gateway.core.model.mutation import Call
from gateway.effects.masking import is_often_secret, masked_parameters
from gateway.terraform.secret_vocabulary import WORDS, is_often_secret_name, is_secret_name
from gateway.terraform.secrets import is_secret, masked_text, may_hold_secret, shows_secret
from reconciler.suggest.redaction import has_secret_key, redact
from reconciler.terraform.plain_settings import is_plain_setting

SECRET = "hunter2"
MASKER = Masker(key=b"vocabulary")


def _spellings(word: str) -> list[str]:
    parts = word.split()
    camel = "".join(part.capitalize() for part in parts)
    spellings = [
        "_".join(parts),
        f"db_{'_'.join(parts)}",
        "-".join(parts),
        "".join(parts),
        camel,
        f"Db{camel}",
        "_".join(parts).upper(),
    ]
    return list(dict.fromkeys(spellings))


NAMES = [name for word in WORDS for name in _spellings(word)]


def test_every_name_of_the_vocabulary_is_masked_in_calls_attributes_texts_and_code() -> None:
    assert {name: shown for name in NAMES if (shown := _shown(name))} == {}


def _shown(name: str) -> list[str]:
    """Where a secret of this name is shown."""
    masked = {
        "a name": is_secret_name(name),
        "a parameter": SECRET not in _call(**{name: SECRET}),
        "a tag": SECRET not in _call(Tags=[{"Name": name, "Value": SECRET}]),
        "an attribute": is_secret("aws_x", name) or may_hold_secret("aws_x", name),
        "a value": shows_secret(SECRET, resource_type="aws_x", attribute=name),
        "a setting": not is_plain_setting("aws_lambda_function", ("environment", "variables", name), "true words", {}),
    }
    for text in (f"{name}={SECRET}", f'{{"{name}": "{SECRET}"}}', f'--{name}="{SECRET}"', f"{name} = {SECRET}"):
        masked[f"the text {text}"] = SECRET not in masked_text(text, MASKER)
        masked[f"a parameter with the text {text}"] = SECRET not in _call(Text=text)
    return [where for where, is_masked in masked.items() if not is_masked]


def _call(**parameters: Json) -> str:
    """What is shown of a call with these parameters."""
    return str(masked_parameters(Call(service="s", operation="O", parameters=parameters)))


@pytest.mark.parametrize("word", [word for word in WORDS if word != "user data"])
def test_a_word_of_the_vocabulary_is_masked_in_code_for_a_model_and_asks_for_a_review_of_a_read(word: str) -> None:
    name = word.replace(" ", "_")
    assert has_secret_key(f"{name}: {SECRET}")
    code = {Path("main.tf"): f'resource "aws_x" "a" {{\n  {name} = "{SECRET}"\n}}\n'.encode()}
    assert SECRET not in redact(code, MASKER).files[Path("main.tf")]
    shapes = {"Out": {"type": "structure", "members": {name: {"shape": "Text"}}}, "Text": {"type": "string"}}
    assert secret_members(shapes, "Out") == {name}


@pytest.mark.parametrize("option", ["--db-password", "--database-url", "--dsn", "--license-key"])
def test_the_argument_of_an_option_named_by_the_vocabulary_is_masked(option: str) -> None:
    shown = masked_parameters(
        Call(
            service="s",
            operation="O",
            parameters={"Command": ["run", option, SECRET], "Line": f"run {option} {SECRET}"},
        )
    )
    assert SECRET not in str(shown)


@pytest.mark.parametrize(
    "name",
    ["client_token", "NextToken", "nexttoken", "ClientRequestToken", "creation_token", "lock_token", "SecretId", "KmsKeyId", "password_length", "MessageDsn"],
)  # fmt: skip
def test_a_name_that_only_resembles_one_is_none(name: str) -> None:
    assert not is_secret_name(name)
    assert masked_parameters(Call(service="s", operation="O", parameters={name: "v"})) == {name: "v"}
    assert not shows_secret("v", resource_type="aws_x", attribute=name)


@pytest.mark.parametrize(
    "name",
    [
        "unlock_token",
        "UnlockToken",
        "x" * 300 + "_password",
        "password_wo",
        "x-api-key",
        "GITHUB_UPDATE_TOKEN",
        "deploy_lock_token",
        "SENTRY_MESSAGE_DSN",
    ],
)
def test_what_only_resembles_a_public_name_is_a_secret(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["custom_json", "StartupScript", "user_data_base64", "ContainerEnvironmentVariables"])
def test_what_often_holds_secrets_does_so_in_calls_and_attributes(name: str) -> None:
    assert is_often_secret_name(name)
    assert is_often_secret(name)
    assert may_hold_secret("aws_x", name)


@pytest.mark.parametrize("text", ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", "postgres://app:hunter2@db/app"])
def test_a_form_of_the_vocabulary_is_masked_in_calls_and_attributes(text: str) -> None:
    secret = re.sub(r".*app:|@.*|^ghp_", "", text)
    assert secret not in masked_text(text, MASKER)
    assert secret not in str(masked_parameters(Call(service="s", operation="O", parameters={"Text": text})))


def test_a_reference_under_the_name_of_a_secret_is_shown_in_a_document() -> None:
    text = '{"credentials": "arn:aws:iam::123456789012:role/api", "x": {"secret": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf"}}'
    assert masked_text(text, MASKER) == text
