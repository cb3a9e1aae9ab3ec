"""AWS, for mutations: serialise from the parsed parameters, sign, send once, judge the reply. Implements `ports.Cloud`."""

from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version

from botocore.model import OperationModel

from gateway.cloud.credentials import CredentialsProvider
from gateway.cloud.endpoints import Endpoints
from gateway.cloud.http_client import Client, HttpResponse, NoAnswer, NotSent
from gateway.cloud.outcome import outcome_of
from gateway.cloud.serialize import protocol_of, serialize
from gateway.cloud.signer import signed_headers
from gateway.model.mutation import Call
from gateway.model.outcome import Failed, InDoubt, Sent
from gateway.ports import Clock, Prepared
from gateway.service_models import ServiceModels


class Ticket:
    """The right to send one request, once."""

    __slots__ = ("_used",)

    def __init__(self) -> None:
        self._used = False

    def take(self) -> bool:
        """True the first time, False ever after."""
        first, self._used = not self._used, True
        return first


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedRequest:
    """A signed request, ready to go: what `prepare` returns as `ports.Prepared`. AWS takes it for 5 to 15 minutes after its signing."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes = field(repr=False)
    operation: OperationModel = field(repr=False)
    protocol: str
    ticket: Ticket = field(default_factory=Ticket, repr=False, compare=False)


class Aws:
    """AWS through one pool of connections and one set of credentials."""

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
        self._agent = f"sentinel/{_version()}"

    async def prepare(self, call: Call, mutation_id: str) -> SignedRequest:
        """The call, serialised from its parameters and signed. No byte is sent.

        Raises `errors.NotSendable`: unknown service or operation, parameters that do not fit, region not allowed, no credentials.
        """
        self._endpoints.check_region(call.region)
        await self._models.warm(call.service, call.region)
        operation = self._models.operation(call.service, call.operation)
        endpoint = self._endpoints.of(call)
        unsigned = serialize(call, operation, endpoint, mutation_id=mutation_id)
        credentials = await self._credentials.current()
        payload = sha256(unsigned.body).hexdigest()
        headers = [*unsigned.headers, ("user-agent", f"{self._agent} mutation/{mutation_id}")]
        if endpoint.literal:
            headers.append(("x-amz-content-sha256", payload))  # S3 insists on it
        complete = signed_headers(
            method=unsigned.method,
            target=unsigned.target,
            headers=headers,
            payload=payload,
            endpoint=endpoint,
            credentials=credentials,
            at=self._clock.now(),
        )
        return SignedRequest(
            method=unsigned.method,
            url=endpoint.origin + unsigned.target,
            headers=tuple(complete),
            body=unsigned.body,
            operation=operation,
            protocol=protocol_of(call, operation),
        )

    async def send(self, prepared: Prepared) -> Sent:
        """Send once and judge the reply. Never raises; a second call with the same request sends nothing and is in doubt."""
        if not isinstance(prepared, SignedRequest):
            return Failed(code="NotSent", message="This was not prepared for AWS, so nothing was sent.")
        if not prepared.ticket.take():
            return InDoubt(reason="This request was sent before and is never sent again; read the truth back.")
        try:
            answer = await self._once(prepared)
        except NotSent as error:
            return Failed(
                code="NotSent",
                message=f"AWS could not be reached ({error}), so nothing was sent. Nothing changed; try again.",
            )
        except NoAnswer as error:
            return InDoubt(reason=_lost(prepared, str(error)))
        except Exception as error:  # noqa: BLE001  bytes may have left: whatever broke, this is the one truthful answer
            return InDoubt(reason=_lost(prepared, type(error).__name__))
        return outcome_of(answer, prepared.operation, prepared.protocol)

    async def _once(self, prepared: SignedRequest) -> HttpResponse:
        return await self._client.once(
            method=prepared.method, url=prepared.url, headers=prepared.headers, body=prepared.body
        )


def _lost(prepared: SignedRequest, what: str) -> str:
    return f"{prepared.operation.name} was sent and no whole answer came ({what}). The change may have happened."


def _version() -> str:
    try:
        return version("sentinel-gateway")
    except PackageNotFoundError:
        return "0"
