"""The bodies of PLAN_CHECKED and PLAN_ENDED: a Terraform plan that was judged before its apply, and the end of its session. None of its values is in them."""

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from gateway.core.model.plan_session import PlanSessionEnd
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
    mutation: str = ""
    """The mutation that opened a session, or that is held for one; absent if none was asked for."""


class PlanEndedBody(Body, frozen=True, kw_only=True):
    """The session of a plan ended; the record's mutation is the plan's, its actor who ended it."""

    stage: ClassVar[Stage] = Stage.PLAN_ENDED

    key: str
    end: PlanSessionEnd
    exit_code: int | None = None
    """That of Terraform, if who ended the session said it."""
    calls: Mapping[str, int]
    """How many calls were carried out, by the state that they have now."""
    unused: tuple[str, ...]
    """Planned changes that no call was made for, at most 50 addresses."""
    unused_count: int
    claims_released: tuple[str, ...]
    """The claims on them."""
    claims_reopened: tuple[str, ...]
    """The claims of others on them, which the plan had ended."""
