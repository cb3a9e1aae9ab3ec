"""What is asked: the `Call`, what it does to declared things (`Effect`), and both together as a `Mutation`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gateway.model.caller import Caller
from gateway.model.json import Json, Parameters, digest
from gateway.model.motive import Motive


class CallClass(StrEnum):
    """What an AWS operation does, as far as the gate must know. Whatever is not known to be harmless is a MUTATION."""

    READ = "read"
    MUTATION = "mutation"
    CREDENTIAL = "credential"
    """Its reply hands out credentials that would let the caller walk round the gate. Always refused."""
    SECRET = "secret"  # noqa: S105  the name of a class of calls
    """A read whose reply is a secret value. Streamed only where policy lets the caller have it."""
    EXECUTE = "execute"
    """Runs code or carries a document that does. A mutation."""
    CRYPTO = "crypto"
    """Encrypts, decrypts or signs with a KMS key; changes no state."""

    @property
    def changes_state(self) -> bool:
        """Whether the call goes through the checks as a change. The classes for which it does not are streamed to AWS unparsed."""
        return self not in (CallClass.READ, CallClass.SECRET, CallClass.CRYPTO)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request after its wire format is gone and before we know what it means."""

    service: str
    """botocore service name, e.g. `autoscaling`."""
    operation: str
    """Operation name of the service model, e.g. `SetDesiredCapacity`."""
    parameters: Parameters = field(default_factory=dict)
    """As botocore's serializer takes them."""
    account: str = ""
    """AWS account id, 12 digits; empty where the gate serves one account only."""
    region: str = ""
    protocol: str = field(default="", compare=False)
    """Wire protocol that the caller speaks (`query`, `json`, `smithy-rpc-v2-cbor` …), so that AWS answers in words the caller reads;
    empty: the service's usual one. It changes nothing of what is asked, so it is no part of the digest."""

    @property
    def digest(self) -> str:
        """What was asked, as 64 hex digits: equal for identical calls and for nothing else."""
        return digest([self.service, self.operation, self.account, self.region, self.parameters])


class EffectAction(StrEnum):
    """What is done to the thing."""

    SET = "set"
    CREATE = "create"
    DELETE = "delete"
    INVOKE = "invoke"


WHOLE = "*"
"""The attribute of an effect on a whole resource (create, delete, invoke)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a call does to one declared thing."""

    address: str
    """Terraform address, e.g. `module.jobs["a"].aws_sqs_queue.this`. Where no block declares the thing: `aws_sqs_queue{name=x}`."""
    attribute: str
    """Attribute path as in the provider's schema, dotted (`desired_capacity`, `tags.owner`, `ingress`), or `*`. An INVOKE of an attribute
    changes it, to a value that only AWS knows.
    """
    action: EffectAction
    value: Json = None
    """The value wanted, in Terraform's form. For DELETE and INVOKE None. Of a sensitive attribute: `{"sha256": …}`, never the value."""
    resource_type: str
    """Terraform resource type, e.g. `aws_sqs_queue`."""
    identity: Mapping[str, str] = field(default_factory=dict)
    """How AWS names the thing in this call, e.g. `{"name": "orders"}`."""
    declared: bool = True
    """Whether a block in the code (or the state) declares the thing."""
    sensitive: bool = False
    """Whether the value is a secret that may be neither stored nor written into code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """One change that somebody asks for."""

    id: str
    """`mut_…`, see `model.ids`."""
    caller: Caller
    call: Call
    call_class: CallClass
    motive: Motive | None
    """None where the caller stated none and its key carries none."""
    effects: tuple[Effect, ...]
    """Empty where Sentinel does not understand the call: then it is held for a human."""
    idempotency_key: str = ""
    """The client's own key for this attempt, empty where it sent none. Scoped to the actor."""

    @property
    def understood(self) -> bool:
        """Whether we know what this call does."""
        return bool(self.effects)
