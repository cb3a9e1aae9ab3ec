"""Which people may decide on a held mutation: asked by the ledger before it takes their word, and by pages before they offer a button."""

from collections.abc import Collection
from typing import Final

from gateway.model.approval_rule import ApprovalRule
from gateway.model.caller import ActorKind, Caller

BREAK_GLASS: Final = "break-glass"
"""The role of people who may pass a hold at once in an emergency."""


def objection(person: Caller, rule: ApprovalRule) -> str:
    """Why this caller may not decide under this rule, as a sentence; empty if they may."""
    if person.kind is not ActorKind.HUMAN:
        return "Only a human with the role `approver` may decide on held mutations."
    if not rule.admits(person.roles):
        return f"Only a human with the role {rule.roles_text} may decide on this held mutation."
    return ""


def own_objection(person: Caller, mutation_id: str, requesters: Collection[str]) -> str:
    """Why this caller may not decide on a mutation of these requesters (the actor, and on whose behalf); empty if it is not their own."""
    if (set(requesters) - {""}) & {person.actor, person.on_behalf_of}:
        return f"Mutation {mutation_id} is your own, or made on your behalf; another human must decide on it."
    return ""


def glass_objection(person: Caller) -> str:
    """Why this caller may not pass a hold at once, as a sentence; empty if they may."""
    if person.kind is ActorKind.HUMAN and BREAK_GLASS in person.roles:
        return ""
    return f"Only a human with the role `{BREAK_GLASS}` may pass a hold at once. Nothing was changed."
