"""Terraform gets only listed variables."""

import os

import pytest

from reconciler.terraform.passed_environment import passed_environment

SECRETS = ("SENTINEL_MASTER_KEY", "DATABASE_URL", "GITHUB_TOKEN", "ANTHROPIC_API_KEY", "TF_VAR_password", "VAULT_TOKEN")


def test_only_what_is_listed_is_passed_on() -> None:
    environ = {"PATH": "/bin", "HOME": "/h", "AWS_REGION": "eu-west-1", **dict.fromkeys(SECRETS, "secret")}
    assert passed_environment(environ, more=(), own_key=False) == {
        "PATH": "/bin",
        "HOME": "/h",
        "AWS_REGION": "eu-west-1",
    }


def test_the_settings_may_add_variables_but_none_of_our_own() -> None:
    environ = dict.fromkeys(SECRETS, "secret")
    passed = passed_environment(environ, more=["TF_VAR_password", "SENTINEL_MASTER_KEY"], own_key=False)
    assert passed == {"TF_VAR_password": "secret"}


@pytest.mark.parametrize("name", ["AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONFIG_FILE"])
def test_with_a_key_of_its_own_the_machines_credentials_stay_out_of_reach(name: str) -> None:
    assert passed_environment({name: "mine"}, more=(), own_key=False) == {name: "mine"}
    passed = passed_environment({name: "mine"}, more=(), own_key=True)
    assert "mine" not in passed.values()
    assert passed["AWS_SHARED_CREDENTIALS_FILE"] == os.devnull
