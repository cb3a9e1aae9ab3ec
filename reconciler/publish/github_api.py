"""Requests to GitHub's REST API: one at a time, never to another server, and no error repeats the token.

Source: "Getting started with the REST API", "Rate limits" and "Using pagination" in GitHub's documentation.
"""

import json
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlsplit

import aiohttp
from yarl import URL

from gateway.core.model.json import Json
from reconciler.errors import GitHubBusy, GitHubFailed

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
_OK: Final = range(200, 300)
_REDIRECT: Final = range(300, 400)


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


@dataclass(slots=True)
class GitHubApi:
    """The REST API at one fixed URL. Use it as a context manager."""

    url: str
    token: Token
    seconds: float = _SECONDS
    """How long one request may take."""
    now: Callable[[], float] = time.time
    _session: aiohttp.ClientSession | None = field(default=None, repr=False)

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(), timeout=aiohttp.ClientTimeout(total=self.seconds), trust_env=False
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def request(self, method: str, path: str, body: Mapping[str, Json] | None = None) -> ApiReply:
        """The reply to one request. One that changes anything is sent once; a GET may be sent again on a new connection.

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
            if reply.status not in _OK or not isinstance(reply.document, list):
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
        if self._session is None:
            raise GitHubFailed(f"{where} was not sent: the connection to GitHub is closed.")
        headers = {
            "Accept": _ACCEPT,
            "X-GitHub-Api-Version": _VERSION,
            "User-Agent": "sentinel",
            "Authorization": f"Bearer {self.token.read()}",
        }
        try:
            async with self._session.request(
                method, URL(url, encoded=True), headers=headers, json=body, allow_redirects=False, proxy=_proxy(url)
            ) as response:
                content = await _limited(response)
                return self._judged(where, response, content)
        except TimeoutError as error:
            message = f"GitHub did not answer {where} within {self.seconds:g} seconds. It is asked before anything is sent again."
            raise GitHubFailed(message) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # The text of aiohttp's errors may hold the URL, never a header.
            raise GitHubFailed(f"GitHub could not be reached for {where} ({type(error).__name__}).") from error

    def _judged(self, where: str, response: aiohttp.ClientResponse, content: bytes) -> ApiReply:
        following = _NEXT.search(response.headers.get("Link", ""))
        reply = ApiReply(
            status=response.status, document=_document(content), following=following[1] if following else ""
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

    def _wait(self, response: aiohttp.ClientResponse, reply: ApiReply) -> float | None:
        """How many seconds GitHub wants us to wait; None if the refusal is not about the rate."""
        headers = response.headers
        if after := _number(headers.get("Retry-After")):
            return min(after, _LONGEST_WAIT)
        if headers.get("x-ratelimit-remaining") == "0":
            reset = _number(headers.get("x-ratelimit-reset")) or 0.0
            return min(max(reset - self.now(), 1.0), _LONGEST_WAIT)
        return 60.0 if reply.status == 429 or "secondary rate limit" in reply.says.lower() else None  # noqa: PLR2004  HTTP


def _number(text: str | None) -> float | None:
    try:
        return max(float(text), 0.0) if text else None
    except ValueError:
        return None


def _document(content: bytes) -> Any:
    try:
        return json.loads(content) if content else None
    except (ValueError, RecursionError):
        return None


async def _limited(response: aiohttp.ClientResponse) -> bytes:
    content = b""
    async for part in response.content.iter_any():
        content += part
        if len(content) > _LARGEST:
            raise GitHubFailed(f"A reply of GitHub is longer than {_LARGEST} bytes, so it was not read.")
    return content


def _proxy(url: str) -> str | None:
    """The proxy that git uses too; none for this machine."""
    parts = urlsplit(url)
    return os.environ.get("https_proxy") or None if parts.scheme == "https" else None
