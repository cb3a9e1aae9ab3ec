"""Sends mutations to AWS: serialize the parsed parameters, sign, send once, classify the reply. Implements `ports.Cloud`."""

import time
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Protocol

from botocore.model import OperationModel

from gateway.aws.client.credentials import Credentials
from gateway.aws.client.endpoints import Endpoints
from gateway.aws.client.http_client import Client
from gateway.aws.client.outcome import outcome_of
from gateway.aws.client.serialize import protocol_of, serialize
from gateway.aws.client.signer import RequestSigner
from gateway.aws.client.upload_body import body_of, framed, payload_of, stopped, without_body
from gateway.core.errors import SentinelError
from gateway.core.model.inbound import Upload
from gateway.core.model.mutation import Call
from gateway.core.model.outcome import Failed, InDoubt, Sent
from gateway.core.off_loop import off_loop, size_of
from gateway.core.outbound.response import NoAnswer, NotSent
from gateway.core.ports import Prepared, SentFor
from gateway.core.quick_init import quick_init
from gateway.core.service_models import ServiceModels
from gateway.core.version import software_version

_OLDEST_SECONDS = 60.0
"""Age of a signature up to which the request is sent. A process that was paused after it had signed does not act late: AWS itself would
accept the request for up to 15 minutes.
"""
_REFUSALS = 300
"""From this status on, AWS's answer is not a success (RFC 9110 section 15)."""


class SendPermit:
    """Permission to send one request, once."""

    __slots__ = ("_used",)

    def __init__(self) -> None:
        self._used = False

    def take(self) -> bool:
        """True on the first call, False on every later one."""
        first, self._used = not self._used, True
        return first


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class SignedRequest:
    """A signed request, ready to send: what `prepare` returns as `ports.Prepared`. AWS accepts it for 5 to 15 minutes after signing."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes = field(repr=False)
    operation: OperationModel = field(repr=False)
    protocol: str
    upload: Upload | None = field(default=None, repr=False)
    """The body of an object, which is sent in pieces as it arrives; `body` is empty then."""
    scope: str = ""
    """What the session that signed it was limited to, as a sentence; empty if it was signed without one."""
    permit: SendPermit = field(default_factory=SendPermit, repr=False, compare=False)
    signed_at: float = field(default_factory=time.monotonic, repr=False, compare=False)
    """Monotonic seconds, which also pass while the process is paused."""


class SentWith(Protocol):
    """The credentials of calls, by the account that they go to."""

    async def of(self, account: str) -> Credentials | None:
        """Those of an account; None for the gateway's own. Raises `errors.NotSendable`."""
        ...

    async def of_mutation(self, call: Call, mutation_id: str, reason: SentFor) -> tuple[Credentials | None, str]:
        """Those of one decided mutation, and what they are limited to, in words. Raises `errors.NotSendable`."""
        ...


class Aws:
    """AWS, for mutations."""

    def __init__(
        self,
        *,
        models: ServiceModels,
        endpoints: Endpoints,
        signer: RequestSigner,
        client: Client,
        accounts: SentWith | None = None,
    ) -> None:
        """`accounts` has the credentials of other accounts and of single calls; without it every call is signed with the gateway's own."""
        self._accounts = accounts
        self._models = models
        self._endpoints = endpoints
        self._signer = signer
        self._client = client
        self._user_agent = f"sentinel/{software_version()}"

    async def prepare(
        self, call: Call, mutation_id: str, upload: Upload | None = None, reason: SentFor | None = None
    ) -> SignedRequest:
        """The call, serialized from its parameters and signed; the body of an `upload` follows when it is sent. Sends nothing of it.

        `reason` is given for a decided mutation, whose session may be limited to it. Raises `errors.NotSendable`: unknown service or
        operation, parameters that do not fit, region not allowed, no credentials, a session that AWS refuses.
        """
        self._endpoints.check_region(call.region)
        await self._models.warm(call.service, call.region)
        operation = self._models.operation(call.service, call.operation)
        endpoint = self._endpoints.of(call)
        streamed = upload is not None
        sent = without_body(call) if streamed else call
        unsigned = await off_loop(
            size_of(sent.parameters),
            lambda: serialize(sent, operation, endpoint, mutation_id=mutation_id, streamed=streamed),
        )
        if upload is not None:
            payload = payload_of(upload)
        else:
            payload = (await off_loop(len(unsigned.body), partial(sha256, unsigned.body))).hexdigest()
        credentials, scope = await self._credentials(call, mutation_id, reason)
        agent = ("user-agent", f"{self._user_agent} mutation/{mutation_id}")
        headers = await self._signer.sign(
            method=unsigned.method,
            target=unsigned.target,
            headers=[*(framed(unsigned.headers, upload) if upload else unsigned.headers), agent],
            payload=payload,
            endpoint=endpoint,
            credentials=credentials,
        )
        return SignedRequest(
            scope=scope,
            method=unsigned.method,
            url=endpoint.origin + unsigned.target,
            headers=tuple(headers),
            body=unsigned.body,
            operation=operation,
            protocol=protocol_of(call, operation),
            upload=upload,
        )

    async def _credentials(
        self, call: Call, mutation_id: str, reason: SentFor | None
    ) -> tuple[Credentials | None, str]:
        """What the call is signed with, None for the gateway's own credentials, and what they are limited to."""
        if self._accounts is None:
            return None, ""
        if reason is None:
            return await self._accounts.of(call.account), ""
        return await self._accounts.of_mutation(call, mutation_id, reason)

    async def send(self, prepared: Prepared) -> Sent:
        """Send once and classify the reply. Never raises; a second call with the same request sends nothing and returns `InDoubt`.

        An upload that ends early is a failure, because AWS stores no part of an object.
        """
        if not isinstance(prepared, SignedRequest):
            return Failed(code="NotSent", message="This was not prepared for AWS, so nothing was sent.")
        if not prepared.permit.take():
            return InDoubt(reason="This request was sent before and is never sent again; read the truth back.")
        if (age := time.monotonic() - prepared.signed_at) > _OLDEST_SECONDS:
            message = f"The gateway stood still for {age:.0f} seconds after it had signed the request, so nothing was sent. Nothing changed; try again."
            return Failed(code="NotSent", message=message)
        try:
            headers, body = ([], prepared.body) if prepared.upload is None else await body_of(prepared.upload)
            response = await self._client.send_once(
                method=prepared.method, url=prepared.url, headers=[*prepared.headers, *headers], body=body
            )
        except SentinelError as error:
            return Failed(code=error.code, message=str(error))
        except NotSent as error:
            return Failed(
                code="NotSent",
                message=f"AWS could not be reached ({error}), so nothing was sent. Nothing changed; try again.",
            )
        except NoAnswer as error:
            if prepared.upload is not None and not prepared.upload.complete:
                return stopped(prepared.upload, prepared.operation.name)
            return InDoubt(reason=_no_complete_reply(prepared, str(error)))
        except Exception as error:  # noqa: BLE001  bytes may have been sent, so in doubt is the only true outcome
            return InDoubt(reason=_no_complete_reply(prepared, type(error).__name__))
        if prepared.upload is not None and response.status < _REFUSALS and not prepared.upload.complete:
            return InDoubt(reason=f"AWS answered {prepared.operation.name} before it had the whole body.")
        return await off_loop(len(response.body), lambda: outcome_of(response, prepared.operation, prepared.protocol))


def _no_complete_reply(prepared: SignedRequest, cause: str) -> str:
    return f"{prepared.operation.name} was sent and no whole answer came ({cause}). The change may have happened."
