"""How we decide: `Finding`s gathered into a `Decision`. Nothing is a denial."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from gateway.model.json import Json


class Verdict(StrEnum):
    """One check's or the whole decision's answer, weakest last."""

    DENY = "deny"
    HOLD = "hold"
    ALLOW = "allow"


class Mode(StrEnum):
    """What a verdict does, per stack."""

    ENFORCE = "enforce"
    OBSERVE = "observe"
    """Apply whatever the key may send, and record the decision that would have been made. Credential classes stay refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterOffer:
    """What would have been allowed instead, so that an agent can ask better."""

    address: str = ""
    attribute: str = ""
    nearest: Json = None
    """Nearest legal value; None where there is none to name."""
    holder: str = ""
    """Actor whose claim stands in the way."""
    retry_after: datetime | None = None
    """When the claim in the way ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One check's verdict on one thing."""

    check: str
    """Name of the check: bounds, dependencies, policy, arbitration, survey."""
    verdict: Verdict
    rule: str
    """Id of the rule, stable across releases, e.g. `bounds.max`, `SEN-G004`. Ids of absolute denials begin with `never.`."""
    reason: str
    """A whole sentence for the caller."""
    address: str = ""
    attribute: str = ""
    source: str = ""
    """Where the rule is written, `file:line`."""
    offer: CounterOffer | None = None
    absolute: bool = False
    """Of a denial: whether it also holds where the stack is only observed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """All findings. Allowed only if at least one check ran and every finding allows."""

    findings: tuple[Finding, ...] = ()
    supersedes: tuple[str, ...] = ()
    """Ids of the standing claims that this decision ends if it is carried out."""
    mode: Mode = Mode.ENFORCE
    approval: str = ""
    """Id of the approval that turned every hold into an allow; empty where none was needed."""
    bundle: str = ""
    """Digest of the policy bundle that was asked."""
    code: str = ""
    """Digest of the Terraform code, contracts and state that were looked at."""
    obligations: Mapping[str, Json] = field(default_factory=dict)
    """What policy asks of the claim, e.g. `{"claim_seconds": 3600}`."""

    @property
    def verdict(self) -> Verdict:
        """The strongest verdict of all findings; DENY where there is none. An approval lifts holds, never denials."""
        verdicts = {finding.verdict for finding in self.findings}
        if not verdicts or Verdict.DENY in verdicts:
            return Verdict.DENY
        return Verdict.HOLD if Verdict.HOLD in verdicts and not self.approval else Verdict.ALLOW

    @property
    def carried_out(self) -> bool:
        """Whether the mutation is to be applied: allowed, or only observed."""
        return self.verdict is Verdict.ALLOW or (self.mode is Mode.OBSERVE and not self.denied_in_every_mode)

    @property
    def denied_in_every_mode(self) -> bool:
        """Whether it is refused even where the stack is only observed (credential classes, a survey that failed)."""
        return not self.findings or any(f.absolute for f in self.findings if f.verdict is Verdict.DENY)

    @property
    def objections(self) -> tuple[Finding, ...]:
        """The findings that do not allow, denials first."""
        return tuple(f for verdict in (Verdict.DENY, Verdict.HOLD) for f in self.findings if f.verdict is verdict)
