"""The JSON API's request bodies as pydantic models, which refuse unknown members, and the strict parser for them."""

from datetime import UTC, timedelta
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    AliasChoices,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from gateway.core.errors import Malformed
from gateway.core.http.motive_syntax import duration, motive_of
from gateway.core.http.strict_parsers import json_value
from gateway.core.model.caller import ActorKind
from gateway.core.model.inbound import Inbound
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.plan import Plan, PlannedAction, PlannedChange
from gateway.core.model.stop import StopScope
from gateway.core.off_loop import off_loop
from gateway.doors.api.problems import validation_messages
from gateway.effects.limits import MOST_EFFECTS
from gateway.policy.playground import LARGEST_FILE, MOST_FILES, Edits
from gateway.policy.replay import LARGEST_PAGE, ReplayRange
from gateway.terraform.address import parse_address
from gateway.terraform.origins import LARGEST_CONTRACT, MOST_CONTRACTS, CodeEdit


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MotiveBody(_Body):
    """Why a change is wanted: intent, motivation, and what supports them."""

    intent: Intent
    motivation: Motivation
    text: Annotated[str, Field(max_length=1000)] = ""
    evidence: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=10)] = ()
    wanted_for: Annotated[str, Field(description="How long the change is wanted, e.g. `30m`, `1h`, `2d`.")] = ""

    def motive(self) -> Motive:
        """The motive, validated by the rules of every door.

        Raises `errors.Malformed` for control characters, empty evidence, and a duration that cannot be parsed.
        """
        return motive_of(
            intent=self.intent,
            motivation=self.motivation,
            text=self.text,
            evidence=self.evidence,
            wanted_for=self.wanted_for,
        )


class MutationBody(_Body):
    """A proposed change."""

    service: Annotated[str, Field(pattern=r"^[a-z0-9.-]{1,64}$", examples=["autoscaling"])]
    operation: Annotated[
        str, Field(pattern=r"^[A-Za-z0-9_]{1,128}$", examples=["SetDesiredCapacity", "set_desired_capacity"])
    ]
    parameters: Annotated[
        dict[str, Any],
        Field(default_factory=dict, description="As for boto3, with blobs in base64 and times in ISO 8601."),
    ]
    region: Annotated[str, Field(max_length=32)] = ""
    motive: MotiveBody | None = None
    dry_run: Annotated[bool, Field(description="Only decide; change nothing.")] = False


def _one_line(text: str) -> str:
    if not text.strip() or not text.isprintable():
        message = "must be one line of printable text"
        raise ValueError(message)
    return text


Reason = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_one_line)]
"""Why something is done: recorded, so it may neither be blank nor steer a terminal."""
PerhapsReason = Annotated[str, Field(max_length=1000), AfterValidator(lambda text: _one_line(text) if text else text)]
"""The same, which may be left out."""


class RejectBody(_Body):
    """Why a held change is rejected permanently: the requester is told."""

    reason: Reason


class SettleBody(_Body):
    """The outcome that a human found for a mutation in doubt."""

    outcome: Annotated[Literal["applied", "failed"], Field(description="Whether AWS carried it out.")]
    reason: Annotated[Reason, Field(description="How you found out.")]


class GlassBody(_Body):
    """Why a hold is passed at once."""

    reason: Annotated[Reason, Field(description="What the emergency is.")]


class StopBody(_Body):
    """The scope of a stop, and its reason."""

    scope: StopScope
    name: Annotated[str, Field(max_length=256, description="The actor, stack or AWS service; empty for `all`.")] = ""
    reason: Annotated[Reason, Field(description="Why. Those who are refused are told.")]

    @model_validator(mode="after")
    def _named(self) -> Self:
        """Raises `ValueError` unless exactly the scopes that need a name have one."""
        if bool(self.name) is (self.scope is StopScope.ALL):
            message = "name an actor, a stack or a service, and nothing for all"
            raise ValueError(message)
        return self


