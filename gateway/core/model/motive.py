"""Why a change is wanted: the goal (intent) and why now (motivation)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any

from gateway.core.model.json import Json
from gateway.core.quick_init import quick_init


class Intent(StrEnum):
    """The goal of a change."""

    AVAILABILITY = "availability"
    COST = "cost"
    SECURITY = "security"
    COMPLIANCE = "compliance"
    PERFORMANCE = "performance"
    CONSISTENCY = "consistency"


class Motivation(StrEnum):
    """Why the change is wanted now."""

    INCIDENT = "incident"
    VULNERABILITY = "vulnerability"
    LAUNCH = "launch"
    BUDGET = "budget"
    SCHEDULE = "schedule"
    ROUTINE = "routine"
    EXPERIMENT = "experiment"


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Motive:
    """Intent and motivation, with what supports them."""

    intent: Intent
    motivation: Motivation
    text: str = ""
    """Free text, at most 1,000 characters. It is data: nothing parses or executes it."""
    evidence: tuple[str, ...] = ()
    """References that support it: an alert, a CVE, a ticket. At most 10, each at most 200 characters."""
    wanted_for: timedelta | None = None
    """How long the change is wanted; None if it is wanted until further notice."""


def exceeds(motive: Motive, ceiling: Motive) -> bool:
    """Whether a motive is another one than the ceiling, or wants its change for longer. Text and evidence are free."""
    same = (motive.intent, motive.motivation) == (ceiling.intent, ceiling.motivation)
    lasts, most = motive.wanted_for, ceiling.wanted_for
    return not same or (most is not None and (lasts is None or lasts > most))


def ceiling_text(ceiling: Motive | None) -> str:
    """What a key with this ceiling may state, as a sentence."""
    if ceiling is None:
        return "The key may state no motive."
    longest = "" if ceiling.wanted_for is None else f" for at most {ceiling.wanted_for}"
    return (
        f"The key was made with --only: it may state no other motive than {ceiling.intent}/{ceiling.motivation}{longest}, "
        "which it has already where none is stated."
    )


def motive_to_json(motive: Motive | None) -> dict[str, Json] | None:
    """The JSON form in records, policy input and replies: `{intent, motivation, text, evidence, wanted_seconds}`; None without a motive.

    `wanted_seconds` is an integer, rounded up.
    """
    if motive is None:
        return None
    return {
        "intent": str(motive.intent),
        "motivation": str(motive.motivation),
        "text": motive.text,
        "evidence": list(motive.evidence),
        "wanted_seconds": None if motive.wanted_for is None else max(1, math.ceil(motive.wanted_for.total_seconds())),
    }


def motive_from_json(form: Mapping[str, Any] | None) -> Motive | None:
    """The motive of its JSON form (see `motive_to_json`), None of null."""
    if form is None:
        return None
    seconds = form["wanted_seconds"]
    return Motive(
        intent=Intent(form["intent"]),
        motivation=Motivation(form["motivation"]),
        text=form["text"],
        evidence=tuple(form["evidence"]),
        wanted_for=None if seconds is None else timedelta(seconds=seconds),
    )
