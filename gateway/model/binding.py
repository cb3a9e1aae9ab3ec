"""What an approval is bound to, so that it permits the change its approver saw and no other."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from gateway.model.json import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """The circumstances of one held call. Actor and call are not here: an approval is found by them."""

    caller: str
    """Digest of the caller's kind, roles, and the actor it acts for."""
    motive: str
    """Digest of the motive."""
    effects: str
    """Digest of the effects as foreseen: what changes, from which value to which."""
    code: str
    """Digest of the Terraform code and contracts. What the state says of the affected resources is in `effects`."""
    bundle: str
    """Digest of the policy bundle."""
    reasons: tuple[str, ...]
    """Why the call was held: rule, address, attribute and holder of each finding, sorted."""
    contests: tuple[str, ...]
    """Ids of the claims that end if the call is approved, sorted."""
    approvers: str = ""
    """Digest of who may approve it. Empty in bindings of older versions, which no longer fit."""


def binding_to_json(binding: Binding | None) -> dict[str, Json] | None:
    """The JSON form in the records and tables; None of None."""
    return None if binding is None else asdict(binding)


def binding_from_json(form: Mapping[str, Any] | None) -> Binding | None:
    """The binding of its JSON form, None of null."""
    if form is None:
        return None
    return Binding(**{**form, "reasons": tuple(form["reasons"]), "contests": tuple(form["contests"])})


_PARTS: Mapping[str, str] = {
    "caller": "the caller's kind, roles or principal",
    "motive": "the motive",
    "effects": "the effects or the values they replace",
    "code": "the code or contracts",
    "bundle": "the policies",
    "approvers": "who may approve it",
}


def misfits(approved: Binding | None, now: Binding) -> tuple[str, ...]:
    """What has changed since the approval, in words; empty if the approval still fits.

    Reasons that no longer hold the call do not matter. A new one does: nobody has approved it.
    """
    if approved is None:
        return ("what it was given for",)
    changed = [words for name, words in _PARTS.items() if getattr(approved, name) != getattr(now, name)]
    if not set(now.reasons) <= set(approved.reasons):
        changed.append("the reasons for which it is held")
    if not set(now.contests) <= set(approved.contests):
        changed.append("the claims that it would end")
    return tuple(changed)
