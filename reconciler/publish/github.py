"""Pull requests at GitHub: find, open, change, comment on, close, and ask for reviews. No error repeats the token, which goes to no other server.

Every command may be repeated after a failure of which nobody knows what it did: `open` finds what was opened, comments are found by
their marker, and reviewers who were asked are not asked again.

Source: "Getting started with the REST API", "Rate limits" and "Using pagination" in GitHub's documentation.
"""

import json
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from gateway.core.model.json import Json
from gateway.core.outbound.client import OutboundClient
from gateway.core.outbound.response import HttpResponse, OutboundFailure, ResponseOverdue, ResponseTooLong
from reconciler.errors import GitHubBusy, GitHubFailed
from reconciler.publish.codeowners import Owners

_ACCEPT: Final = "application/vnd.github+json"
_VERSION: Final = "2022-11-28"
_SECONDS: Final = 30.0
_LARGEST: Final = 16 * 1024 * 1024
_MOST_PAGES: Final = 50
_NEXT: Final = re.compile(r'<([^>]+)>;[^,]*rel="next"')
_TOKEN: Final = re.compile(r"[\x21-\x7e]{8,512}")
_BUSY: Final = {403, 429}
_LONGEST_WAIT: Final = 3_600.0
_SERVER_ERROR: Final = 500
_SUCCESS: Final = range(200, 300)
_REDIRECT: Final = range(300, 400)
_CREATED: Final = 201
_OK: Final = 200
_REFUSED: Final = 422
_UNKNOWN: Final = {403, 404}


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """Where the token is; it is read at each use, so that it can be rotated."""

    file: Path | None = None
    variable: str = ""

    def read(self) -> str:
        """The token. Raises `errors.GitHubFailed`, which names the place and never the content."""
        where = f"the file {self.file}" if self.file else f"the variable {self.variable}"
        try:
            token = (self.file.read_text() if self.file else os.environ.get(self.variable, "")).strip()
        except (OSError, UnicodeDecodeError) as error:
            message = f"The GitHub token in {where} cannot be read ({type(error).__name__}), so nothing was sent."
            raise GitHubFailed(message) from error
        if not _TOKEN.fullmatch(token):
            raise GitHubFailed(
                f"There is no GitHub token in {where}: one line of visible characters. Nothing was sent."
            )
        return token


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiReply:
    """A reply of GitHub, whatever it says."""

    status: int
    document: Any
    """The JSON; None if there is none."""
    following: str = ""
    """URL of the next page; empty on the last one."""

    @property
    def says(self) -> str:
        """GitHub's own reason, on one line; it may repeat what we sent, never the token."""
        document = self.document if isinstance(self.document, Mapping) else {}
        errors = document.get("errors") if isinstance(document.get("errors"), list) else []
        details = [
            str(each.get("message") or each.get("code") or "") if isinstance(each, Mapping) else str(each)
            for each in errors or []
        ]
        text = "; ".join(part for part in (str(document.get("message") or ""), *details) if part)
        return " ".join(text.split())[:500] or f"status {self.status}"


