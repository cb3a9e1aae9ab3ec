"""Settings of the policy engine."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class PolicyEngineKind(StrEnum):
    """Where Rego is evaluated."""

    EMBEDDED = "embedded"
    OPA = "opa"


class PolicySettings(BaseModel):
    """The policy engine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    engine: PolicyEngineKind = PolicyEngineKind.EMBEDDED
    """Where policies are evaluated: in this process, or by an OPA server."""
    path: Path | None = None
    """Directory of the policies; default: those shipped with Sentinel."""
    green_tests: bool = True
    """Whether the tests beside changed policies must pass before these come into force; `sentinel up` sets it to false."""
    opa_url: str = ""
    """URL of the OPA server, for `engine = "opa"`."""
    deadline_ms: Annotated[int, Field(ge=1, le=10_000)] = 250
    """How long one decision may take before it is a denial."""
    memory_mb: Annotated[int, Field(ge=8, le=1024)] = 64
    """Memory that one decision may take before it is a denial."""
