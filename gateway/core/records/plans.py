"""The body of PLAN_CHECKED: a Terraform plan that was judged before its apply. None of the plan's values is in it."""

from typing import ClassVar

import msgspec

from gateway.core.model.verdict import Mode, Verdict
from gateway.core.records.motive import RecordedMotive
from gateway.core.records.record import Body, Stage
from gateway.core.records.requests import KeyedCaller


class RecordedPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan."""

    digest: str
    """Keyed."""
    terraform_version: str
    resources: int
    effects: int


class RecordedObjection(msgspec.Struct, frozen=True, kw_only=True):
    """A finding that holds or denies, without its sentence, which may quote a value."""

    check: str
    verdict: Verdict
    rule: str
    address: str
    attribute: str
    source: str


class PlanDecision(msgspec.Struct, frozen=True, kw_only=True):
    """The decision about the plan."""

    verdict: Verdict
    passes: bool
    mode: Mode
    bundle: str
    priorities: str
    code: str
    objections: tuple[RecordedObjection, ...]
    more: int
    """Objections that are not named."""


class RecordedContest(msgspec.Struct, frozen=True, kw_only=True):
    """A standing claim that the plan is about."""

    id: str
    fate: str
    """`kept`, `undone` or `held`."""
    holder: str


class PlanCheckedBody(Body, frozen=True, kw_only=True):
    """Who had which plan judged, and the answer."""

    stage: ClassVar[Stage] = Stage.PLAN_CHECKED

    caller: KeyedCaller
    origin: str
    """`api`, or `hcp` and the run."""
    motive: RecordedMotive | None
    plan: RecordedPlan
    decision: PlanDecision
    claims: tuple[RecordedContest, ...]
