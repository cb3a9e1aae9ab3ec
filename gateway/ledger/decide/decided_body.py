"""The body of a DECIDED record. `docs/investigators.md` lists its members."""

from collections.abc import Mapping, Sequence
from typing import Final

from gateway.core.model.approval import approval_rule_to_json, binding_to_json
from gateway.core.model.claim import Claim
from gateway.core.model.facts import Subject
from gateway.core.model.json import Json
from gateway.core.model.motive import motive_to_json
from gateway.core.model.mutation import CallClass, Mutation
from gateway.core.model.verdict import Decision, Verdict
from gateway.effects.masking import bounded_parameters
from gateway.ledger.store.serialize import recorded_effect, recorded_finding
from gateway.ledger.store.timestamps import to_text

MAX_PARAMETERS: Final = 64 * 1024
"""Most characters of a call's parameters kept in its record. A held call with more cannot be approved, because nobody can see all of it."""
MAX_DENIED_PARAMETERS: Final = 4 * 1024
"""The same for a denied call, so that a refusal costs the ledger little."""


def decided_body(
    mutation: Mutation,
    decision: Decision,
    subjects: Sequence[Subject | None],
    claims: Sequence[Claim],
    digest: str,
    *,
    account: str = "",
) -> Mapping[str, Json]:
    """The body: who asked, for what call and why, what it does, what was decided, and which claims it takes.

    `account` is that of the states, which a call is about if no setting names its account.
    """
    caller = mutation.caller
    return {
        "caller": {
            "kind": caller.kind.value,
            "key_id": caller.key_id,
            "roles": list(caller.roles),
            "on_behalf_of": caller.on_behalf_of,
        },
        "call": {**_call_to_json(mutation, decision, digest), "account": mutation.call.account or account},
        "door": mutation.door.value,
        "sender": {"peer": mutation.sender.peer, "user_agent": mutation.sender.user_agent},
        "motive": motive_to_json(mutation.motive),
        "effects": [
            recorded_effect(effect, subject) for effect, subject in zip(mutation.effects, subjects, strict=True)
        ],
        "decision": _decision_to_json(decision),
        "claims": [
            {
                "id": claim.id,
                "address": claim.address,
                "attribute": claim.attribute,
                "until": to_text(claim.until) if claim.until else None,
                **({"proof": list(claim.proof)} if claim.proof else {}),
            }
            for claim in claims
        ],
    }


def _call_to_json(mutation: Mutation, decision: Decision, digest: str) -> Mapping[str, Json]:
    """The call with its parameters, secrets masked: whole unless they are very large, the call is denied, or a mask hides what it runs."""
    call = mutation.call
    denied = decision.verdict is Verdict.DENY and not decision.carried_out
    most = MAX_DENIED_PARAMETERS if denied else MAX_PARAMETERS
    parameters, whole = bounded_parameters(call, most, runs=mutation.call_class is CallClass.EXECUTE)
    return {
        "service": call.service,
        "operation": call.operation,
        "region": call.region,
        "class": mutation.call_class.value,
        "digest": digest,
        "parameters": parameters,
        "whole": whole,
    }


def _decision_to_json(decision: Decision) -> Json:
    return {
        "verdict": decision.verdict.value,
        "carried_out": decision.carried_out,
        "findings": [recorded_finding(finding) for finding in decision.findings],
        "supersedes": list(decision.supersedes),
        "mode": decision.mode.value,
        "approval": decision.approval,
        "bundle": decision.bundle,
        "priorities": decision.priorities,
        "code": decision.code,
        "obligations": decision.obligations,
        "binding": binding_to_json(decision.binding),
        **_if_given(
            needs=approval_rule_to_json(decision.needs),
            consent=decision.consent,
            contest=decision.contest,
            attached=decision.attached or None,
        ),
    }


def _if_given(**members: Json) -> dict[str, Json]:
    """Members that most decisions lack."""
    return {name: value for name, value in members.items() if value is not None}


def carried_out_body(body: Mapping[str, Json], mutation: Mutation, owner: str) -> Mapping[str, Json]:
    """The body with what the attempt's row holds beside it, so that the row follows from the record."""
    attempt = {"idempotency_key": mutation.idempotency_key, "owner": owner, "signature": mutation.signature}
    return {**body, "attempt": attempt}
