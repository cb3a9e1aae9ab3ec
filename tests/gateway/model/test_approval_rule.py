"""Who may approve: one role of each list, and the JSON form that records keep."""

from datetime import timedelta

import pytest

from gateway.model.approval_rule import USUAL, ApprovalRule, approval_rule_from_json, approval_rule_to_json

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
