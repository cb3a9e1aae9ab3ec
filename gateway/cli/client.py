"""HTTP client of the gateway's JSON API, for commands, with the identity that they call it by."""

import contextlib
import json
import os
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from gateway.cli.demo.credentials import NoIdentity, read_credentials
from gateway.core.errors import Malformed, SentinelError
from gateway.core.outbound.response import HttpResponse, NoAnswer, NotSent

UP_DIRECTORY = Path(".sentinel") / "up"
"""Default directory of `sentinel up`, relative to the current directory."""

_TOKEN = re.compile(r"[A-Za-z0-9]{1,64}\.[\x21-\x7e]{1,256}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CliIdentity:
    """The API's URL and a bearer token for it."""

    url: str
    token: str = field(repr=False)
    region: str = ""
    """AWS region of the `sentinel up`; empty if the identity comes from the environment."""

    @property
    def mark_key(self) -> bytes:
        """The key of the marks of a plan's secrets: the caller's own secret, so that the same caller's plans can be compared."""
        return self.token.partition(".")[2].encode()


def identity(named: str | None = None, *, default: str = "human") -> CliIdentity:
    """The identity of the actor `named` by `--as`, else that from `SENTINEL_URL` and `SENTINEL_TOKEN`.

    What these do not give comes from the credentials that `sentinel up` saved, those of the `default` actor. Raises `NoIdentity`.
    """
    if named is not None:
        return _saved_identity(named)
    url, token, region = os.environ.get("SENTINEL_URL", ""), os.environ.get("SENTINEL_TOKEN", ""), ""
    if not (url and token) and (saved := read_credentials(UP_DIRECTORY)) is not None:
        url, token, region = url or saved.url, token or saved.key(default).token, saved.region
    if not (url and token):
        raise NoIdentity(
            "Set SENTINEL_URL (e.g. http://127.0.0.1:8484) and SENTINEL_TOKEN (`<key id>.<secret>`), "
            "or run this in the directory where `sentinel up` runs. `sentinel key create` issues a key."
        )
    _check(url, token)
    return CliIdentity(url=url.rstrip("/"), token=token, region=region)


def _saved_identity(actor: str) -> CliIdentity:
    """The identity of an actor of the `sentinel up` in this directory, whose secret is sent to no other gateway."""
    saved = read_credentials(UP_DIRECTORY)
    if saved is None:
        raise NoIdentity(
            f"--as {actor} needs the credentials that `sentinel up` saves in {UP_DIRECTORY}, and there are none in this directory. "
            "Run this where `sentinel up` runs, or leave out --as to use SENTINEL_TOKEN."
        )
    url = os.environ.get("SENTINEL_URL", "").rstrip("/")
    if url and url != saved.url:
        raise NoIdentity(
            f"--as {actor} names an actor of the `sentinel up` at {saved.url}, but SENTINEL_URL is {url!r}. Unset SENTINEL_URL, or leave out --as."
        )
    return CliIdentity(url=saved.url, token=saved.key(actor).token, region=saved.region)


def _check(url: str, token: str) -> None:
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port)
    except ValueError:
        valid = False
    if not valid:
        raise NoIdentity(f"SENTINEL_URL is {url!r}; it must be the gateway's address, e.g. http://127.0.0.1:8484.")
    if not _TOKEN.fullmatch(token):
        raise NoIdentity("SENTINEL_TOKEN must be `<key id>.<secret>`, as `sentinel key create` prints it.")


HELD = 202
"""HTTP status of a mutation that waits for a human's approval."""

_CONNECT_SECONDS = 10.0
_REPLY_SECONDS = 960.0
"""Longer than the gateway waits for AWS, so that the gateway reports the outcome before this client times out."""

_MOST_BYTES = 256 * 1024 * 1024
"""More than any reply of the gateway."""

_MUTATION = re.compile(r"mut_[0-9a-z]{26}")


