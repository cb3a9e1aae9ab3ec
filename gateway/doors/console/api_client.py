"""Asks the JSON API inside the process, with the visitor's key: what the console shows and does is what the API lets that key see and do."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

import msgspec

from gateway.core.errors import NotFound, SentinelError
from gateway.core.http.asgi import Message, Scope, from_door
from gateway.core.model.mutation import Door
from gateway.core.off_loop import off_loop
from gateway.core.ports import Key
from gateway.doors.api.problems import status_of
from gateway.doors.router import App

_FAILED: Final = 400
_NO_ANSWER: Final = "The API had an internal error; its log says more. Look at the records before you do it again."


class ApiProblem(SentinelError):
    """The API refused. The message is its own sentence."""

    def __init__(self, status: int, document: Mapping[str, Any]) -> None:
        """`document` is the problem document."""
        super().__init__(str(document.get("detail") or _NO_ANSWER))
        self.status = status
        self.code = str(document.get("code", "internal"))


def http_status(error: SentinelError) -> int:
    """The status of a page that shows the error: the API's own, else that of the error's class."""
    return error.status if isinstance(error, ApiProblem) else status_of(error)


class ApiClient:
    """The JSON API as one key sees it, for one request of a browser."""

    def __init__(self, app: App, scope: Scope, key: Key) -> None:
        """`scope` is the browser's request: the API's records name its address and user agent as the sender."""
        self._app = app
        self._scope = scope
        self._bearer = f"Bearer {key.id}.{key.secret}".encode()

    async def get(self, path: str, /, **query: object) -> dict[str, Any]:
        """The answer to `GET /v1{path}`; empty members of the query are left out, a list is given item by item. Raises `ApiProblem`."""
        given = {name: value for name, value in query.items() if value not in ("", None, False)}
        return await self._ask("GET", path, urlencode(given, doseq=True), b"")

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to `POST /v1{path}`. Raises `ApiProblem`."""
        return await self._ask("POST", path, "", msgspec.json.encode(body))

    async def delete(self, path: str, **query: str) -> dict[str, Any]:
        """The answer to `DELETE /v1{path}`. Raises `ApiProblem`."""
        return await self._ask("DELETE", path, urlencode(query), b"")

    async def _ask(self, method: str, path: str, query: str, body: bytes) -> dict[str, Any]:
        answer = _Answer(body)
        scope = self._inner(method, f"/v1{path}", query, body)
        try:
            await self._app(scope, answer.receive, answer.send)
        except Exception:
            # FastAPI answers 500 and raises the error again for the server's log, which has it already.
            if not answer.status:
                raise
        content = b"".join(answer.parts)
        document = await off_loop(len(content), lambda: _document(content))
        if answer.status >= _FAILED:
            raise ApiProblem(answer.status, document)
        return document

    def _inner(self, method: str, path: str, query: str, body: bytes) -> Scope:
        kept = [(name, value) for name, value in self._scope["headers"] if name in (b"host", b"user-agent")]
        headers = [
            *kept,
            (b"authorization", self._bearer),
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
        ]
        same = {name: self._scope.get(name) for name in ("asgi", "http_version", "scheme", "server", "client")}
        inner: Scope = {
            **same,
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": quote(path, safe="/:").encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": headers,
        }
        return from_door(inner, Door.CONSOLE)


class _Answer:
    """One request's body, and the answer as it comes."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self.status = 0
        self.parts: list[bytes] = []

    async def receive(self) -> Message:
        """The whole body."""
        return {"type": "http.request", "body": self._body, "more_body": False}

    async def send(self, message: Message) -> None:
        """Keep the answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.parts.append(message.get("body", b""))


def _document(content: bytes) -> dict[str, Any]:
    found = msgspec.json.decode(content) if content else {}
    return found if isinstance(found, dict) else {}


def segment(name: str) -> str:
    """A name as one segment of the API's path, so that it leads nowhere else. Raises `errors.NotFound` for one that cannot be."""
    if not name or "/" in name or name in {".", ".."}:
        raise NotFound("The address of this page names nothing that Sentinel has. Go back, and follow a link.")
    return name