class ContractsBody(_Body):
    """Contracts to judge by in place of those in force; without any member those in force."""

    stack: Annotated[str, Field(max_length=63, description="The stack that they are of.")] = ""
    ref: Annotated[str, Field(max_length=256, description="A branch, tag or commit of the stacks' repositories.")] = ""
    files: Annotated[
        dict[Annotated[str, Field(max_length=512)], Annotated[str, Field(max_length=LARGEST_CONTRACT)]],
        Field(
            default_factory=dict, max_length=MOST_CONTRACTS, description="Contract files by their path in the stack."
        ),
    ]
    alone: Annotated[bool, Field(description="Whether the stack has no other contract files than these.")] = False

    def edit(self) -> CodeEdit:
        """The edit."""
        contracts = {path: text.encode() for path, text in self.files.items()}
        return CodeEdit(stack=self.stack, ref=self.ref, contracts=contracts, alone=self.alone)


class ReplayBody(_Body):
    """Which decisions to replay, newest first, and under which policies."""

    since: AwareDatetime | None = None
    stack: Annotated[str, Field(max_length=256)] = ""
    before_seq: Annotated[int, Field(ge=0, le=2**63 - 1, description="`next` of the page before; 0 to begin.")] = 0
    limit: Annotated[int, Field(ge=1, le=LARGEST_PAGE)] = LARGEST_PAGE
    bundle: Annotated[
        str, Field(description="The edited policies, as `sentinel policy replay` packs them. Default: those in force.")
    ] = ""
    revision: Annotated[
        str, Field(max_length=64, description="Of a bundle that was sent with an earlier page, in its place.")
    ] = ""
    contracts: Annotated[
        ContractsBody | None, Field(description="Judge by contracts again too. Default: what they said then is kept.")
    ] = None

    def range(self) -> ReplayRange:
        """The decisions."""
        since = self.since.astimezone(UTC) if self.since is not None else None
        return ReplayRange(since=since, stack=self.stack, before_seq=self.before_seq, limit=self.limit)


class TriedCallBody(MutationBody):
    """A call that nobody sent, and who would send it."""

    actor: Annotated[str, Field(max_length=128, description="Default: who asks.")] = ""
    kind: Annotated[ActorKind | None, Field(description="Default: that of who asks.")] = None


class TrialBody(_Body):
    """What is edited, and on which changes it is tried. Nothing of it comes into force."""

    mutation: Annotated[str, Field(max_length=64, description="A recorded mutation.")] = ""
    call: Annotated[TriedCallBody | None, Field(description="A call in its place, decided on the facts of now.")] = None
    policies: Annotated[
        dict[Annotated[str, Field(max_length=256)], Annotated[str, Field(max_length=LARGEST_FILE)]],
        Field(default_factory=dict, max_length=MOST_FILES, description="Rules and data by their path in the policies."),
    ]
    contracts: Annotated[
        ContractsBody | None, Field(description="Judge by contracts again too. Default: what they said then is kept.")
    ] = None
    since: Annotated[AwareDatetime | None, Field(description="Replay the newest decisions since then too.")] = None

    def edits(self) -> Edits:
        """The edits."""
        return Edits(policies=self.policies, contracts=None if self.contracts is None else self.contracts.edit())


class DriftBody(_Body):
    """A human's decision about a change from outside."""

    action: Annotated[
        Literal["codify", "revert", "quarantine", "leave"], Field(description="What is to be done about it.")
    ]
    reason: Annotated[Reason, Field(description="Why.")]


def _at_most(asked: timedelta, most: timedelta, limit: str) -> timedelta:
    """The duration. Raises `errors.Malformed` for a longer one: a shorter one than was asked for would surprise at its end."""
    if asked > most:
        raise Malformed(f"{limit} at most, and more was asked for. Nothing was made.")
    return asked


