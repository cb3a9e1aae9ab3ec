"""Settings of the services that the reconciler uses: GitHub for pull requests, and the sources of CloudTrail's events."""

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from gateway.core.settings.table import SettingsTable

_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")


class GitHubSettings(SettingsTable):
    """One GitHub repository in which the stacks' branches are proposed as pull requests."""

    repository: str = ""
    """`owner/name`; empty: branches are pushed, and nobody opens pull requests."""
    api: str = "https://api.github.com"
    """URL of the REST API; with GitHub Enterprise Server `https://HOST/api/v3`. Nothing in a repository changes it."""
    token_file: Path | None = None
    """File that holds the token, read at each use, so that it can be rotated. The token needs contents and pull requests, read and write."""
    token_env: Annotated[str, Field(pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")] = ""
    """Name of the environment variable that holds the token instead."""
    base: Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9._/-]*)?$")] = ""
    """Branch at GitHub that the pull requests are to be merged into; default: the protected branch's own name."""
    window_seconds: Annotated[float, Field(ge=0, le=86_400)] = 30.0
    """Changes that follow each other within this time are proposed together."""
    look_seconds: Annotated[float, Field(ge=1, le=86_400)] = 120.0
    """How often GitHub is looked at without a change of ours: a pull request may be closed, a branch pushed to."""
    ask_reviewers: bool = True
    """Whether the owners of the changed files in CODEOWNERS are asked for a review."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if not self.repository:
            return self
        if not _NAME.fullmatch(self.repository):
            raise ValueError(f"`repository` is `owner/name`, not {self.repository!r}.")
        if (self.token_file is None) == (not self.token_env):
            raise ValueError("Set one of `token_file` and `token_env`: where the token is.")
        parts = urlsplit(self.api)
        if not parts.hostname or parts.username or parts.query or parts.fragment:
            raise ValueError("`api` is the URL of a REST API, without user, query and fragment.")
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
            raise ValueError("`api` must begin with https://, because the token goes there.")
        return self


class EventSourceKind(StrEnum):
    """Where CloudTrail's events are."""

    FILES = "files"
    BUCKET = "bucket"
    LOOKUP = "lookup"
    QUEUE = "queue"


class EventSourceSettings(SettingsTable):
    """One source of CloudTrail events, which say who made a change from outside."""

    kind: EventSourceKind
    """The kind of the source."""
    path: Path | None = None
    """With `files`: a file, or a directory of `.json` and `.json.gz` files, as CloudTrail delivers them."""
    bucket: str = ""
    """With `bucket`: where CloudTrail delivers to."""
    prefix: str = "AWSLogs/"
    """With `bucket`: the beginning of the keys under which CloudTrail delivers."""
    url: str = ""
    """With `queue`: URL of the SQS queue that an EventBridge rule for `AWS API Call via CloudTrail` fills."""
    region: str = ""
    """Region of the bucket, the queue, or the trail; default: the default region."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needed = {EventSourceKind.FILES: "path", EventSourceKind.BUCKET: "bucket", EventSourceKind.QUEUE: "url"}
        name = needed.get(self.kind)
        if name and not getattr(self, name):
            raise ValueError(f"A source of kind `{self.kind}` needs `{name}`.")
        return self
