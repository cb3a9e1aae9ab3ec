"""The API's routes for budgets: list the remaining share of each actor, and reset a circuit breaker."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import structlog
from fastapi import Request

from gateway.core.model.budget import SPANS, Charge, Levels, Used
from gateway.core.model.caller import ActorKind
from gateway.core.model.circuit_breaker import Breaker
from gateway.doors.api.ports import Authenticated, Ports
from gateway.doors.api.request_bodies import GlassBody, body_of, openapi_body
from gateway.doors.api.routers import keyed_router
from gateway.line.checks.fairness import WITHOUT_MOTIVE, FairLimits
from gateway.presentation.serialize import time_to_json

log = structlog.get_logger()


router = keyed_router()


@router.get("/budgets", summary="What is left of each actor's budgets and claims, and its circuit breaker")
async def budgets(ports: Ports, caller: Authenticated, actor: str = "") -> dict[str, Any]:
    """The remaining share of each actor: people and pipelines see all actors, agents and services themselves."""
    kinds = {key.actor: key.kind for key in reversed(await ports.keys.standing())}
    named = {actor} if actor else set(kinds)
    visible = named if caller.sees_all else named & {caller.actor}
    now = ports.clock.now()
    used = await ports.budgets.used(now)
    found = [
        share_to_json(name, kinds[name], await ports.limits.of(kinds[name]), used.get(name, Used()), now)
        for name in sorted(visible & set(kinds))
    ]
    return {"budgets": found}


@router.post(
    "/budgets/{actor}/reset",
    openapi_extra=openapi_body(GlassBody),
    summary="Close the circuit breaker of an actor; the reason is recorded",
)
async def reset(ports: Ports, request: Request, caller: Authenticated, actor: str) -> dict[str, Any]:
    """The actor, and the person who closed the breaker."""
    body = await body_of(ports.inbound(request), GlassBody)
    await ports.budgets.reset_breaker(actor, by=caller, reason=body.reason, at=ports.clock.now())
    log.warning("breaker_reset", of=actor, by=caller.actor, reason=body.reason)
    return {"actor": actor, "reset_by": caller.actor}


def share_to_json(actor: str, kind: ActorKind, limits: FairLimits, used: Used, now: datetime) -> dict[str, Any]:
    """The remaining share of one actor, as JSON."""
    named = {name: charges for name, charges in limits.by_motivation.items() if charges}
    buckets = [
        *(_bucket(span, span, "", charge, used.levels, now) for span, charge in _by_length(limits.mutations)),
        *(
            _bucket(f"{motivation}/{span}", span, motivation, charge, used.levels, now)
            for motivation, charges in named.items()
            for span, charge in _by_length(charges)
        ),
    ]
    return {
        "actor": actor,
        "kind": kind.value,
        "mutations": buckets,
        "added": [_added(size, most, used.levels, now) for size, most in limits.added.items()],
        "claims": _claims(limits.claims, used.claims),
        "breaker": _breaker(limits, used.breaker),
    }


def _by_length(charges: Mapping[str, Charge]) -> list[tuple[str, Charge]]:
    """The charges by their span, the shortest first."""
    return sorted(charges.items(), key=lambda each: each[1].seconds)


def _bucket(  # noqa: PLR0917  what one row shows
    name: str, span: str, motivation: str, charge: Charge, levels: Levels, now: datetime
) -> dict[str, Any]:
    return {"motivation": motivation, **_left(name, span, charge, levels, now)}


def _added(size: str, most: int, levels: Levels, now: datetime) -> dict[str, Any]:
    charge = Charge(most=most, seconds=SPANS["day"])
    return {"size": size, **_left(f"{size}/day", "day", charge, levels, now)}


def _left(name: str, span: str, charge: Charge, levels: Levels, now: datetime) -> dict[str, Any]:
    full = levels.get(name)
    return {
        "per": span,
        "most": charge.most,
        "left": charge.left(full, now),
        "full_at": time_to_json(full) if full is not None and full > now else None,
    }


def _claims(limits: Mapping[str, int], held: Mapping[str, int]) -> list[dict[str, Any]]:
    by_name = {name or WITHOUT_MOTIVE: count for name, count in held.items()}
    return [
        {"motivation": name, "most": limits.get(name), "held": by_name.get(name, 0)}
        for name in sorted({*limits, *by_name})
    ]


def _breaker(limits: FairLimits, breaker: Breaker) -> dict[str, Any]:
    return {
        "state": breaker.state.value,
        "refused_in_a_row": breaker.in_a_row,
        "opens_at": limits.breaker.in_a_row if limits.breaker else None,
        "within_seconds": limits.breaker.within_seconds if limits.breaker else None,
        "until": time_to_json(breaker.open_until),
        "trial": breaker.trial,
    }
