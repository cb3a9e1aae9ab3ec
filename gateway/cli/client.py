"""The JSON API as the command line uses it."""

from collections.abc import Mapping
from typing import Any

from gateway.cli.identity import Identity, identity
from gateway.errors import SentinelError


class ApiRefused(SentinelError):
    """The API said no; the message is its own, `document` its whole problem document."""

    code = "api_refused"

    def __init__(self, message: str, *, status: int, document: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.status = status
        self.document = document


async def ask(
    identity: Identity,
    method: str,
    path: str,
    *,
    body: Mapping[str, Any] | None = None,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """One call of the API; the reply's JSON object. Raises `ApiRefused`, also where nobody listens."""
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=60)
    sent = {"Authorization": f"Bearer {identity.token}", **(headers or {})}
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.request(method, f"{identity.url}/v1{path}", json=body, params=query, headers=sent) as reply,
        ):
            document: dict[str, Any] = await reply.json(content_type=None)
    except (aiohttp.ClientConnectionError, TimeoutError) as error:
        message = f"Nobody answers at {identity.url}: {error}. Is the gateway running? `sentinel up` starts one."
        raise ApiRefused(message, status=0, document={}) from error
    except (aiohttp.ClientError, ValueError) as error:
        message = f"What answers at {identity.url} is not Sentinel's API: {error}."
        raise ApiRefused(message, status=0, document={}) from error
    if "problem" in reply.headers.get("Content-Type", ""):
        raise ApiRefused(str(document.get("detail", reply.reason)), status=reply.status, document=document)
    return document


async def ask_as(
    actor: str,
    method: str,
    path: str,
    *,
    body: Mapping[str, Any] | None = None,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """As `ask`, with the identity the environment names, else `actor`'s of a running `sentinel up`. Raises `NoIdentity` too."""
    return await ask(identity(actor=actor), method, path, body=body, query=query, headers=headers)