class ApiRefused(SentinelError):
    """The API returned an error. The message is its `detail`; `document` is the whole problem document."""

    code = "api_refused"

    def __init__(self, message: str, *, status: int, document: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.status = status
        self.document = document


class ApiUnreachable(SentinelError):
    """No response, or one that is not from Sentinel's API."""

    code = "api_unreachable"


def mutation_path(mutation_id: str, action: str = "") -> str:
    """The API path of a mutation, or of an action on it (`approve`). Raises `errors.Malformed` unless the id has the right form."""
    if not _MUTATION.fullmatch(mutation_id):
        raise Malformed(
            f"{mutation_id[:64]!r} is not a mutation id. An id looks like mut_01m7xz6hz9jtmrenb3s98tt6vc; "
            "a refusal contains it, and `sentinel records` lists them."
        )
    return f"/mutations/{mutation_id}" + (f"/{action}" if action else "")


async def call_api(
    identity: CliIdentity,
    method: str,
    path: str,
    *,
    member: str,
    body: Mapping[str, Any] | None = None,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Call the API once and return the reply's JSON object, which must contain `member`.

    Raises `ApiRefused` with the API's error text, and `ApiUnreachable` if there is no response or it is not Sentinel's.
    """
    request_headers = {"Authorization": f"Bearer {identity.token}", "Accept": "application/json", **(headers or {})}
    content = None
    if body is not None:
        content = json.dumps(body).encode()
        request_headers["Content-Type"] = "application/json"
    target = f"/v1{path}" + (f"?{urlencode(query)}" if query else "")
    reply = await _in_thread(lambda: _exchange(identity.url, method, target, request_headers, content))
    return _parse_reply(identity.url, reply, member)


async def _in_thread(work: Callable[[], HttpResponse]) -> HttpResponse:
    """The result of `work` in a thread that nobody waits for: after Ctrl-C the command ends at once, whatever the gateway does meanwhile."""
    import asyncio  # half of a short command's own time

    loop = asyncio.get_running_loop()
    done: asyncio.Future[HttpResponse] = loop.create_future()

    def tell(act: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(lambda: None if done.done() else act())

    def act() -> None:
        try:
            result = work()
        except Exception as error:  # noqa: BLE001  it is raised where it is awaited
            tell(partial(done.set_exception, error))
        else:
            tell(partial(done.set_result, result))

    threading.Thread(target=act, name="request", daemon=True).start()
    return await done


def _exchange(url: str, method: str, target: str, headers: Mapping[str, str], content: bytes | None) -> HttpResponse:
    """Send one request. Redirects are not followed, so the token is sent to no other server."""
    from gateway.core.outbound.blocking import blocking_request

    try:
        return blocking_request(
            method,
            f"{url}{target}",
            headers=headers,
            body=content,
            connect_seconds=_CONNECT_SECONDS,
            wait_seconds=_REPLY_SECONDS,
            most_bytes=_MOST_BYTES,
        )
    except NotSent as error:
        raise ApiUnreachable(
            f"No response from {url}: {error}. Is the gateway running? `sentinel up` starts one."
        ) from error
    except NoAnswer as error:
        raise ApiUnreachable(
            f"The connection to {url} broke before a response arrived ({error}). If this was a change, "
            "check its outcome with `sentinel records` before you repeat it."
        ) from error


def _parse_reply(url: str, reply: HttpResponse, member: str) -> dict[str, Any]:
    status, document = reply.status, reply.document()
    if isinstance(document, dict):
        if "detail" in document:  # a problem document (RFC 9457); FastAPI's validation errors have a list as detail
            raise ApiRefused(_detail(document["detail"]), status=status, document=document)
        if status < 300 and member in document:  # noqa: PLR2004  RFC 9110: 2xx is success
            return document
    raise ApiUnreachable(
        f"The response from {url} is not Sentinel's API (status {status}). Is SENTINEL_URL the gateway's address?"
    )


def _detail(detail: object) -> str:
    if not isinstance(detail, list):
        return str(detail)
    return "; ".join(f"{'.'.join(str(part) for part in error['loc'][1:])}: {error['msg']}" for error in detail) + "."


async def call_api_as(
    actor: str | None,
    method: str,
    path: str,
    *,
    default: str = "human",
    member: str,
    body: Mapping[str, Any] | None = None,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """`call_api` with the identity that `identity` finds for these. Also raises `NoIdentity`."""
    return await call_api(
        identity(actor, default=default), method, path, member=member, body=body, query=query, headers=headers
    )


async def act_on_mutation(
    actor: str | None, mutation_id: str, action: str, *, member: str, body: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The reply to an action on a mutation. Raises `errors.Malformed` unless the id has the right form, else as `call_api_as`."""
    return await call_api_as(actor, "POST", mutation_path(mutation_id, action), member=member, body=body)
