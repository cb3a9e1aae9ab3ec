"""Builds the input document of the policies. `policies/README.md` documents it field by field."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from gateway.core.model.claim import StandingClaim
from gateway.core.model.contract import Contract
from gateway.core.model.equality import equal
from gateway.core.model.facts import Dependant, Facts, Subject
from gateway.core.model.json import Json, to_json
from gateway.core.model.motive import motive_to_json
from gateway.core.model.mutation import Call, CallClass, EffectAction, InnerCall, Mutation
from gateway.core.model.signal import MotiveProof
from gateway.effects.attribute_classes import classes_of
from gateway.effects.call_controls import Given, controls_of
from gateway.effects.schema import snake
from gateway.line.checks.dangerous_parts import accounts_in, dangerous_parts
from gateway.terraform.address import type_of_named

NOTHING_CHECKED = MotiveProof()
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


class PolicyInputs:
    """Caches the input of the latest mutation, for the checks that evaluate policies on it."""

    def __init__(self) -> None:
        self._last: tuple[Mutation, Facts, Mapping[str, Json]] | None = None
        self._last_kept: tuple[Mapping[str, Json], Mapping[str, Json]] | None = None

    def of(self, mutation: Mutation, facts: Facts) -> Mapping[str, Json]:
        """The input, as `policy_input` builds it. It is shared, so callers must not modify it."""
        last = self._last  # read once: another thread may replace it, and each mutation must get its own input
        if last is None or last[0] is not mutation or last[1] is not facts:
            last = self._last = mutation, facts, policy_input(mutation, facts)
        return last[2]

    def kept(self, mutation: Mutation, facts: Facts) -> Mapping[str, Json]:
        """The input as it may be stored: the same one, unless a document in it holds secrets."""
        document = self.of(mutation, facts)
        last = self._last_kept
        if last is None or last[0] is not document:
            last = self._last_kept = document, storable_input(mutation, facts, document)
        return last[1]


def storable_input(mutation: Mutation, facts: Facts, document: Mapping[str, Json]) -> Mapping[str, Json]:
    """`document`, which is the input of the mutation, as it may be stored: with masks in place of the secrets inside of JSON documents."""
    if all(subject.effect.judged is None for subject in facts.subjects):
        return document
    subjects = tuple(replace(each, effect=replace(each.effect, judged=None)) for each in facts.subjects)
    return policy_input(mutation, replace(facts, subjects=subjects))


def policy_input(mutation: Mutation, facts: Facts) -> Mapping[str, Json]:
    """The input for one mutation and its facts. Times are integers: nanoseconds since 1970 (UTC).

    Of the parameters of the call it shows only a few. The effects hold what matters of the others, with digests in place of secrets; a JSON
    document is shown as it is, because a mask inside it could hide what it grants.
    """
    return {
        "now_ns": _nanoseconds(facts.now),
        "stack": facts.stack,
        "stacks": list(facts.stacks or (facts.stack,)),
        "mode": facts.mode._value_,
        "caller": {
            "actor": mutation.caller.actor,
            "kind": mutation.caller.kind._value_,
            "roles": list(mutation.caller.roles),
            "on_behalf_of": mutation.caller.on_behalf_of,
            "open_claims": facts.open_claims,
            "held_before": sorted(facts.held_before),
        },
        "motive": _motive(mutation, facts),
        "mutation": {
            "id": mutation.id,
            "service": mutation.call.service,
            "operation": mutation.call.operation,
            "account": mutation.call.account or facts.account,
            "region": mutation.call.region,
            "regions": {region: list(types) for region, types in mutation.regions.items()},
            "parameters": shown_parameters(mutation.call),
            "controls": [_control(given, facts.subjects) for given in controls_of(mutation.call)],
            "class": mutation.call_class._value_,
            "understood": mutation.understood,
            "accounts": _other_accounts(mutation, facts),
            "effects": [_effect(mutation, subject, facts.account) for subject in facts.subjects],
            "inner": [_inner(inner) for inner in mutation.inner],
        },
        "security_groups": {
            "of": dict(facts.group_rules.groups),
            "rules": {group: to_json(rules) for group, rules in facts.group_rules.rules.items()},
        },
        "dependants": _dependants(facts),
        "claims": [claim_input(standing, facts.proof) for standing in facts.claims],
        "flips": dict(facts.flips),
        "signals": [signal.id for signal in facts.proof.signals],
        "cost": facts.cost.to_json(),
    }


def _control(given: Given, subjects: Sequence[Subject]) -> Json:
    """The parameter, and whether the owner of each resource wants it: then Terraform would send it too (`apply_immediately = true`)."""
    name = snake(given.parameter)
    as_declared = bool(subjects) and all(subject.attributes_before.get(name) == given.value for subject in subjects)
    return {"parameter": given.parameter, "class": given.control.value, "as_declared": as_declared}


def told_apart(call: Call) -> Json:
    """All that policies see of a call beside its effects: calls that have it in common and the same effects are judged alike."""
    controls = [[given.parameter, given.value] for given in controls_of(call)]
    return [to_json(shown_parameters(call)), controls, accounts_in(call.parameters, "")]


def _inner(inner: InnerCall) -> Json:
    return {
        "service": inner.call.service,
        "operation": inner.call.operation,
        "class": inner.call_class.value,
        "role": inner.role,
        "understood": bool(inner.effects),
    }


def _other_accounts(mutation: Mutation, facts: Facts) -> list[Json]:
    """The other accounts that the parameters name, where not every parameter is the value of an attribute."""
    account = mutation.call.account or facts.account
    whole = (EffectAction.DELETE, EffectAction.INVOKE)
    shown = mutation.understood and not any(effect.action in whole for effect in mutation.effects)
    return [] if shown or mutation.call_class is CallClass.DATA else accounts_in(mutation.call.parameters, account)


def _is_put_back(mutation: Mutation, subject: Subject) -> bool:
    """Whether the gateway itself restores what a time-boxed change replaced: nothing of that is new."""
    bases = mutation.puts_back.bases if mutation.puts_back is not None else {}
    key = subject.effect.address, subject.effect.attribute
    return key in bases and equal(bases[key], subject.effect.value)


def _effect(mutation: Mutation, subject: Subject, account: str) -> Json:
    effect = subject.effect
    return {
        "address": effect.address,
        "attribute": effect.attribute,
        "action": effect.action._value_,
        "value": to_json(effect.value if effect.judged is None else effect.judged),
        # The old value of a sensitive attribute is as secret as the new one.
        "before": None if effect.sensitive else to_json(subject.before),
        "declared_value": None if effect.sensitive else to_json(subject.declared),
        "resource_type": effect.resource_type,
        "identity": dict(effect.identity),
        "declared": effect.declared,
        "implied": effect.implied,
        "by": effect.by,
        "upserted": effect.upserted,
        "basis": effect.basis._value_,
        "may_change": list(effect.may_change),
        "may_be": [*sorted(classes_of(effect.may_change))],
        "parts": [] if _is_put_back(mutation, subject) else dangerous_parts(subject, mutation.call.account or account),
        "exists": subject.exists,
        "changes": subject.changes,
        "contract": contract_input(subject.contract),
    }


def contract_input(contract: Contract) -> Json:
    """What policies are told of the contract of a resource, beside `named` of each part of an effect."""
    return {
        "managed_by_agent": contract.managed_by_agent,
        "critical": contract.critical,
        "prevent_delete": contract.prevent_delete,
        "owner": contract.owner,
    }


def _motive(mutation: Mutation, facts: Facts) -> Json:
    """The motive, and whether a signal proves it for every resource that the mutation changes."""
    motive = motive_to_json(mutation.motive)
    if motive is None:
        return None
    return {**motive, "proven": facts.proof.proves(mutation.motive, [each.address for each in mutation.effects])}


def claim_input(standing: StandingClaim, proof: MotiveProof = NOTHING_CHECKED) -> Json:
    """A standing claim, as policies see it; `proof` says which motivations need a signal."""
    claim, motive = standing.claim, standing.claim.motive
    return {
        "id": claim.id,
        "address": claim.address,
        "resource_type": type_of_named(claim.address),
        "attribute": claim.attribute,
        "value": to_json(claim.value),
        "actor": claim.actor,
        "kind": claim.kind._value_,
        "intent": motive.intent._value_ if motive else None,
        "motivation": motive.motivation._value_ if motive else None,
        "evidence": list(motive.evidence) if motive else [],
        "proven": proof.of_claim(motive, claim.proof),
        "since_ns": _nanoseconds(claim.since),
        "until_ns": _nanoseconds(claim.until) if claim.until else None,
        "until": to_json(claim.until) if claim.until else None,
        "unsettled": claim.unsettled,
        "relation": standing.relation._value_,
    }


def _dependants(facts: Facts) -> list[Json]:
    """Each dependant once; direct if any changed resource has it as a direct dependant."""
    by_address: dict[str, Dependant] = {}
    # All effects on one resource have the same dependants.
    groups = {subject.effect.address: subject.dependants for subject in facts.subjects}
    for dependants in groups.values():
        for dependant in dependants:
            if dependant.address not in by_address or dependant.direct:
                by_address[dependant.address] = dependant
    return [
        {"address": dependant.address, "direct": dependant.direct, "critical": dependant.critical}
        for dependant in by_address.values()
    ]


def _nanoseconds(at: datetime) -> int:
    """Nanoseconds since 1970, exact to the microsecond."""
    return (at - _EPOCH) // timedelta(microseconds=1) * 1000


_LOCKS = ("ObjectLockMode", "ObjectLockRetainUntilDate", "ObjectLockLegalHoldStatus", "BypassGovernanceRetention")
_COPIED = ("Bucket", "CopySource")
_SHOWN: Mapping[str, tuple[str, ...]] = {
    "ecs:DeleteService": ("force",),
    "elbv2:RegisterTargets": ("Targets",),
    "kms:PutKeyPolicy": ("BypassPolicyLockoutSafetyCheck",),
    "kms:ScheduleKeyDeletion": ("PendingWindowInDays",),
    "rds:RebootDBInstance": ("ForceFailover",),
    "s3:CopyObject": (*_COPIED, *_LOCKS),
    "s3:CreateMultipartUpload": _LOCKS,
    "s3:DeleteObject": _LOCKS,
    "s3:DeleteObjects": _LOCKS,
    "s3:PutObject": _LOCKS,
    "s3:PutObjectLegalHold": ("LegalHold",),
    "s3:PutObjectRetention": ("Retention", *_LOCKS),
    "s3:RestoreObject": ("RestoreRequest",),
    "s3:UploadPartCopy": _COPIED,
    "sqs:ReceiveMessage": ("VisibilityTimeout",),
    "secretsmanager:DeleteSecret": ("ForceDeleteWithoutRecovery", "RecoveryWindowInDays"),
}
"""What changes no attribute and yet decides what a call does: locks, force, where to and where from."""


_NAMES_ONLY = frozenset({"RestoreRequest"})
"""Structures of which only the names of the members are shown: a restore may carry an SQL expression."""


def shown_parameters(call: Call) -> Mapping[str, Json]:
    """Those parameters of the call that are listed and given, by name, as JSON."""
    names = _SHOWN.get(f"{call.service}:{call.operation}", ())
    return {name: _shown(name, call.parameters[name]) for name in names if call.parameters.get(name) is not None}


def _shown(name: str, value: object) -> Json:
    if name in _NAMES_ONLY:
        return sorted(str(member) for member in value) if isinstance(value, Mapping) else []
    return to_json(value)
