"""Holds what a derived row alone may not let pass: nobody wrote it by hand, and it may know the resource only.

Without its rows such a call would not be understood, and so be held. A row may lift that hold only where nothing is lost by it: rules about
attributes that the call does not show, bounds on them, and claims of others on them cannot be judged.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from gateway.core.model.caller import ActorKind
from gateway.core.model.equality import equal
from gateway.core.model.facts import Facts, Subject
from gateway.core.model.mutation import Basis, CallClass, Effect, EffectAction, Mutation
from gateway.core.model.path import WHOLE, AttributePath
from gateway.core.model.verdict import Finding, Verdict
from gateway.line.checks.chain import Opinion, passed
from gateway.line.checks.inner_calls import each_alone

_IDENTITY = frozenset(
    {"iam", "identitystore", "organizations", "ram", "rolesanywhere", "sso-admin", "sts", "verifiedpermissions"}
)
_IDENTITY_TYPES = (
    "aws_eks_access_",
    "aws_iam_",
    "aws_identitystore_",
    "aws_lakeformation_",
    "aws_organizations_",
    "aws_ram_",
    "aws_rolesanywhere_",
    "aws_ssoadmin_",
    "aws_verifiedpermissions_",
)
_CHANGES = re.compile(
    r"(?:Add|Associate|Attach|Change|Create|Edit|Enable|Modify|Put|Register|Set|Update)(?P<noun>[A-Z0-9]\w*)"
)
"""Operations that change what a resource is set to, if the noun is its own. Others start, stop, fail over, restore, purge."""
_TAGGING = re.compile(r"(?:Tag|Untag)(?![a-z])|(?:Add|Remove|Create|Delete)Tags")
DELICATE = re.compile(
    r"access|account|acl|auth|cidr|credential|cross|delegat|encrypt|federat|grant|ingress|kms|password|peer|permission|polic|principal"
    r"|privilege|public|role|secret|shar(?:e|ing)|token|trust",
    re.IGNORECASE,
)
"""What is in the names of operations and parameters that say who may reach something, or with which key or rights."""
NEXT = "Apply it with its plan (`sentinel apply`), or have it approved"


class DerivedRowsCheck:
    """Holds calls that are known by derived rows, where these do not say enough."""

    name = "derived_rows"

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:
        """A hold for each reason why a derived row is not enough, or one finding that allows."""
        if all(effect.basis is Basis.HAND for effect in mutation.effects):
            return passed(self)
        own = replace(mutation, effects=tuple(effect for effect in mutation.effects if not effect.by))
        outer = replace(facts, subjects=tuple(subject for subject in facts.subjects if not subject.effect.by))
        held = [
            finding
            for one, about in ((own, outer), *each_alone(mutation, facts))
            for finding in (
                *_of_call(one),
                *(each for subject in about.subjects for each in _of_resource(one, about, subject)),
            )
        ]
        return Opinion(findings=tuple(dict.fromkeys(held))) if held else passed(self)


def _of_call(mutation: Mutation) -> Iterator[Finding]:
    """Calls for which a row that a person wrote is needed, whatever a derived one knows."""
    types = [effect.resource_type for effect in mutation.effects if effect.basis is not Basis.HAND]
    if not types:
        return
    operation = f"{mutation.call.service}:{mutation.call.operation}"
    if mutation.call_class is not CallClass.MUTATION:
        what = f"is of the class {mutation.call_class}"
        yield _hold("class", f"{operation} {what}, and only a derived row says what it changes. {NEXT}.")
    if mutation.call.service in _IDENTITY or any(name.startswith(_IDENTITY_TYPES) for name in types):
        reason = f"{operation} changes who may do what, and only a derived row says what it changes. {NEXT}."
        yield _hold("identity", reason)


def _of_resource(mutation: Mutation, facts: Facts, subject: Subject) -> Iterator[Finding]:
    """Why a call must wait because of one of its effects; each effect gives one reason at most."""
    effect = subject.effect
    if effect.basis is Basis.HAND or (effect.implied and not effect.by):
        return
    why = _of_deletion(subject) if effect.action is EffectAction.DELETE else ""
    if effect.basis is Basis.RESOURCE:
        why = why or _of_caller(mutation, effect) or _of_names(mutation) or _of_contract(subject)
        why = why or _of_claims(mutation, facts, effect)
    elif effect.action is not EffectAction.DELETE:
        why = _of_value(mutation, subject)
    if why:
        operation = f"{mutation.call.service}:{mutation.call.operation}"
        only = f"only that it touches {effect.address}" if effect.basis is Basis.RESOURCE else "only by a derived row"
        reason = f"Sentinel knows of {operation} {only}, and {why}. {NEXT}."
        yield _hold("resource", reason, effect.address)


def _of_deletion(subject: Subject) -> str:
    """The guardrails name the types that hold data, as far as people have reviewed them; nobody has reviewed those of derived rows."""
    if subject.effect.basis is Basis.RESOURCE:
        return "a parameter may make the deletion reach further than its name says"
    return "no contract grants its deletion" if subject.contract.withholding_delete() else ""


def _of_caller(mutation: Mutation, effect: Effect) -> str:
    kind = mutation.caller.kind
    if not effect.declared:
        return "no Terraform code declares it"
    if kind is ActorKind.SERVICE:
        return "no contract says what a service may do with it"
    if kind is ActorKind.AGENT:
        # What an agent may invoke, the contract grants it by the name of the operation (`bounds.invoke_not_allowed`).
        creates = effect.action is EffectAction.CREATE
        return "an agent may create a resource only with values that can be judged" if creates else ""
    return "" if _changes_settings(mutation.call.operation, effect.resource_type) else _MORE


_MORE = "its name says that it does more than change the settings of such a resource"


def _changes_settings(operation: str, resource_type: str) -> bool:
    """Whether the name of the operation is that of a change of the resource itself: `UpdateWorkGroup` for `aws_athena_workgroup`."""
    found = _CHANGES.fullmatch(operation)
    return bool(_TAGGING.match(operation)) or (
        found is not None and resource_type.replace("_", "").endswith(found["noun"].lower())
    )


def _of_names(mutation: Mutation) -> str:
    """What an operation or a parameter is about that no attribute of the type need show: a policy beside the resource, a new switch."""
    names = (mutation.call.operation, *_names_in(mutation.call.parameters))
    delicate = sorted({name for name in names if DELICATE.search(name)})
    return f"{', '.join(delicate[:3])} may say who can reach it, and with which rights" if delicate else ""


def _of_value(mutation: Mutation, subject: Subject) -> str:
    """Why a value that a derived row knows must wait: nobody has said which attributes of its type the guardrails have to judge.

    What the code declares was reviewed with it, and of an agent the contract grants every attribute.
    """
    effect, kind = subject.effect, mutation.caller.kind
    if kind is ActorKind.SERVICE and effect.action is EffectAction.CREATE and not effect.declared:
        return "no Terraform code declares it"
    if kind is ActorKind.AGENT or _is_reviewed(subject) or AttributePath(effect.attribute).top == "tags":
        return ""
    names = (mutation.call.operation, effect.attribute, *_names_in(effect.value))
    delicate = sorted({name for name in names if DELICATE.search(name)})
    return f"{', '.join(delicate[:3])} may say who can reach it, and with which rights" if delicate else ""


def _is_reviewed(subject: Subject) -> bool:
    """Whether the code declares the resource with this value, or leaves to its attributes what the effect is about."""
    effect = subject.effect
    if effect.attribute == WHOLE:
        return effect.declared
    return not subject.hidden and subject.declared is not None and equal(subject.declared, effect.value)


def _names_in(value: object) -> Iterator[str]:
    """The names of the parameters at every depth."""
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, Mapping):
            yield from map(str, one)
            todo.extend(one.values())
        elif isinstance(one, list | tuple):
            todo.extend(one)


def _of_contract(subject: Subject) -> str:
    contract = subject.contract
    if contract.critical:
        return f"its contract ({contract.source}) says that it is critical"
    if limited := (*contract.bounded, *contract.immutable):
        named = ", ".join(dict.fromkeys(limited))
        return f"its contract ({contract.source}) limits {named}, which the call may change without showing it"
    if contract.evaluate(subject.attributes_after, subject.attributes_before):
        return "the code sets conditions on its attributes, which the call may change without showing them"
    return ""


def _of_claims(mutation: Mutation, facts: Facts, effect: Effect) -> str:
    holders = {
        standing.claim.actor
        for standing in facts.claims
        if standing.claim.address == effect.address and standing.claim.actor != mutation.caller.actor
    }
    return f"the call may change what {', '.join(sorted(holders)[:3])} hold claims on" if holders else ""


def _hold(rule: str, reason: str, address: str = "") -> Finding:
    return Finding(
        check=DerivedRowsCheck.name,
        verdict=Verdict.HOLD,
        rule=f"derived_rows.{rule}",
        reason=reason,
        address=address,
    )
