"""Who may decide on a held mutation."""

import pytest

from gateway.model.approval_rule import ApprovalRule
from gateway.model.caller import ActorKind, Caller
from gateway.model.deciding import glass_objection, objection, own_objection


def caller(kind: ActorKind = ActorKind.HUMAN, *roles: str, behalf: str = "") -> Caller:
    return Caller(actor="ana", kind=kind, key_id="k", roles=roles, on_behalf_of=behalf)


@pytest.mark.parametrize(
    ("person", "refused"),
    [
        (caller(ActorKind.HUMAN, "approver"), ""),
        (
            caller(ActorKind.HUMAN, "operator"),
            "Only a human with the role `approver` may decide on this held mutation.",
        ),
        (caller(ActorKind.AGENT, "approver"), "Only a human with the role `approver` may decide on held mutations."),
    ],
)
def test_the_rule_names_the_roles(person: Caller, refused: str) -> None:
    assert objection(person, ApprovalRule()) == refused


@pytest.mark.parametrize(("requesters", "own"), [(("agent", ""), False), (("ana", ""), True), (("agent", "ana"), True), (("agent", "boss"), True)])  # fmt: skip
def test_nobody_decides_on_their_own(requesters: tuple[str, ...], own: bool) -> None:
    assert bool(own_objection(caller(behalf="boss"), "mut_1", requesters)) is own
    assert not own_objection(caller(), "mut_1", ("", ""))


def test_only_a_human_with_the_role_breaks_the_glass() -> None:
    assert not glass_objection(caller(ActorKind.HUMAN, "break-glass"))
    assert glass_objection(caller(ActorKind.AGENT, "break-glass"))
    assert glass_objection(caller(ActorKind.HUMAN, "approver"))