@dataclass(frozen=True, slots=True)
class GitHubApi:
    """The REST API at one fixed URL."""

    url: str
    token: Token
    seconds: float = _SECONDS
    """How long one request may take."""
    now: Callable[[], float] = time.time

    async def request(self, method: str, path: str, body: Mapping[str, Json] | None = None) -> ApiReply:
        """The reply to one request. It is sent once.

        Raises `errors.GitHubBusy` if GitHub wants us to wait, `errors.GitHubFailed` for a network failure, a status of 5xx, a
        redirection, or a refused token. What a request without an answer did is not known: ask before it is sent again.
        """
        return await self._send(method, self._address(path), body)

    async def all(self, path: str) -> list[Any]:
        """The members of a list on all its pages. Raises as `request`, and `errors.GitHubFailed` for what is no list."""
        found: list[Any] = []
        url = self._address(path)
        for _ in range(_MOST_PAGES):
            reply = await self._send("GET", url, None)
            if reply.status not in _SUCCESS or not isinstance(reply.document, list):
                raise GitHubFailed(f"GitHub did not list {urlsplit(url).path}: {reply.says}.")
            found += reply.document
            if not reply.following:
                return found
            url = self._own(reply.following)
        raise GitHubFailed(
            f"GitHub's list {urlsplit(url).path} has more than {_MOST_PAGES} pages; nothing was changed."
        )

    def _address(self, path: str) -> str:
        return f"{self.url.rstrip('/')}{path}"

    def _own(self, url: str) -> str:
        """The URL of the next page. The token goes to no other server. Raises `errors.GitHubFailed`."""
        if not url.startswith(f"{self.url.rstrip('/')}/"):
            raise GitHubFailed(f"GitHub's list goes on at another server ({urlsplit(url).netloc}), so it was not read.")
        return url

    async def _send(self, method: str, url: str, body: Mapping[str, Json] | None) -> ApiReply:
        where = f"{method} {urlsplit(url).path}"
        headers = {
            "Accept": _ACCEPT,
            "X-GitHub-Api-Version": _VERSION,
            "User-Agent": "sentinel",
            "Authorization": f"Bearer {self.token.read()}",
        }
        content = None
        if body is not None:
            headers["Content-Type"], content = "application/json", json.dumps(body).encode()
        client = OutboundClient(seconds=self.seconds, most_bytes=_LARGEST, unpack=True)
        try:
            response = await client.request(method, url, headers=headers, body=content, proxy=_proxy(url))
        except ResponseOverdue as error:
            message = f"GitHub did not answer {where} within {self.seconds:g} seconds. It is asked before anything is sent again."
            raise GitHubFailed(message) from error
        except ResponseTooLong as error:
            raise GitHubFailed(f"A reply of GitHub is longer than {_LARGEST} bytes, so it was not read.") from error
        except OutboundFailure as error:
            raise GitHubFailed(f"GitHub could not be reached for {where} ({error}).") from error
        return self._judged(where, response)

    def _judged(self, where: str, response: HttpResponse) -> ApiReply:
        following = _NEXT.search(response.header("link"))
        reply = ApiReply(
            status=response.status, document=response.document(), following=following[1] if following else ""
        )
        if reply.status in _BUSY and (wait := self._wait(response, reply)) is not None:
            raise GitHubBusy.wanting(where, wait)
        if reply.status == 401:  # noqa: PLR2004  HTTP
            raise GitHubFailed(f"GitHub refused the token at {where}: {reply.says}. Put a valid one in its place.")
        if reply.status in _REDIRECT:
            raise GitHubFailed(
                f"GitHub answered {where} with a redirection, which is not followed: the repository was renamed or moved. "
                "Set `reconcile.github.repository` to its new name."
            )
        if reply.status >= _SERVER_ERROR:
            raise GitHubFailed(f"GitHub answered {where} with {reply.status}: {reply.says}. It is tried again.")
        return reply

    def _wait(self, response: HttpResponse, reply: ApiReply) -> float | None:
        """How many seconds GitHub wants us to wait; None if the refusal is not about the rate."""
        if after := _number(response.header("retry-after")):
            return min(after, _LONGEST_WAIT)
        if response.header("x-ratelimit-remaining") == "0":
            reset = _number(response.header("x-ratelimit-reset")) or 0.0
            return min(max(reset - self.now(), 1.0), _LONGEST_WAIT)
        return 60.0 if reply.status == 429 or "secondary rate limit" in reply.says.lower() else None  # noqa: PLR2004  HTTP


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """A pull request, as far as Sentinel needs it."""

    number: int
    url: str
    """For people."""
    is_open: bool
    merged: bool
    head: str
    """The commit at the end of its branch."""
    base: str
    title: str
    body: str
    author: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Forge:
    """One repository at GitHub."""

    api: GitHubApi
    repository: str
    """`owner/name`."""

    @property
    def owner(self) -> str:
        """The user or organization that owns the repository."""
        return self.repository.partition("/")[0]

    async def login(self) -> str:
        """The token's own user; empty for the token of an app, which has none. Raises `errors.GitHubFailed`."""
        reply = await self.api.request("GET", "/user")
        if reply.status in _UNKNOWN:
            return ""
        return str(_table(_expected(reply, _OK, "say whose token it is")).get("login") or "")

    async def of_branch(self, branch: str) -> tuple[PullRequest, ...]:
        """Every pull request from a branch of this repository, open or not, the latest first. Raises `errors.GitHubFailed`."""
        query = urlencode(
            {
                "head": f"{self.owner}:{branch}",
                "state": "all",
                "per_page": "100",
                "sort": "created",
                "direction": "desc",
            }
        )
        rows = await self.api.all(f"{self._path('/pulls')}?{query}")
        return tuple(_pull_request(row) for row in rows if self._is_of(row, branch))

    async def open(self, *, branch: str, base: str, title: str, body: str) -> PullRequest | None:
        """A new pull request, or the one that was open already; None if the branch has nothing that `base` has not.

        Raises `errors.GitHubFailed`.
        """
        form: dict[str, Json] = {
            "title": title,
            "head": branch,
            "base": base,
            "body": body,
            "maintainer_can_modify": True,
        }
        reply = await self.api.request("POST", self._path("/pulls"), form)
        if reply.status != _REFUSED:
            return _pull_request(_expected(reply, _CREATED, "open a pull request"))
        for found in await self.of_branch(branch):
            if found.is_open and found.base == base:
                return found
        if "no commits between" in reply.says.lower():
            return None
        raise GitHubFailed(f"GitHub did not open a pull request for {branch}: {reply.says}. The branch is pushed.")

    async def change(self, number: int, **members: str) -> None:
        """Set `title`, `body`, `base` or `state`. Raises `errors.GitHubFailed`."""
        _expected(
            await self.api.request("PATCH", self._path(f"/pulls/{number}"), dict(members)), _OK, f"change #{number}"
        )

    async def comments(self, number: int, login: str) -> tuple[str, ...]:
        """The texts of our own comments: anyone else could repeat a marker. Raises `errors.GitHubFailed`."""
        rows = await self.api.all(self._path(f"/issues/{number}/comments?per_page=100"))
        return tuple(str(row.get("body") or "") for row in rows if isinstance(row, Mapping) and _is_own(row, login))

    async def comment(self, number: int, body: str) -> None:
        """Add a comment. Raises `errors.GitHubFailed`."""
        reply = await self.api.request("POST", self._path(f"/issues/{number}/comments"), {"body": body})
        _expected(reply, _CREATED, f"comment on #{number}")

    async def ask(self, number: int, owners: Owners) -> tuple[str, ...]:
        """Ask for reviews; returns those whom GitHub does not let review. Raises `errors.GitHubFailed`.

        GitHub refuses a whole list for one member who may not read the repository, so then each is asked alone.
        """
        own = f"{self.owner}/"
        outside = tuple(team for team in owners.teams if not team.startswith(own))
        members = [("reviewers", user) for user in owners.users]
        members += [("team_reviewers", team.removeprefix(own)) for team in owners.teams if team.startswith(own)]
        if not members or await self._ask(number, members):
            return outside
        if len(members) == 1:
            return (*outside, members[0][1])
        return (*outside, *[name for kind, name in members if not await self._ask(number, [(kind, name)])])

    async def _ask(self, number: int, members: Sequence[tuple[str, str]]) -> bool:
        form: dict[str, Json] = {
            kind: [name for each, name in members if each == kind] for kind in {kind for kind, _ in members}
        }
        reply = await self.api.request("POST", self._path(f"/pulls/{number}/requested_reviewers"), form)
        if reply.status == _REFUSED:
            return False
        _expected(reply, _CREATED, f"ask for reviews of #{number}")
        return True

    def _path(self, rest: str) -> str:
        return f"/repos/{quote(self.repository)}{rest}"

    def _is_of(self, row: Any, branch: str) -> bool:
        """Whether the pull request comes from this branch of this repository, and not from one of the same name in a fork."""
        head = _table(_table(row).get("head"))
        full_name = str(_table(head.get("repo")).get("full_name") or "")
        return head.get("ref") == branch and full_name.lower() == self.repository.lower()


