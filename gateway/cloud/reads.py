"""AWS, for reads: re-signs a client's own request and opens the reply as a stream. Used by `doors.aws.stream`."""

from collections.abc import AsyncIterator, Sequence

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from gateway.cloud.credentials import CredentialsProvider
from gateway.cloud.endpoints import Endpoints
from gateway.cloud.http_client import Client
from gateway.cloud.signer import signed_headers
from gateway.errors import NotSendable, UpstreamUnavailable
from gateway.model.mutation import Call
from gateway.ports import Clock
from gateway.service_models import ServiceModels


class OpenAnswer:
    """A reply whose head has come and whose body is still to be read. Read it to its end, or `abandon` it."""

    __slots__ = ("_response", "headers", "length", "status")

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.status: int = response.status
        self.headers: Sequence[tuple[bytes, bytes]] = response.raw_headers
        """As received, in order."""
        self.length: int | None = response.content_length
        """Bytes of the body, None where AWS did not say."""

    async def read(self) -> bytes:
        """The whole body, as it is on the wire. Raises `errors.UpstreamUnavailable`."""
        try:
            return await self._response.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise UpstreamUnavailable(_broke_off(error)) from error

    async def parts(self) -> AsyncIterator[bytes]:
        """The body in the pieces it comes in. Raises `errors.UpstreamUnavailable`."""
        try:
            async for part in self._response.content.iter_any():
                yield part
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise UpstreamUnavailable(_broke_off(error)) from error

    def abandon(self) -> None:
        """Close the connection unless the body was read to its end, in which case it is kept for the next request."""
        if not self._response.closed:
            self._response.close()


class AwsReads:
    """Reads through one pool of connections and one set of credentials."""

    def __init__(
        self,
        *,
        models: ServiceModels,
        endpoints: Endpoints,
        credentials: CredentialsProvider,
        client: Client,
        clock: Clock,
    ) -> None:
        self._models = models
        self._endpoints = endpoints
        self._credentials = credentials
        self._client = client
        self._clock = clock

    async def open(
        self, call: Call, *, method: str, target: str, headers: Sequence[tuple[str, str]], body: bytes, payload: str
    ) -> OpenAnswer:
        """Send the client's own target, headers and body, signed anew, to the endpoint of `call`; return when the reply's head is there.

        Header names are lower-case. `payload` is the body's SHA-256 in hex, or a reserved word.
        Raises `errors.NotSendable` (region, no endpoint, no credentials) and `errors.UpstreamUnavailable`.
        """
        await self._models.warm(call.service, call.region)
        endpoint = self._endpoints.of_read(call)
        if endpoint.path:
            raise NotSendable(
                f"{call.service} {call.operation} has an endpoint with a path of its own, which reads cannot use; nothing was sent."
            )
        signed = signed_headers(
            method=method,
            target=target,
            headers=[*headers, ("x-amz-content-sha256", payload)] if endpoint.literal else headers,
            payload=payload,
            endpoint=endpoint,
            credentials=await self._credentials.current(),
            at=self._clock.now(),
        )
        try:
            response = await self._client.session.request(
                method,
                URL(endpoint.origin + target, encoded=True),
                headers=CIMultiDict(signed),
                data=body or None,
                allow_redirects=False,
            )
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise UpstreamUnavailable(_broke_off(error)) from error
        return OpenAnswer(response)


def _broke_off(error: BaseException) -> str:
    return f"AWS did not answer this read ({type(error).__name__}). Nothing was changed; ask again."
