"""Sends reads and calls of the data plane, once, and opens AWS's reply as a stream."""

from collections.abc import AsyncIterator, Sequence

from gateway.aws.client.endpoints import Endpoints
from gateway.aws.client.http_client import Client
from gateway.aws.client.http_reply import HttpReply
from gateway.aws.client.mutations import Aws, SentWith, SignedRequest
from gateway.aws.client.signer import RequestSigner
from gateway.aws.client.upload_body import body_of
from gateway.core.errors import NotSendable, UpstreamUnavailable
from gateway.core.model.ids import new_id
from gateway.core.model.inbound import Upload
from gateway.core.model.mutation import Call
from gateway.core.outbound.response import NoAnswer, NotSent
from gateway.core.service_models import ServiceModels


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
        reply = self._reply
        if reply.complete:
            return reply.take()
        try:
            return await reply.read()
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

    def __init__(
        self,
        *,
        models: ServiceModels,
        endpoints: Endpoints,
        signer: RequestSigner,
        client: Client,
        accounts: SentWith | None = None,
    ) -> None:
        self._accounts = accounts
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
        endpoint = self._endpoints.known(call)
        if endpoint is None:
            await self._models.warm(call.service, call.region)
            endpoint = self._endpoints.of_read(call)
        if endpoint.path:
            raise NotSendable(
                f"{call.service} {call.operation} has an endpoint with a path of its own, which reads cannot use; nothing was sent."
            )
        signed = await self._signer.sign(
            method=method,
            target=target,
            headers=headers,
            payload=payload,
            endpoint=endpoint,
            credentials=await self._accounts.of(call.account) if self._accounts is not None else None,
        )
        try:
            reply = await self._client.open(method=method, url=endpoint.origin + target, headers=signed, body=body)
        except (NotSent, NoAnswer) as error:
            raise UpstreamUnavailable(_no_answer(error)) from error
        return OpenResponse(reply)


def _no_answer(error: BaseException) -> str:
    return f"AWS did not answer this read ({error}). Nothing was changed; ask again."


class AwsData:
    """AWS, for calls of the data plane. What is sent is what was understood, as for mutations; what comes back is not judged."""

    def __init__(self, aws: Aws, client: Client) -> None:
        self._aws = aws
        self._client = client

    async def prepare(self, call: Call, upload: Upload | None = None) -> SignedRequest:
        """The signed request; the body of an `upload` is read only when it is sent. Sends nothing. Raises `errors.NotSendable`."""
        return await self._aws.prepare(call, new_id("dat"), upload)

    async def open(self, prepared: SignedRequest) -> OpenResponse:
        """Send once; return when the reply's head arrives.

        Raises `errors.UpstreamUnavailable`, and for an upload what was wrong with its body: then AWS stores nothing of it.
        """
        framing, body = ([], prepared.body) if prepared.upload is None else await body_of(prepared.upload)
        try:
            response = await self._client.open(
                method=prepared.method, url=prepared.url, headers=[*prepared.headers, *framing], body=body
            )
        except (NotSent, NoAnswer) as error:
            if prepared.upload is not None and prepared.upload.failure is not None:
                raise prepared.upload.failure from error
            message = (
                f"AWS did not answer {prepared.operation.name} ({error}). Whether it was carried out is not known; "
                "send it again if that does no harm."
            )
            raise UpstreamUnavailable(message) from error
        return OpenResponse(response)
