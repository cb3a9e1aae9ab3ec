"""An OPA server as policy engine, through opa-python-client."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from opa_client.opa_async import AsyncOpaClient

from gateway.core.errors import PolicyInvalid, PolicyUnavailable, SettingsInvalid
from gateway.core.model.json import Json
from gateway.core.outbound.addresses import is_loopback
from gateway.policy.bundle import ENTRYPOINTS, OPTIONAL, Bundle, RunningEngine
from gateway.policy.embedded import sort_lists

_QUERY = {"strict-builtin-errors": "true", "provenance": "true"}
"""Built-in errors give status 500 instead of an undefined result; provenance contains the bundle's revision."""
_GUARDRAILS = "sentinel/guardrails/result"


class OpaServer(RunningEngine):
    """Evaluates rules on an OPA server. Never retries; anything but a defined result in time is a denial."""

    def __init__(self, url: str, *, deadline_ms: int, bundle: Bundle) -> None:
        """`bundle` is the one that the server must have. Raises `errors.SettingsInvalid` for an invalid URL."""
        host, port, tls = _address(url)
        self._url = url
        self._deadline = deadline_ms / 1000
        self._bundle = bundle
        client: Callable[..., Any] = AsyncOpaClient
        self._client = client(host=host, port=port, ssl=tls, retries=0, timeout=self._deadline)
        self._revision = "unknown"
        self._loop: asyncio.AbstractEventLoop | None = None
        """The event loop that the connections belong to."""

    async def open(self) -> None:
        """Connect, and check that the server has every guardrail. Raises `errors.PolicyUnavailable`, `errors.PolicyInvalid`."""
        self._loop = asyncio.get_running_loop()
        await self._client.__aenter__()
        try:
            await self._require_guardrails()
        except BaseException:
            await self.close()
            raise

    async def _require_guardrails(self) -> None:
        answer = await self.ask(_GUARDRAILS, {})
        evaluated = answer.get("evaluated") if isinstance(answer, Mapping) else None
        if missing := set(self.packages()) - set(evaluated if isinstance(evaluated, Mapping) else ()):
            raise PolicyInvalid(
                f"The OPA server at {self._url} lacks the guardrails {', '.join(sorted(missing))}. Load the policies of this gateway on it."
            )

    @property
    def revision(self) -> str:
        """The bundle revision in the server's last reply; `opa <version>` if the server runs without a bundle."""
        return self._revision

    @property
    def bundle(self) -> Bundle:
        """The bundle that the server must have."""
        return self._bundle

    async def ask(self, entrypoint: str, document: Json) -> Json:
        """The value of a rule, with every list in canonical order. Can be awaited on any event loop. Raises `errors.PolicyUnavailable`."""
        if self._loop is not None and self._loop is not asyncio.get_running_loop():
            return await asyncio.wrap_future(
                asyncio.run_coroutine_threadsafe(self._ask(entrypoint, document), self._loop)
            )
        return await self._ask(entrypoint, document)

    async def _ask(self, entrypoint: str, document: Json) -> Json:
        if entrypoint not in (*ENTRYPOINTS, *OPTIONAL):
            raise PolicyUnavailable(f"The policies have no result for {entrypoint}: it is not an entrypoint.")
        package, _, rule = entrypoint.rpartition("/")
        try:
            json.dumps(document, allow_nan=False)
            async with asyncio.timeout(self._deadline):
                answer = await self._client.query_rule(document, package, rule, query_params=_QUERY)
        except TimeoutError as error:
            raise PolicyUnavailable(
                f"The OPA server took longer than {self._deadline * 1000:.0f} ms to evaluate {entrypoint}."
            ) from error
        except aiohttp.ClientResponseError as error:
            raise PolicyUnavailable(f"The OPA server returned status {error.status} for {entrypoint}.") from error
        except (aiohttp.ClientError, OSError, ValueError, TypeError, RecursionError, AttributeError) as error:
            raise PolicyUnavailable(
                f"The OPA server returned no result for {entrypoint} ({type(error).__name__})."
            ) from error
        if not isinstance(answer, Mapping) or "result" not in answer:
            raise PolicyUnavailable(f"The OPA server has no result for {entrypoint}: it is undefined.")
        self._revision = _revision(answer.get("provenance"))
        return sort_lists(answer["result"])

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close_connection()


def _address(url: str) -> tuple[str, int, bool]:
    """Host, port and whether to use TLS. Plain HTTP is accepted only on this machine, because others could change the result."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise SettingsInvalid(f"policy.opa_url = {url!r} is not a URL: {error}.") from error
    if (
        parts.scheme not in {"http", "https"}
        or not parts.hostname
        or parts.path.strip("/")
        or parts.query
        or parts.username
    ):
        raise SettingsInvalid(
            f"policy.opa_url = {url!r} must be like http://127.0.0.1:8181 or https://opa.example.com:8181."
        )
    if parts.scheme == "http" and parts.hostname != "localhost" and not is_loopback(parts.hostname):
        raise SettingsInvalid(
            f"policy.opa_url = {url!r} must be https, or http on this machine: on plain http anyone on the network could change a denial into an allowance."
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return host, port or (443 if parts.scheme == "https" else 8181), parts.scheme == "https"


def _revision(provenance: object) -> str:
    members = provenance if isinstance(provenance, Mapping) else {}
    bundles = members.get("bundles")
    named = [bundles[name] for name in sorted(bundles)] if isinstance(bundles, Mapping) else []
    revisions = [str(bundle["revision"]) for bundle in named if isinstance(bundle, Mapping) and bundle.get("revision")]
    return " ".join(revisions) or f"opa {members.get('version', 'unknown')}"
