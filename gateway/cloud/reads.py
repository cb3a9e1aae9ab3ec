"""Sends reads to AWS: signs the client's own request with the gateway's credentials and opens the reply as a stream. Used by `doors.aws.stream`."""

from collections.abc import AsyncIterator, Sequence

from gateway.cloud.endpoints import Endpoints
from gateway.cloud.http_client import Client, NotSent
from gateway.cloud.http_reply import HttpReply, NoAnswer
from gateway.cloud.signer import RequestSigner
from gateway.errors import NotSendable, UpstreamUnavailable
from gateway.model.mutation import Call
from gateway.service_models import ServiceModels


class OpenResponse:
    """A reply whose head has arrived and whose body is not read yet. Read it to its end, or `abandon` it."""

    __slots__ = ("_reply", "headers", "length", "status")

    def __init__(self, reply: HttpReply) -> None:
        self._reply = reply
        self.status: int = reply.status
        self.headers: Sequence[tuple[bytes, bytes]] = reply.headers
        """As received, in order."""
        self.length: int | None = reply.length
        """Length of the body in bytes, None if AWS did not send it."""

    async def read(self) -> bytes:
        """The whole body, as sent (not decompressed). Raises `errors.UpstreamUnavailable`."""
        try:
            return await self._reply.read()
        except NoAnswer as error:
            raise UpstreamUnavailable(_no_answer(error)) from error

    async def parts(self) -> AsyncIterator[bytes]:
        """The body in pieces, as they arrive. Raises `errors.UpstreamUnavailable`."""
        try:
            async for part in self._reply.parts():
                yield part
        except NoAnswer as error:
            raise UpstreamUnavailable(_no_answer(error)) from error

    def abandon(self) -> None:
        """Close the connection, unless the body was read to its end: then the connection is kept for the next request."""
        self._reply.abandon()


class AwsReads:
    """AWS, for reads."""

    def __init__(self, *, models: ServiceModels, endpoints: Endpoints, signer: RequestSigner, client: Client) -> None:
        self._models = models
        self._endpoints = endpoints
        self._signer = signer
        self._client = client

    async def open(
        self, call: Call, *, method: str, target: str, headers: Sequence[tuple[str, str]], body: bytes, payload: str
    ) -> OpenResponse:
        """Send the client's own target, headers and body, newly signed, to the endpoint of `call`; return once the reply's head arrives.

        Header names are lower-case. `payload` is the body's SHA-256 in hex, or a reserved word.
        Raises `errors.NotSendable` (region, no endpoint, no credentials) and `errors.UpstreamUnavailable`.
        """
        await self._models.warm(call.service, call.region)
        endpoint = self._endpoints.of_read(call)
        if endpoint.path:
            raise NotSendable(
                f"{call.service} {call.operation} has an endpoint with a path of its own, which reads cannot use; nothing was sent."
            )
        signed = await self._signer.sign(
            method=method, target=target, headers=headers, payload=payload, endpoint=endpoint
        )
        try:
            reply = await self._client.open(method=method, url=endpoint.origin + target, headers=signed, body=body)
        except (NotSent, NoAnswer) as error:
            raise UpstreamUnavailable(_no_answer(error)) from error
        return OpenResponse(reply)


def _no_answer(error: BaseException) -> str:
    return f"AWS did not answer this read ({error}). Nothing was changed; ask again."
