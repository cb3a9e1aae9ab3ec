"""Sends calls of the data plane that pass: serialized from their parameters, signed, sent once; the reply is opened as a stream."""

from gateway.cloud.aws import Aws, SignedRequest, framed_body
from gateway.cloud.http_client import Client, NotSent
from gateway.cloud.http_reply import NoAnswer
from gateway.cloud.reads import OpenResponse
from gateway.errors import UpstreamUnavailable
from gateway.model.ids import new_id
from gateway.model.mutation import Call
from gateway.model.upload import Upload


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
        framing, body = await framed_body(prepared)
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
