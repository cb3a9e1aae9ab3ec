"""A requested change: the AWS `Call`, what it does to declared resources (`Effect`), and both together as a `Mutation`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Final

from gateway.core.model.caller import UNKNOWN, Caller, Sender
from gateway.core.model.inbound import Upload
from gateway.core.model.invented import renamed, texts_at, without
from gateway.core.model.json import Json, Parameters, digest
from gateway.core.model.motive import Motive
from gateway.core.model.plan_session import PlannedPart, PlanOpening
from gateway.core.quick_init import quick_init

BY_CALL: Final = "call"
"""What identifies a resource that AWS will name when it creates it: a digest of the call."""


class CallClass(StrEnum):
    """How the gateway treats an AWS operation. An operation that is not known to be harmless is a MUTATION."""

    READ = "read"
    MUTATION = "mutation"
    CREDENTIAL = "credential"
    """Its reply contains credentials or a URL that opens a session, with which the caller could bypass Sentinel. Always refused."""
    SECRET = "secret"  # noqa: S105  the name of a class of calls
    """A read whose reply hands out a secret, or was not reviewed. Refused for agents (`gateway.line.pipeline`), streamed for all other callers."""
    EXECUTE = "execute"
    """Runs code, or its parameters contain a document that does. Treated as a mutation."""
    CRYPTO = "crypto"
    """Encrypts, decrypts or signs with a key; changes no state. Refused for agents (`gateway.line.pipeline`)."""
    DATA = "data"
    """Reads, writes or deletes what a resource stores or passes on: items, messages, objects, records. By the setting `data_plane` it passes
    without a decision (`gateway.line.data_plane`), or it is treated as a mutation."""

    changes_state: bool
    """Whether the call must pass the checks as a mutation, unless it is DATA that passes. Calls of the other classes are streamed to AWS."""

    def __init__(self, value: str) -> None:
        self.changes_state = value not in ("read", "secret", "crypto")


class Door(StrEnum):
    """How a request came in, as it is recorded."""

    AWS = "aws"
    """Signed in its header, as SDKs do."""
    PRESIGNED = "presigned"
    """With a presigned URL, which anyone may have used."""
    FORM = "form"
    """With a presigned browser form (S3 POST)."""
    API = "api"
    MCP = "mcp"
    """A tool of the Model Context Protocol."""
    CONSOLE = "console"
    """The web page, which asks the API inside the process. Only what people decide is recorded with it."""
    CHAT = "chat"
    """A chat in which people decide. No mutation comes through it."""


@dataclass(frozen=True, kw_only=True)  # without slots, so that the digest is calculated once
class Call:
    """An AWS call, independent of its wire format and not yet resolved to effects."""

    service: str
    """botocore service name, e.g. `autoscaling`."""
    operation: str
    """Operation name of the service model, e.g. `SetDesiredCapacity`."""
    parameters: Parameters = field(default_factory=dict)
    """In the form that botocore's serializer accepts."""
    account: str = ""
    """AWS account id, 12 digits; empty if the gateway serves only one account."""
    region: str = ""
    protocol: str = field(default="", compare=False)
    """Wire protocol of the caller (`query`, `json`, `smithy-rpc-v2-cbor` …), so that AWS replies in the same one; empty for the service's
    default. It does not change what is requested, so the digest leaves it out."""
    digest_key: bytes = field(default=b"", compare=False, repr=False)
    """Key of the digest, which is recorded: without one, a short secret among the parameters could be found by trying."""
    tokens: tuple[str, ...] = field(default=(), compare=False)
    """The dotted paths of its idempotency tokens, which a program invents afresh for each attempt."""
    generated: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The names that Terraform's provider invented for what the call creates → the place in the code that they were invented for."""

    @cached_property
    def digest(self) -> str:
        """Digest of what the call asks for, 64 hex digits: equal for calls that differ in nothing but what a program invented for them."""
        return self._digest_of(renamed(without(self.parameters, self.tokens), self.generated))

    @cached_property
    def exact_digest(self) -> str:
        """Digest of the call, 64 hex digits: equal only for identical calls."""
        return self._digest_of(self.parameters)

    def _digest_of(self, parameters: object) -> str:
        return digest([self.service, self.operation, self.account, self.region, parameters], self.digest_key)

    @property
    def token_values(self) -> frozenset[str]:
        """The values of its idempotency tokens."""
        return texts_at(self.parameters, self.tokens)


class EffectAction(StrEnum):
    """What an effect does to the resource."""

    SET = "set"
    CREATE = "create"
    DELETE = "delete"
    INVOKE = "invoke"


