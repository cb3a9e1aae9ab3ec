"""The environment that points an AWS client at Sentinel."""

import pytest
from boto3.session import Session

from gateway.cli.aws_environment import aws_variables, conflicting_variables, with_aws_variables

OURS = aws_variables(url="http://127.0.0.1:8484", key_id="SNTLAAAAAAAAAAAAAAAA", secret="s" * 40, region="eu-west-1")
STALE = {
    "AWS_PROFILE": "prod",
    "AWS_SESSION_TOKEN": "of another key",
    "AWS_ENDPOINT_URL_AUTOSCALING": "https://elsewhere.example",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true",
    "AWS_ACCESS_KEY_ID": "AKIAELSEWHERE",
    "AWS_REGION": "us-west-2",
    "EDITOR": "vi",
}


def test_conflicting_variables_are_removed_and_the_rest_stays() -> None:
    assert with_aws_variables(STALE, OURS) == {**OURS, "EDITOR": "vi"}


def test_without_a_region_the_users_own_stays() -> None:
    ours = aws_variables(url="http://127.0.0.1:8484", key_id="a", secret="b")
    assert with_aws_variables(STALE, ours)["AWS_REGION"] == "us-west-2"


def test_boto3_follows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in STALE.items():
        monkeypatch.setenv(name, value)
    for name in conflicting_variables(STALE):
        monkeypatch.delenv(name, raising=False)
    for name, value in OURS.items():
        monkeypatch.setenv(name, value)
    session = Session()
    client = session.client("autoscaling")
    credentials = session.get_credentials()
    assert credentials is not None
    assert (client.meta.endpoint_url, client.meta.region_name) == ("http://127.0.0.1:8484", "eu-west-1")
    assert (credentials.access_key, credentials.token) == ("SNTLAAAAAAAAAAAAAAAA", None)