class ApproveBody(_Body):
    """How long an approval waits for the identical call, and why it is given."""

    lasts: Annotated[str, Field(description="e.g. `30m`, `1h`; at most one day.")] = "1h"
    reason: Annotated[PerhapsReason, Field(description="Why; recorded and shown to the requester.")] = ""

    def duration(self) -> timedelta:
        """The duration. Raises `errors.Malformed`, also for more than a day."""
        return _at_most(duration(self.lasts), timedelta(days=1), "An approval waits for its call a day")


class ExtendBody(_Body):
    """For how long, from now on, a change for a time is wanted, and why."""

    wanted_for: Annotated[
        str,
        Field(
            validation_alias=AliasChoices("wanted_for", "lasts"),
            description="From now on, e.g. `30m`, `1h`. `lasts`, its old name, is accepted too.",
        ),
    ]
    reason: PerhapsReason = ""

    def duration(self) -> timedelta:
        """The duration. Raises `errors.Malformed`."""
        return duration(self.wanted_for)


class EndBody(_Body):
    """Why a change for a time ends early."""

    reason: PerhapsReason = ""


class SessionBody(_Body):
    """A temporary key with a motive."""

    motive: MotiveBody
    lasts: Annotated[str, Field(description="e.g. `1h`; at most twelve hours.")] = "1h"

    def duration(self) -> timedelta:
        """The duration. Raises `errors.Malformed`, also for more than twelve hours."""
        return _at_most(duration(self.lasts), timedelta(hours=12), "A session lasts twelve hours")


class CredentialsBody(_Body):
    """A temporary key for an AWS client that fetches its keys, as `credential_process` does."""

    role: Annotated[
        str, Field(max_length=64, description="A role of the gateway; empty for the caller's own rights.")
    ] = ""
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_+=,.@-]{2,64}$", description="The session's name.")] = "sentinel"
    motive: MotiveBody | None = None
    lasts: Annotated[str, Field(description="e.g. `1h`; at least 15 minutes, at most twelve hours.")] = "1h"

    def duration(self) -> timedelta:
        """The duration. Raises `errors.Malformed`, also for more than twelve hours."""
        return _at_most(duration(self.lasts), timedelta(hours=12), "A session lasts twelve hours")


class LinkBody(_Body):
    """Which user of the chat the caller is."""

    user: Annotated[str, Field(max_length=32, description="The id of your own user in the chat, `U…`.")]


class ResendBody(_Body):
    """Which notice is sent again, and to whom."""

    receiver: Annotated[str, Field(max_length=64)]
    id: Annotated[str, Field(max_length=64, description="The notice's id, `rec_…`.")]


Name = Annotated[str, Field(min_length=1, max_length=512)]
Path = Annotated[str, Field(pattern=r"^[^*\x00-\x1f][^\x00-\x1f]*$", max_length=512)]


class PlannedChangeBody(_Body):
    """The change of one resource in a plan. `sentinel plan-check` makes it from `terraform show -json`."""

    address: Name
    type: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,127}$")]
    action: PlannedAction
    previous: Annotated[str, Field(max_length=512)] = ""
    values: Annotated[
        dict[Path, Any],
        Field(default_factory=dict, description="The new value of each changed attribute that is no secret."),
    ]
    secrets: Annotated[tuple[Path, ...], Field(description="Changed attributes whose value is a secret.")] = ()
    unknown: Annotated[tuple[Path, ...], Field(description="Changed attributes with a value known after apply.")] = ()
    computed: Annotated[
        tuple[Path, ...], Field(description="Attributes that the code does not give: AWS or the provider chooses.")
    ] = ()
    marks: Annotated[
        dict[Path, Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]],
        Field(
            default_factory=dict,
            description="Keyed digests of `secrets`, and of the code of what is `unknown`, by attribute. An approval is bound to them.",
        ),
    ]
    tags: Annotated[
        dict[Annotated[str, Field(max_length=128)], Annotated[str, Field(max_length=256)]],
        Field(default_factory=dict, max_length=100, description="Tags that the provider adds to those of the code."),
    ]
    region: Annotated[str, Field(pattern=r"^[a-z0-9-]{0,32}$", description="That of its provider.")] = ""

    def change(self) -> PlannedChange:
        """The change. Raises `errors.Malformed` if the address is not one of a resource of its type."""
        for address in (self.address, *((self.previous,) if self.previous else ())):
            where = parse_address(address)
            if where is None or where.data or where.resource_type != self.type:
                raise Malformed(f"{address[:200]!r} is not the address of a resource of type {self.type}.")
        if odd := self.marks.keys() - {*self.secrets, *self.unknown}:
            raise Malformed(
                f"{self.address[:200]} has marks of {min(odd)[:200]}, which is neither a secret nor unknown."
            )
        return PlannedChange(
            address=self.address,
            resource_type=self.type,
            action=self.action,
            previous=self.previous,
            values=self.values,
            secrets=self.secrets,
            unknown=self.unknown,
            computed=self.computed,
            marks=self.marks,
            tags=self.tags,
            region=self.region,
        )


