"""What the JSON API takes, as pydantic models: unknown members are mistakes."""

from datetime import timedelta
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gateway.doors.api.problems import mistakes
from gateway.doors.aws.strict_parsers import json_value
from gateway.doors.motive import duration, motive_of
from gateway.errors import Malformed
from gateway.model.inbound import Inbound
from gateway.model.motive import Intent, Motivation, Motive


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MotiveBody(_Body):
    """Why a change is wanted."""

    intent: Intent
    motivation: Motivation
    text: Annotated[str, Field(max_length=1000)] = ""
    evidence: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=10)] = ()
    wanted_for: Annotated[str, Field(description="How long the change is wanted, e.g. `30m`, `1h`, `2d`.")] = ""

    def motive(self) -> Motive:
        """The noun, by the rules of every door. Raises `errors.Malformed`: control characters, evidence that says nothing, a duration
        that cannot be read.
        """
        return motive_of(
            intent=self.intent,
            motivation=self.motivation,
            text=self.text,
            evidence=self.evidence,
            wanted_for=self.wanted_for,
        )


class MutationBody(_Body):
    """A change that is asked for."""

    service: Annotated[str, Field(pattern=r"^[a-z0-9.-]{1,64}$", examples=["autoscaling"])]
    operation: Annotated[str, Field(pattern=r"^[A-Za-z0-9]{1,128}$", examples=["SetDesiredCapacity"])]
    parameters: Annotated[
        dict[str, Any],
        Field(default_factory=dict, description="As boto3 takes them; blobs as base64, times as ISO 8601."),
    ]
    region: Annotated[str, Field(max_length=32)] = ""
    motive: MotiveBody | None = None
    dry_run: Annotated[bool, Field(description="Decide, and change nothing.")] = False


class RejectBody(_Body):
    """Why a held change is refused for good."""

    reason: Annotated[str, Field(max_length=1000)] = ""


class ApproveBody(_Body):
    """How long a consent waits for the identical call."""

    lasts: Annotated[str, Field(description="e.g. `30m`, `1h`; at most one day.")] = "1h"

    def duration(self) -> timedelta:
        """The time, capped at a day. Raises `errors.Malformed`."""
        return min(duration(self.lasts), timedelta(days=1))


class SessionBody(_Body):
    """A temporary key that carries a motive."""

    motive: MotiveBody
    lasts: Annotated[str, Field(description="e.g. `1h`; at most twelve hours.")] = "1h"

    def duration(self) -> timedelta:
        """The time, capped at twelve hours. Raises `errors.Malformed`."""
        return min(duration(self.lasts), timedelta(hours=12))


Model = TypeVar("Model", bound=BaseModel)


async def body_of(inbound: Inbound, model: type[Model], *, what: str = "body", default: Model | None = None) -> Model:
    """The body of a request, read strictly; `default` where there is none and one is not needed. Only call it for a known caller.

    `what` names the body in complaints. Raises `errors.Malformed`, `errors.BodyTooLarge`.
    """
    raw = await inbound.read_body()
    if default is not None and not raw:
        return default
    if (inbound.header("content-type") or "").partition(";")[0].strip().lower() != "application/json":
        raise Malformed(f"Send the {what} as application/json.", code="content_type")
    try:
        return model.model_validate(json_value(raw))
    except ValidationError as error:
        raise Malformed(f"The {what} cannot be read: {mistakes(error.errors())}.") from error


def described(model: type[BaseModel], *, required: bool = True) -> dict[str, Any]:
    """What OpenAPI says about a body that FastAPI does not read itself."""
    return {
        "requestBody": {
            "required": required,
            "content": {"application/json": {"schema": model.model_json_schema()}},
        }
    }
