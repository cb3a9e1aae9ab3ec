"""Settings of what callers are told before they act."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class ContextSettings(BaseModel):
    """How live values are read for the context of a resource."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    live: bool = True
    """Whether live values are read from AWS with the gateway's own credentials, when a caller asks for them by `max_age_seconds`."""
    live_reads_per_minute: Annotated[int, Field(ge=0, le=10_000)] = 60
    """How many of these reads each caller may have within a minute. Values that were read lately cost nothing."""
    live_seconds: Annotated[float, Field(gt=0, le=60)] = 5.0
    """How long an answer waits for AWS at most."""
