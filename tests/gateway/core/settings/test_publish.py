"""Mistakes in the settings of GitHub are found at the start; the token goes only to a server that the settings name, over https."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gateway.core.settings import ReconcileSettings
from gateway.core.settings.publish import EventSourceKind, EventSourceSettings, GitHubSettings


def test_without_a_repository_nothing_is_needed() -> None:
    assert GitHubSettings().repository == ""


@pytest.mark.parametrize("api", ["https://api.github.com", "https://ghe.acme.example/api/v3", "http://127.0.0.1:8000"])
def test_a_complete_setting(api: str) -> None:
    assert GitHubSettings(repository="acme/infra", api=api, token_env="GH_TOKEN").api == api


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ({"repository": "infra"}, "owner/name"),
        ({"repository": "acme/.."}, "owner/name"),
        ({"repository": "acme/infra/x"}, "owner/name"),
        ({"token_env": ""}, "where the token is"),
        ({"token_file": Path("t")}, "where the token is"),
        ({"api": "http://api.github.com"}, "https://"),
        ({"api": "ftp://127.0.0.1"}, "https://"),
        ({"api": "https://user@api.github.com"}, "without user"),
        ({"api": "https://api.github.com/?a=b"}, "without user"),
        ({"api": "api.github.com"}, "without user"),
        ({"base": "-x"}, "base"),
        ({"token_env": "a b"}, "token_env"),
        ({"window_seconds": -1}, "window_seconds"),
    ],
)
def test_mistakes_are_named(members: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        GitHubSettings(**{"repository": "acme/infra", "token_env": "GH_TOKEN", **members})


def test_proposals_need_a_remote() -> None:
    github = GitHubSettings(repository="acme/infra", token_env="GH_TOKEN")
    with pytest.raises(ValidationError, match="needs `push`"):
        ReconcileSettings(github=github)
    assert ReconcileSettings(github=github, push="origin").github is github


def test_a_source_of_events_needs_its_place() -> None:
    for kind, name in (("files", "path"), ("bucket", "bucket"), ("queue", "url")):
        with pytest.raises(ValidationError, match=f"needs `{name}`"):
            EventSourceSettings(kind=EventSourceKind(kind))
    assert EventSourceSettings(kind=EventSourceKind.LOOKUP).region == ""
