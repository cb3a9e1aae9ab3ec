"""A GitHub on loopback for tests: pull requests, comments and reviews as its REST API documents them, and its failures.

Source: "REST API endpoints for pull requests", "… issue comments", "… review requests" in GitHub's documentation.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

TOKEN = "ghp_0123456789abcdefghij"
REPOSITORY = "acme/infra"
_PAGE = 2
"""Entries on a page, so that every list of a test has several."""


@dataclass
class GitHubDouble:
    """The repository as GitHub has it, and how it answers the next requests."""

    head_of: Callable[[str], str] = lambda _: "c0ffee"
    """The commit of a branch; empty if there is none."""
    has_commits: Callable[[str, str], bool] = lambda _base, _head: True
    collaborators: frozenset[str] = frozenset({"ada", "bob", "platform"})
    login: str = "sentinel-bot"
    pulls: list[dict[str, Any]] = field(default_factory=list)
    comments: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    reviewers: dict[int, set[str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """Every request, as `METHOD path`."""
    faults: dict[int, str] = field(default_factory=dict)
    """By the number of a request, from 0: lost (no answer, nothing done), unanswered (done, no answer), busy, broken (500), moved, slow."""
    tokens: set[str] = field(default_factory=lambda: {TOKEN})
    url: str = ""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["GitHubDouble"]:
        """The double, listening on loopback until the block ends."""
        application = web.Application(middlewares=[self._middleware])
        repository = f"/repos/{REPOSITORY}"
        application.router.add_get("/user", self._user)
        application.router.add_get(f"{repository}/pulls", self._list)
        application.router.add_post(f"{repository}/pulls", self._create)
        application.router.add_patch(f"{repository}/pulls/{{number}}", self._patch)
        application.router.add_get(f"{repository}/issues/{{number}}/comments", self._comments)
        application.router.add_post(f"{repository}/issues/{{number}}/comments", self._comment)
        application.router.add_post(f"{repository}/pulls/{{number}}/requested_reviewers", self._ask)
        runner = web.AppRunner(application, shutdown_timeout=0.1)  # a request that never ends is not waited for
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield self
        finally:
            await runner.cleanup()

    @property
    def open(self) -> list[dict[str, Any]]:
        """The open pull requests."""
        return [each for each in self.pulls if each["state"] == "open"]

    def texts(self, number: int) -> list[str]:
        """The comments on a pull request."""
        return [each["body"] for each in self.comments.get(number, [])]

    def add(self, branch: str, *, author: str = "ada", base: str = "main", **more: Any) -> dict[str, Any]:
        """A pull request that somebody opened."""
        number = len(self.pulls) + 1
        row = {
            "number": number,
            "html_url": f"https://github.example/{REPOSITORY}/pull/{number}",
            "state": "open",
            "merged_at": None,
            "title": "",
            "body": None,
            "user": {"login": author, "type": "User"},
            "head": {"ref": branch, "sha": self.head_of(branch), "repo": {"full_name": REPOSITORY}},
            "base": {"ref": base},
            **more,
        }
        self.pulls.append(row)
        return row

    @web.middleware
    async def _middleware(self, request: web.Request, handler: Callable[[web.Request], Any]) -> web.StreamResponse:
        number = len(self.asked)
        self.asked.append(f"{request.method} {request.path}")
        fault = self.faults.get(number, "")
        if request.headers.get("Authorization", "").removeprefix("Bearer ") not in self.tokens:
            return _said(401, "Bad credentials")
        match fault:
            case "busy":
                return _said(403, "You have exceeded a secondary rate limit.", {"Retry-After": "7"})
            case "exhausted":
                return _said(403, "API rate limit exceeded", {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "160"})
            case "broken":
                return _said(502, "Server Error")
            case "moved":
                return _said(301, "Moved Permanently", {"Location": "http://127.0.0.1:9/elsewhere"})
            case "slow":
                await asyncio.Event().wait()
        if fault != "lost":
            response: web.StreamResponse = await handler(request)
            if fault != "unanswered":
                return response
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async def _user(self, _: web.Request) -> web.Response:
        return (
            web.json_response({"login": self.login})
            if self.login
            else _said(403, "Resource not accessible by integration")
        )

    async def _list(self, request: web.Request) -> web.Response:
        owner, _, branch = request.query["head"].partition(":")
        assert owner == REPOSITORY.partition("/")[0]
        rows = [each for each in reversed(self.pulls) if each["head"]["ref"] == branch]
        for row in rows:
            if row["state"] == "open":
                row["head"]["sha"] = self.head_of(branch) or row["head"]["sha"]
        return self._paged(request, [row for row in rows if request.query["state"] in ("all", row["state"])])

    async def _create(self, request: web.Request) -> web.Response:
        form = await request.json()
        if not self.head_of(form["head"]):
            return _said(
                422, "Validation Failed", errors=[{"resource": "PullRequest", "field": "head", "code": "invalid"}]
            )
        if any(each["head"]["ref"] == form["head"] and each["base"]["ref"] == form["base"] for each in self.open):
            said = f"A pull request already exists for acme:{form['head']}."
            return _said(
                422, "Validation Failed", errors=[{"resource": "PullRequest", "code": "custom", "message": said}]
            )
        if not self.has_commits(form["base"], form["head"]):
            said = f"No commits between {form['base']} and {form['head']}"
            return _said(
                422, "Validation Failed", errors=[{"resource": "PullRequest", "code": "custom", "message": said}]
            )
        row = self.add(
            form["head"],
            author=self.login or "sentinel[bot]",
            base=form["base"],
            title=form["title"],
            body=form["body"],
        )
        return web.json_response(row, status=201)

    async def _patch(self, request: web.Request) -> web.Response:
        row = self.pulls[int(request.match_info["number"]) - 1]
        for name, value in (await request.json()).items():
            row[name] = {"ref": value} if name == "base" else value
        return web.json_response(row)

    async def _comments(self, request: web.Request) -> web.Response:
        return self._paged(request, self.comments.get(int(request.match_info["number"]), []))

    async def _comment(self, request: web.Request) -> web.Response:
        author = {"login": self.login or "sentinel[bot]", "type": "User" if self.login else "Bot"}
        row = {"body": (await request.json())["body"], "user": author}
        assert len(row["body"]) <= 65_536
        self.comments.setdefault(int(request.match_info["number"]), []).append(row)
        return web.json_response(row, status=201)

    async def _ask(self, request: web.Request) -> web.Response:
        number = int(request.match_info["number"])
        form = await request.json()
        names = {*form.get("reviewers", ()), *form.get("team_reviewers", ())}
        if self.pulls[number - 1]["user"]["login"] in names:
            return _said(422, "Review cannot be requested from pull request author.")
        if not names <= self.collaborators:
            return _said(422, "Reviews may only be requested from collaborators.")
        self.reviewers.setdefault(number, set()).update(names)
        return web.json_response(self.pulls[number - 1], status=201)

    def _paged(self, request: web.Request, rows: list[dict[str, Any]]) -> web.Response:
        page = int(request.query.get("page", "1"))
        headers = {}
        if len(rows) > page * _PAGE:
            following = request.url.update_query(page=page + 1)
            headers["Link"] = f'<{following}>; rel="next", <{following}>; rel="last"'
        return web.json_response(rows[(page - 1) * _PAGE : page * _PAGE], headers=headers)


def _said(status: int, message: str, headers: dict[str, str] | None = None, **more: Any) -> web.Response:
    return web.json_response({"message": message, **more}, status=status, headers=headers)
