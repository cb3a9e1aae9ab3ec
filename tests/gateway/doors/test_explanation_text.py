"""The explanation in plain English: whole sentences, for every verdict."""

from typing import Any

from gateway.doors.explanation import explanation_of
from tests.gateway.doors.test_contest import CONTEST
from tests.gateway.doors.test_explanation import decided, finding, offer


def text(*findings: dict[str, Any], sees_all: bool = True, **decision: Any) -> str:
    return str(explanation_of([decided(*findings, **decision)], sees_all=sees_all)["text"])


def test_a_refusal_says_who_asked_what_stood_against_it_and_when_to_come_back() -> None:
    when = "2026-03-01T12:00:00Z"
    titled = finding(title="A title", source="x.rego:7", offer=offer(holder="x", retry_after=when))
    lines = text(finding("allow", check="bounds"), titled).splitlines()
    assert lines[0].startswith("agent (agent) asked for sqs:PurgeQueue without a motive at ")
    assert "Check bounds: nothing against it." in lines
    assert "  No. [SEN-X, A title, x.rego:7]" in lines
    assert lines[-1] == f"Come back at {when}: by then what is in the way has ended, unless it is renewed."


def test_the_nearest_legal_value() -> None:
    assert "The nearest legal value of c of a.b is 7." in text(finding(offer=offer(nearest=7)))


def test_a_hold_names_who_may_approve_it() -> None:
    needs = {"roles": [["approver", "dba"], ["security"]], "people": 2, "reason": "Two must."}
    said = text(finding("hold"), verdict="hold", needs=needs, attached="mut_0")
    assert "people with the role approver or dba, and security. Two must." in said
    assert "The same call was held already as mut_0" in said
    assert said.endswith("Repeat the identical call once a human has approved it.")


def test_a_used_approval_says_who_gave_it_and_whether_the_glass_was_broken() -> None:
    used = {"approval": "apr_1", "held": "mut_0", "approvers": ["alice", "bob"], "broke_glass": False}
    assert "It was approved by alice, bob (held as mut_0)." in text(finding("allow"), verdict="allow", consent=used)
    glass = {**used, "approvers": ["oncall"], "broke_glass": True}
    assert "passed in an emergency by oncall" in text(finding("allow"), verdict="allow", consent=glass)


def test_a_contest_is_taken_apart_for_people_only() -> None:
    said = text(finding(), contest=CONTEST)
    assert "This change scored 450 (+200 intent +250 motivation)." in said
    assert "It is held for availability/incident and scored 1500 (+600 intent +900 motivation)." in said
    assert "To win, it needed 1600. With proof, these would have won: security/m19 (1981)" in said
    agents = text(finding(), contest=CONTEST, sees_all=False)
    assert "rescuer holds idle_timeout of aws_lb.a until 1970-01-01T00:00:01Z; that claim ranks higher." in agents
    assert "incident" not in agents


def test_an_observed_stack_says_what_would_have_been() -> None:
    assert "Sentinel would have refused it, if this stack were not only observed" in text(finding(), mode="observe")
