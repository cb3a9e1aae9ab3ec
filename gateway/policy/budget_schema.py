"""Schema of `policies/data/budgets.json`."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

from gateway.model.caller import ActorKind
from gateway.model.motive import Motivation
from gateway.ports import MOST_CLAIMS

Most = Annotated[StrictInt, Field(gt=0, le=10_000_000)]
PerSpan = dict[Literal["minute", "hour"], Most]
"""How many mutations in each span; a span that is absent has no limit."""
SizeName = Annotated[StrictStr, Field(pattern="^[a-z][a-z_]{0,40}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SizeData(_Strict):
    """How a size is measured: attributes that are set, and resources that are created, each type with the parameter that says how many."""

    set: dict[StrictStr, list[StrictStr]]
    created: dict[StrictStr, StrictStr]


class BreakerData(_Strict):
    """When a circuit breaker opens, and for how long."""

    in_a_row: Annotated[StrictInt, Field(ge=2, le=1_000_000)]
    open_seconds: Annotated[StrictInt, Field(gt=0, le=86_400)]


class BudgetsData(_Strict):
    """`policies/data/budgets.json`. Every kind needs an entry in `mutations` and `breaker` (null: none)."""

    mutations: dict[ActorKind, PerSpan]
    mutations_by_motivation: dict[ActorKind, dict[Motivation | Literal["none"], PerSpan]]
    added_per_day: dict[ActorKind, dict[SizeName, Most]]
    sizes: dict[SizeName, SizeData]
    claims_by_motivation: dict[
        ActorKind, dict[Motivation | Literal["none"], Annotated[StrictInt, Field(gt=0, le=MOST_CLAIMS)]]
    ]
    breaker: dict[ActorKind, BreakerData | None]


def budget_mistakes(data: BudgetsData) -> list[str]:
    """What is missing although each part is right, as sentences."""
    missing = [
        f"{table}: {kind} has no entry"
        for table in ("mutations", "breaker")
        for kind in ActorKind
        if kind not in getattr(data, table)
    ]
    unmeasured = sorted({size for sizes in data.added_per_day.values() for size in sizes if size not in data.sizes})
    return missing + [f"added_per_day: {size} is not in `sizes`, so nothing measures it" for size in unmeasured]
