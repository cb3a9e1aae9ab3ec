"""The arguments of the tools as pydantic models, which refuse unknown members. A mistake is named by its place, never by its value."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gateway.context.lookup import MOST_LISTED
from gateway.core.errors import Malformed
from gateway.doors.api.problems import validation_messages
from gateway.doors.api.request_bodies import IDEMPOTENCY_KEY_LENGTH, MotiveBody, PerhapsReason
from gateway.doors.api.resources import MOST_CHANGES, OLDEST_SECONDS

MOST_CLAIMS = 200
"""Claims in one answer: a model reads no more, and what is written for one caller keeps the others waiting."""
_Name = Annotated[str, Field(max_length=1_024)]
_Seq = Annotated[int, Field(ge=0, le=2**63 - 1)]
_Mutation = Annotated[str, Field(max_length=64, description="Its id, mut_…")]
_Wait = Annotated[
    int, Field(ge=0, le=60, description="Seconds to wait for a human's decision, if the change is held or in flight.")
]


class ToolArguments(BaseModel):
    """Base of the arguments of every tool."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FindResources(ToolArguments):
    """A search for resources; all given members must fit."""

    q: Annotated[_Name, Field(description="A part of the address or of the name, in any case.")] = ""
    arn: _Name = ""
    type: Annotated[str, Field(max_length=128, description="e.g. aws_autoscaling_group")] = ""
    stack: _Name = ""
    after: Annotated[_Name, Field(description="next_after of the page before.")] = ""
    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 50


class GetContext(ToolArguments):
    """The resource to be told of."""

    address: Annotated[_Name, Field(description="Terraform address, as find_resources shows it.")]
    attribute: Annotated[_Name, Field(description="Only this one, e.g. desired_capacity.")] = ""
    max_age_seconds: Annotated[
        float | None,
        Field(ge=0, le=OLDEST_SECONDS, description="Have live values read from AWS that are older; null: do not."),
    ] = None


class GetHistory(ToolArguments):
    """The resource whose changes are listed."""

    address: Annotated[_Name, Field(description="Terraform address, as find_resources shows it.")]
    attribute: _Name = ""
    after_seq: _Seq = 0
    before_seq: Annotated[_Seq, Field(description="next_before_seq of the page before.")] = 0
    limit: Annotated[int, Field(ge=1, le=MOST_CHANGES)] = 20


class ListClaims(ToolArguments):
    """Whose claims are listed. Agents see all claims of the address they name, and else their own."""

    address: _Name = ""
    actor: _Name = ""
    every: Annotated[bool, Field(description="Also claims that have ended.")] = False
    before: Annotated[str, Field(max_length=64, description="The id of the last claim of the page before.")] = ""
    limit: Annotated[int, Field(ge=1, le=MOST_CLAIMS)] = 50


class ListDrift(ToolArguments):
    """Which drift is listed."""

    stack: _Name = ""
    cause: Literal["", "applied", "foreign"] = ""


class OneMutation(ToolArguments):
    """The mutation that is asked about."""

    mutation_id: _Mutation


class WaitForDecision(OneMutation):
    """The mutation that is waited for."""

    seconds: _Wait = 30


class EndChange(OneMutation):
    """The change for a time that ends now, and why."""

    reason: PerhapsReason = ""


class ExtendChange(EndChange):
    """The change for a time that is to last longer, and for how long from now on."""

    wanted_for: Annotated[str, Field(description="From now on, e.g. `30m`, `1h`, `2d`.")]


class DryRunMutation(ToolArguments):
    """A change to be judged. The members are those of `POST /v1/mutations`, which validates them."""

    service: Annotated[str, Field(description="As boto3 names it, e.g. autoscaling.")]
    operation: Annotated[str, Field(description="As AWS (SetDesiredCapacity) or boto3 (set_desired_capacity) does.")]
    parameters: Annotated[
        dict[str, Any],
        Field(default_factory=dict, description="As for boto3, with blobs in base64 and times in ISO 8601."),
    ]
    region: Annotated[str, Field(max_length=32)] = ""
    motive: Annotated[
        MotiveBody | None, Field(description="Why: the goal and why now. Without it, the motive of the key counts.")
    ] = None
    passed_checks: Annotated[
        bool, Field(description="Whether the answer lists the checks that passed, too, not only the objections.")
    ] = False


class ProposeMutation(DryRunMutation):
    """A change to be made, once it is allowed."""

    idempotency_key: Annotated[
        str,
        Field(max_length=IDEMPOTENCY_KEY_LENGTH, description="The same key is carried out only once."),
    ] = ""
    wait_seconds: _Wait = 0


Given = TypeVar("Given", bound=ToolArguments)


def arguments_of(model: type[Given], given: Mapping[str, Any] | None) -> Given:
    """The arguments, validated. Raises `errors.Malformed`, which names the places of mistakes and no values."""
    try:
        return model.model_validate(dict(given or {}))
    except ValidationError as error:
        raise Malformed(f"The arguments cannot be read: {validation_messages(error.errors(), model)}.") from None
