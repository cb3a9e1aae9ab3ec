"""The JSON API as the command line uses it."""

import json
import re
from collections.abc import Mapping
from typing import Any

from gateway.cli.identity import CliIdentity, identity
from gateway.errors import Malformed, SentinelError

HELD = 202
"""Status of a proposal that waits for a human."""

_CONNECT_SECONDS = 10.0
_ANSWER_SECONDS = 960.0
"""Longer than the gateway itself waits for AWS, so that it, not we, says what became of a change."""

_MUTATION = re.compile(r"mut_[0-9a-z]{26}")


class ApiRefused(SentinelError):
    """The API said no; the message is its own, `document` its whole problem document."""

    code = "api_refused"

    def __init__(self, message: str, *, status: int, document: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.status = status
        self.document = document


class ApiUnreachable(SentinelError):
    """Nobody answered, or not as Sentinel's API does."""

    code = "api_unreachable"


def mutation_path(mutation_id: str, act: str = "") -> str:
    """The path of a mutation, or of an act on it. Raises `errors.Malformed` for what cannot be a mutation's id."""
    if not _MUTATION.fullmatch(mutation_id):
        raise Malformed(
            f"{mutation_id[:64]!r} is no mutation id. They look like mut_01m7xz6hz9jtmrenb3s98tt6vc; "
            "a refusal names its own, and `sentinel records` lists them."
        )
    return f"/mutations/{mutation_id}" + (f"/{act}" if act else "")


async def ask(
    identity: CliIdentity,
    method: str,
    path: str,
    *,
    holds: str,
    body: Mapping[str, Any] | None = None,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """One call of the API; the reply's JSON object, which has the member `holds`.

    Raises `ApiRefused` with the API's own words, and `ApiUnreachable` where nobody answers, or not Sentinel.
    """
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=_ANSWER_SECONDS, sock_connect=_CONNECT_SECONDS)
    request: dict[str, Any] = {
        "json": body,
        "params": query,
        "headers": {"Authorization": f"Bearer {identity.token}", **(headers or {})},
        "allow_redirects": False,  # the token goes to nobody else
    }
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.request(method, f"{identity.url}/v1{path}", **request) as reply,
        ):
            return _read(identity.url, reply.status, await reply.read(), holds)
    except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
        raise ApiUnreachable(
            f"Nobody answers at {identity.url}: {error}. Is the gateway running? `sentinel up` starts one."
        ) from error
    except (aiohttp.ClientError, TimeoutError) as error:
        raise ApiUnreachable(
            f"{identity.url} broke off before it answered ({type(error).__name__}). If this was a change, look at "
            "`sentinel records` for what became of it before you repeat it."
        ) from error


def _read(url: str, status: int, content: bytes, holds: str) -> dict[str, Any]:
    try:
        document = json.loads(content)
    except ValueError:
        document = None
    if isinstance(document, dict):
        if "detail" in document:  # a problem document, RFC 9457; FastAPI's own of what it cannot validate is a list
            raise ApiRefused(_detail(document["detail"]), status=status, document=document)
        if status < 300 and holds in document:  # noqa: PLR2004  RFC 9110: 2xx is success
            return document
    raise ApiUnreachable(
        f"What answers at {url} is not Sentinel's API (status {status}). Is SENTINEL_URL the gateway's own address?"
    )


def _detail(detail: object) -> str:
    if not isinstance(detail, list):
        return str(detail)
    return "; ".join(f"{'.'.join(str(part) for part in one['loc'][1:])}: {one['msg']}" for one in detail) + "."


async def ask_as(
    actor: str,
    method: str,
    path: str,
    *,
    holds: str,
    body: Mapping[str, Any] | None = None,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """As `ask`, with the identity the environment names, else `actor`'s of a running `sentinel up`. Raises `NoIdentity` too."""
    return await ask(identity(actor), method, path, holds=holds, body=body, query=query, headers=headers)