class OpenSessionBody(_Body):
    """A session in which the plan is applied, if it passes."""

    lasts: Annotated[str, Field(description="e.g. `1h`; at most twelve hours.")] = "1h"

    def duration(self) -> timedelta:
        """The duration. Raises `errors.Malformed`."""
        return duration(self.lasts)


class EndSessionBody(_Body):
    """How the apply of a plan ended."""

    exit_code: Annotated[int | None, Field(ge=0, le=255, description="That of Terraform; recorded.")] = None


class PlanBody(_Body):
    """A Terraform plan without its secrets."""

    stack: Annotated[
        str, Field(max_length=63, description="The stack that it is of; may be left out if there is only one.")
    ] = ""
    terraform_version: Annotated[str, Field(pattern=r"^[A-Za-z0-9.+-]{0,32}$")] = ""
    motive: MotiveBody | None = None
    changes: Annotated[tuple[PlannedChangeBody, ...], Field(max_length=MOST_EFFECTS)]
    open_session: Annotated[
        OpenSessionBody | None, Field(description="Open a session in which the plan is applied, if it passes.")
    ] = None

    def plan(self) -> Plan:
        """The plan. Raises `errors.Malformed`."""
        return Plan(changes=tuple(each.change() for each in self.changes), terraform_version=self.terraform_version)


Model = TypeVar("Model", bound=BaseModel)


async def body_of(inbound: Inbound, model: type[Model], *, what: str = "body", default: Model | None = None) -> Model:
    """The body of a request, parsed strictly; `default` if the body is empty and a default is given. Call it only after authentication.

    `what` names the body in error messages. Raises `errors.Malformed`, `errors.BodyTooLarge`.
    """
    raw = await inbound.read_body()
    if default is not None and not raw:
        return default
    if (inbound.header("content-type") or "").partition(";")[0].strip().lower() != "application/json":
        raise Malformed(f"Send the {what} as application/json.", code="content_type")
    return await off_loop(len(raw), lambda: _validated(raw, model, what))


def _validated(raw: bytes, model: type[Model], what: str) -> Model:
    try:
        return model.model_validate(json_value(raw))
    except ValidationError as error:
        raise Malformed(f"The {what} cannot be read: {validation_messages(error.errors(), model)}.") from error


IDEMPOTENCY_KEY_LENGTH = 255
"""Most characters of an `Idempotency-Key`."""

IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A change with the same key is carried out only once; a repeat gets the first outcome. Printable ASCII.",
    "schema": {"type": "string", "minLength": 1, "maxLength": IDEMPOTENCY_KEY_LENGTH},
}
"""The OpenAPI description of the header, which the decoder reads."""


def openapi_body(model: type[BaseModel], *, required: bool = True) -> dict[str, Any]:
    """The OpenAPI description of a body that the route parses itself instead of FastAPI."""
    return {
        "requestBody": {
            "required": required,
            "content": {"application/json": {"schema": model.model_json_schema()}},
        }
    }