class Basis(StrEnum):
    """What Sentinel knows an effect by."""

    HAND = "hand"
    """A row that a person wrote for this operation, or a plan of Terraform's."""
    DERIVED = "derived"
    """A derived row that accounts for every parameter of the call."""
    RESOURCE = "resource"
    """A derived row that knows the resource and the direction only: any attribute of the resource may change."""


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a call does to one resource."""

    address: str
    """Terraform address, e.g. `module.jobs["a"].aws_sqs_queue.this`. If no block declares the resource: `aws_sqs_queue{name=x}`."""
    attribute: str
    """Dotted attribute path of the provider's schema (`desired_capacity`, `tags.owner`, `ingress`), or `*`. An INVOKE with an attribute
    changes that attribute to a value that only AWS knows.
    """
    action: EffectAction
    value: Json = None
    """The new value as Terraform writes it; None for DELETE and INVOKE. The secrets in it are masked, see `model.masking`."""
    judged: Json = field(default=None, compare=False, repr=False)
    """What policies judge in place of `value` if masking changed a JSON document in it: the documents as they are. Never stored or shown."""
    resource_type: str
    """Terraform resource type, e.g. `aws_sqs_queue`."""
    identity: Mapping[str, str] = field(default_factory=dict)
    """How the call identifies the resource, e.g. `{"name": "orders"}`."""
    declared: bool = True
    """Whether the resource is declared in the code or recorded in the state."""
    implied: bool = False
    """Whether the call does not ask for it, but AWS does it as a consequence: a capacity lowered to a new maximum. It is judged like any
    other effect, and never written into code. A SET if the resulting value is known, else an INVOKE of the attribute.
    """
    sensitive: bool = False
    """Whether the value is a secret, which must not be stored or written into code."""
    untold: bool = field(default=False, compare=False)
    """Whether the value is a secret that a plan does not tell, so that no bound can be compared with it."""
    obliged: bool = field(default=False, compare=False)
    """Whether the caller could not leave it out: AWS requires the parameter, or resets what the call omits."""
    unrecorded: tuple[str, ...] = field(default=(), compare=False)
    """What the value lets in without a range of addresses, and no state records: ids of security groups."""
    upserted: bool = field(default=False, compare=False)
    """Whether AWS carries the creation out on a resource that exists already: that the state has none proves nothing then."""
    beside: bool = field(default=False, compare=False)
    """Whether a plan has it on a declared resource that it does not change, by what it makes beside that. Contracts and claims hold for it;
    guardrails judge the value where the plan has it.
    """
    basis: Basis = Basis.HAND
    may_change: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """With the basis RESOURCE, the names of which the paths of the attributes consist that may change, each once; else empty."""
    by: str = ""
    """`service:operation` of the inner call that does it (`InnerCall`); empty if the call itself does. What AWS does later, or by the hand of
    another service, is `implied` too, so that it is never written into code; but it is judged as if the caller had sent the inner call.
    """


UNREAD = "rights that nobody can tell"
"""The role of an inner call that stands for calls that cannot be unpacked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InnerCall:
    """A call that another call makes AWS carry out: an entry of a batch, the target of a schedule, a resource of a template."""

    call: Call
    call_class: CallClass
    role: str = ""
    """ARN of the role with whose rights AWS makes it; empty if it is made with the rights of the outer call. `UNREAD` if the call stands
    for others, which nobody can tell.
    """
    effects: tuple[Effect, ...] = ()
    """Empty if it is not understood, or only reads."""

    @property
    def name(self) -> str:
        """`service:operation`."""
        return f"{self.call.service}:{self.call.operation}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PutBack:
    """What a mutation that puts a time-boxed change back may do."""

    mutation_id: str
    """The time-boxed change."""
    bases: Mapping[tuple[str, str], Json]
    """The values to set, by address and attribute."""


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """One requested change."""

    id: str
    """`mut_…`, see `model.ids`."""
    caller: Caller
    call: Call
    call_class: CallClass
    motive: Motive | None
    """None if neither the request nor the key states one."""
    effects: tuple[Effect, ...]
    """Empty if Sentinel does not know what the call does; then it is held for a person."""
    not_understood: str = field(default="", compare=False)
    """Why its effects are not known, as the rest of a sentence; empty if they are. It names parts of the call, and no secret."""
    idempotency_key: str = ""
    """The client's key for this attempt, unique per actor; empty if it sent none."""

    own: tuple[Effect, ...] = field(default=(), compare=False)
    """Of a call that makes AWS carry out others, what it does itself, also where those are not understood. Only a plan counts it then."""

    signature: str = ""
    """The signature of the request, empty if it was not signed. The same one is carried out at most once."""
    door: Door = Door.AWS
    upload: Upload | None = field(default=None, compare=False, repr=False)
    """The body of the object that the call uploads, still to come; None for every other call."""
    puts_back: PutBack | None = None
    """The time-boxed change that it puts back; None for every other mutation."""
    sender: Sender = field(default=UNKNOWN, compare=False)
    """Where the request came from."""
    part: PlannedPart | None = None
    """How it fits the plan of the session that its key belongs to; None outside of such a session."""
    opens: PlanOpening | None = field(default=None, compare=False, repr=False)
    """The session that is opened if it passes; None for every mutation but a plan."""
    inner: tuple[InnerCall, ...] = field(default=(), compare=False)
    """The calls that it makes AWS carry out, as far as they could be read. The effects of each are among `effects`, if all are understood."""
    regions: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    """Of a plan, the regions that it changes something in, as far as they are known, each with the types of resources; a call has its own."""

    @property
    def understood(self) -> bool:
        """Whether Sentinel knows the effects of the call."""
        return bool(self.effects)