def _is_own(row: Mapping[str, Any], login: str) -> bool:
    user = _table(row.get("user"))
    return str(user.get("login")).lower() == login.lower() if login else user.get("type") == "Bot"


def _expected(reply: ApiReply, status: int, what: str) -> Any:
    if reply.status == status:
        return reply.document
    hint = " The token may lack rights on the repository." if reply.status in _UNKNOWN else ""
    raise GitHubFailed(f"GitHub did not {what} ({reply.status}): {reply.says}.{hint}")


def _pull_request(row: Any) -> PullRequest:
    """Raises `errors.GitHubFailed` for a row without the members that GitHub documents."""
    try:
        return PullRequest(
            number=int(row["number"]),
            url=str(row["html_url"]),
            is_open=row["state"] == "open",
            merged=row.get("merged_at") is not None,
            head=str(row["head"]["sha"]),
            base=str(row["base"]["ref"]),
            title=str(row["title"]),
            body=str(row.get("body") or ""),
            author=str(_table(row.get("user")).get("login") or ""),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise GitHubFailed(
            f"GitHub described a pull request otherwise than documented ({type(error).__name__})."
        ) from error


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _number(text: str) -> float | None:
    try:
        return max(float(text), 0.0) if text else None
    except ValueError:
        return None


def _proxy(url: str) -> str:
    """The proxy that git uses too; none for this machine."""
    return os.environ.get("https_proxy", "") if urlsplit(url).scheme == "https" else ""
