"""Pull requests at GitHub: find, open, change, comment on, close, and ask for reviews.

Every command may be repeated after a failure of which nobody knows what it did: `open` finds what was opened, comments are found by
their marker, and reviewers who were asked are not asked again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode

from gateway.core.model.json import Json
from reconciler.errors import GitHubFailed
from reconciler.publish.codeowners import Owners
from reconciler.publish.github_api import ApiReply, GitHubApi

_CREATED: Final = 201
_OK: Final = 200
_REFUSED: Final = 422
_UNKNOWN: Final = {403, 404}


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
