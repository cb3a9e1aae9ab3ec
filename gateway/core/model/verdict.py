"""The `Finding`s of the checks and the `Decision` made of them. A decision without findings is a denial."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from gateway.core.model.json import Json
from gateway.core.quick_init import quick_init

if TYPE_CHECKING:  # who only needs the words, as the settings, does not import claims
    from gateway.core.model.approval import ApprovalRule, Binding
    from gateway.core.model.claim import ConflictClass


@dataclass(frozen=True, slots=True)
class RuleText:
    """Title and place of a rule."""

    title: str
    source: str = ""
    """`file:line`; of a policy's rule relative to the policies' directory. Empty for a rule built into Sentinel."""


class Verdict(StrEnum):
    """The result of one check or of the whole decision, strongest first."""

    DENY = "deny"
    HOLD = "hold"
    ALLOW = "allow"


class Mode(StrEnum):
    """Whether verdicts are enforced. Set per stack."""

    ENFORCE = "enforce"
    OBSERVE = "observe"
    """Apply the call, and record the decision that would have been made. Absolute denials are still enforced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterOffer:
    """What would have been allowed instead, so that an agent can correct its request."""

    address: str = ""
    attribute: str = ""
    nearest: Json = None
    """Nearest legal value; None if there is none."""
    holder: str = ""
    """Actor whose claim conflicts."""
    retry_after: datetime | None = None
    """When the conflicting claim ends."""


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The verdict of one rule of a check, usually about one resource."""

    check: str
    """Name of the check: classes, bounds, dependencies, policy or arbitration; survey or cloud for a failure outside the checks."""
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
    """Of a denial: whether it is enforced in observe mode too."""
    title: str = ""
    """What the rule is called; empty where it has no title."""
    conflict: "ConflictClass | None" = None
    """Which class of conflict with a claim it is about; None if it is about none."""


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question that a check asked the policies, kept so that edited policies can be asked it later."""

    check: str
    """Name of the check in its findings."""
    entrypoint: str
    document: Mapping[str, Json] = field(repr=False)
    """The input, without what is never stored: masks stand for the secrets inside of documents."""
    exact: bool = True
    """Whether the policies said the same of this input as of the one with the secrets."""
    lifted: tuple[str, ...] = ()
    """The objections that people lifted when they approved the plan of the call's session."""
    untold: tuple[tuple[str, str], ...] | None = None
    """(address, attribute) of the values that alone were judged, of a call in such a session; None if all were."""


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """All findings about one mutation. It is allowed only if there is a finding and every finding allows."""

    findings: tuple[Finding, ...] = ()
    supersedes: tuple[str, ...] = ()
    """Ids of the standing claims that end if the mutation is carried out."""
    mode: Mode = Mode.ENFORCE
    approval: str = ""
    """Id of the approval that lifts every hold; empty if there is none."""
    bundle: str = ""
    """Digest of the policy bundle that was evaluated."""
    code: str = ""
    """Digest of the Terraform code, contracts and state that the facts came from."""
    obligations: Mapping[str, Json] = field(default_factory=dict)
    """Requirements of the policies for the claims, e.g. `{"claim_seconds": 3600}`."""
    priorities: str = ""
    """Revision of the numbers that arbitration decided by, e.g. `dev@3f2a…`; empty if the policies do not tell."""
    binding: "Binding | None" = None
    """What an approval of this mutation is bound to; None if nothing holds it."""
    needs: "ApprovalRule | None" = None
    """Who may approve it; None if nothing holds it."""
    consent: Mapping[str, Json] | None = None
    """The used approval: its id, the held mutation, who gave it, and whether it broke the glass; None if none is used."""
    contest: Mapping[str, Json] | None = None
    """The contest with standing claims, taken apart by the policies; None if there was none. Agents do not see it."""
    attached: str = ""
    """The mutation that is held already for the same call in the same circumstances; empty if none is."""
    warned: tuple[Finding, ...] = ()
    """What rules that are only tried would have refused or held (`policies/data/stages.json`)."""
    asked: tuple[Asked, ...] = field(default=(), compare=False, repr=False)
    """What the policies were asked."""

    @property
    def verdict(self) -> Verdict:
        """The strongest verdict of all findings; DENY if there are none. An approval lifts holds, not denials."""
        strongest = Verdict.ALLOW if self.findings else Verdict.DENY
        for finding in self.findings:
            if finding.verdict == Verdict.DENY:
                return Verdict.DENY
            if finding.verdict == Verdict.HOLD and not self.approval:
                strongest = Verdict.HOLD
        return strongest

    @property
    def is_held(self) -> bool:
        """Whether any finding holds it, whatever the others say and whether or not an approval lifts that."""
        for finding in self.findings:  # noqa: SIM110  each change asks twice about a dozen findings: a generator takes four times as long
            if finding.verdict == Verdict.HOLD:
                return True
        return False

    @property
    def carried_out(self) -> bool:
        """Whether the mutation is to be sent: it is allowed, or the stack is only observed."""
        return self.verdict is Verdict.ALLOW or (self.mode is Mode.OBSERVE and not self.denied_in_every_mode)

    @property
    def denied_in_every_mode(self) -> bool:
        """Whether it is refused in observe mode too (credential class, failed survey)."""
        return not self.findings or any(f.absolute for f in self.findings if f.verdict is Verdict.DENY)

    @property
    def objections(self) -> tuple[Finding, ...]:
        """The findings that deny or hold, denials first."""
        return tuple(f for verdict in (Verdict.DENY, Verdict.HOLD) for f in self.findings if f.verdict is verdict)
