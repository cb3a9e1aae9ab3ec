"""Who may approve: one role of each list, and the JSON form that records keep."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.core.model.approval import (
    USUAL,
    ApprovalRule,
    approval_rule_from_json,
    approval_rule_to_json,
    binding_from_json,
    binding_to_json,
    drift_objection,
    glass_objection,
    misfits,
    objection,
    operator_objection,
    own_objection,
)
from gateway.core.model.caller import ActorKind, Caller
from tests.kit.nouns import BOUND

BOTH = ApprovalRule(
    roles=(("approver", "dba"), ("security",)),
    people=2,
    longest=timedelta(hours=4),
    rejected=timedelta(minutes=5),
    reason="Two must.",
)


def test_it_reads_back() -> None:
    assert approval_rule_from_json(approval_rule_to_json(BOTH)) == BOTH
    assert approval_rule_to_json(None) is None
    assert approval_rule_from_json(None) == USUAL


@pytest.mark.parametrize(
    ("roles", "may"),
    [((), False), (("approver",), False), (("security",), False), (("dba", "security"), True), (("approver", "security", "x"), True)],
)  # fmt: skip
def test_an_approver_has_a_role_of_each_list(roles: tuple[str, ...], *, may: bool) -> None:
    assert BOTH.admits(roles) is may
    assert USUAL.admits(("approver",))
    assert not USUAL.admits(("security",))


def test_the_roles_in_words() -> None:
    assert BOTH.roles_text == "`approver` or `dba`, and `security`"


HELD = replace(BOUND, reasons=("r1", "r2"), contests=("clm_1", "clm_2"))


def test_it_reads_back_binding() -> None:
    assert binding_from_json(binding_to_json(HELD)) == HELD
    assert binding_from_json(binding_to_json(None)) is None


@pytest.mark.parametrize("same", [HELD, replace(HELD, reasons=("r1",)), replace(HELD, contests=())])
def test_what_still_fits(same: object) -> None:
    assert isinstance(same, type(HELD))
    assert misfits(HELD, same) == ()


@pytest.mark.parametrize("part", ["caller", "motive", "effects", "code", "bundle", "approvers"])
def test_a_changed_part_is_named(part: str) -> None:
    [words] = misfits(HELD, replace(HELD, **{part: "another"}))  # type: ignore[arg-type]  # each part is a text
    assert words


@pytest.mark.parametrize("part", ["reasons", "contests"])
def test_a_new_reason_or_contest_does_not_fit(part: str) -> None:
    [words] = misfits(HELD, replace(HELD, **{part: (*getattr(HELD, part), "new")}))  # type: ignore[arg-type]  # both are tuples
    assert words


def test_an_approval_of_unknown_circumstances_fits_nothing() -> None:
    assert misfits(None, HELD)


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


@pytest.mark.parametrize(("kind", "roles", "may"), [(ActorKind.HUMAN, ("operator", "approver"), True), (ActorKind.AGENT, ("operator", "approver"), False), (ActorKind.HUMAN, (), False)])  # fmt: skip
def test_operators_and_who_decides_about_drift(kind: ActorKind, roles: tuple[str, ...], may: bool) -> None:
    assert bool(operator_objection(caller(kind, *roles), "stop")) is not may
    assert bool(drift_objection(caller(kind, *roles))) is not may
