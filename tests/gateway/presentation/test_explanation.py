"""An explanation comes from records alone, also from those of older versions."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.core.model.mutation import UNREAD
from gateway.core.records.decided import RecordedDecision
from gateway.core.records.record import Record, Stage
from gateway.presentation.explanation import WINNERS_SHOWN, come_back, contest_of, explanation_of
from tests.kit.bodies import sample_body, sample_part, sample_record
from tests.kit.doubles import NOW


def finding(verdict: str = "deny", **members: Any) -> dict[str, Any]:
    """A finding as an older version recorded it: without a title."""
    return {
        "check": "policy",
        "verdict": verdict,
        "rule": "SEN-X",
        "reason": "No.",
        "address": "",
        "attribute": "",
        "source": "",
        "offer": None,
        **members,
    }


def offer(**members: Any) -> dict[str, Any]:
    return {"address": "a.b", "attribute": "c", "nearest": None, "holder": "", "retry_after": None, **members}


def decided(*findings: dict[str, Any], verdict: str = "deny", **decision: Any) -> Record:
    body: dict[str, Any] = {
        "caller": {"kind": "agent", "on_behalf_of": ""},
        "call": {"service": "sqs", "operation": "PurgeQueue"},
        "motive": None,
        "effects": [],
        "decision": {"verdict": verdict, "mode": "enforce", "findings": list(findings), "supersedes": [], "code": "c", "bundle": "b", **decision},
        "claims": [],
    }  # fmt: skip
    return sample_record(stage=Stage.DECIDED, at=NOW, mutation_id="mut_1", actor="agent", body=body, seq=3)


def test_a_record_of_an_older_version_is_explained_as_far_as_it_goes() -> None:
    found = explanation_of([decided(finding())], sees_all=True)
    assert (found["verdict"], found["contest"], found["state"]) == ("deny", None, "denied")
    assert found["facts"]["effects"] == []
    assert found["approval"] == {"needs": None, "answers": [], "used": None, "held_as": "", "would_end": []}
    assert "  No. [SEN-X, built into Sentinel]" in found["text"]


def test_the_calls_that_it_makes_aws_carry_out_are_told() -> None:
    """Whoever investigates sees them; a record of before has none."""
    calls = [
        {
            "service": "ecs", "operation": "RunTask", "class": "execute", "role": "arn:aws:iam::123456789012:role/r",
            "parameters": {"cluster": "c"}, "understood": True,
        },
        {"service": "ssm", "operation": "SendCommand", "class": "execute", "role": UNREAD},
    ]  # fmt: skip
    record = decided(finding("allow"), verdict="allow")
    body = {**record.body.members, "inner": {"calls": calls, "more": 3}}
    found = explanation_of([replace(record, body=sample_body(Stage.DECIDED, body))], sees_all=True)
    assert [each["operation"] for each in found["inner"]["calls"]] == ["RunTask", "SendCommand"]
    assert (
        "It makes AWS carry out:\n"
        '  ecs:RunTask (execute), with the rights of arn:aws:iam::123456789012:role/r: {"cluster": "c"}.\n'
        f"  ssm:SendCommand (execute), with {UNREAD}, whose effects are not known.\n"
        "  And 3 more."
    ) in found["text"]
    assert explanation_of([record], sees_all=True)["inner"] is None


def test_findings_are_grouped_by_check_in_their_order() -> None:
    found = explanation_of(
        [decided(finding("allow", check="bounds"), finding("hold"), finding("deny", rule="SEN-Y"))], sees_all=True
    )
    assert [(check["check"], check["verdict"], len(check["rules"])) for check in found["checks"]] == [
        ("bounds", "allow", 1),
        ("policy", "deny", 2),
    ]


def test_what_people_answered_is_part_of_it() -> None:
    no = sample_record(
        stage=Stage.REJECTED, at=NOW, mutation_id="mut_1", actor="alice", body={"reason": "Not now"}, seq=4
    )
    found = explanation_of([decided(finding("hold"), verdict="hold"), no], sees_all=True)
    assert (found["state"], found["approval"]["answers"][0]["by"]) == ("rejected", "alice")
    assert "alice rejected it" in found["text"]
    assert "Not now" in found["text"]
    assert (found["approval"]["answers"][0]["door"], "(" in found["text"].splitlines()[-1]) == ("", False)
    in_chat = replace(no, body=sample_body(Stage.REJECTED, {"reason": "Not now", "door": "chat"}))
    found = explanation_of([decided(finding("hold"), verdict="hold"), in_chat], sees_all=True)
    assert found["approval"]["answers"][0]["door"] == "chat"
    assert "(chat): Not now." in found["text"]


@pytest.mark.parametrize(
    ("findings", "verdict", "wanted"),
    [
        ([finding("allow")], "allow", {"at": None, "needs": []}),
        ([finding("hold")], "hold", {"at": None, "needs": ["human"]}),
        ([finding()], "deny", {"at": None, "needs": ["change"]}),
        ([finding(offer=offer(holder="x", retry_after="2026-03-01T12:00:00Z"))], "deny", {"at": "2026-03-01T12:00:00Z", "needs": []}),
        ([finding(offer=offer(retry_after="2026-03-01T12:00:00Z")), finding(offer=offer(retry_after="2026-03-02T12:00:00Z"))], "deny", {"at": "2026-03-02T12:00:00Z", "needs": []}),
        ([finding(offer=offer(retry_after="2026-03-01T12:00:00Z")), finding()], "deny", {"at": None, "needs": ["change"]}),
        ([finding(offer=offer(holder="x"))], "deny", {"at": None, "needs": ["settled"]}),
    ],
)  # fmt: skip
def test_when_to_come_back(findings: list[dict[str, Any]], verdict: str, wanted: dict[str, Any]) -> None:
    assert come_back(sample_part(RecordedDecision, {"verdict": verdict, "findings": findings})) == wanted


RIVAL = {
    "address": "aws_lb.a",
    "attribute": "idle_timeout",
    "actor": "rescuer",
    "kind": "agent",
    "intent": "availability",
    "motivation": "incident",
    "since_ns": 0,
    "until_ns": 1_000_000_000,
    "outcome": "loses",
    "score": 1500,
    "terms": {"intent": 600, "motivation": 900, "kind": 0, "unproven": 0},
}
WINNING: list[dict[str, Any]] = [
    {"intent": "security", "motivation": f"m{number:02}", "score": 2000 - number} for number in range(20)
]
CONTEST: dict[str, Any] = {
    "incoming": {"score": 450, "terms": {"intent": 200, "motivation": 250}},
    "rivals": {"clm_1": RIVAL, "clm_2": {**RIVAL, "until_ns": None}},
    "needed": 1600,
    "winning": WINNING,
}


def test_people_see_scores_and_the_weakest_motives_that_would_have_won() -> None:
    found: Any = contest_of(CONTEST, sees_all=True)
    first, second = found["rivals"]
    assert (first["claim"], first["until"], first["terms"]) == ("clm_1", "1970-01-01T00:00:01Z", RIVAL["terms"])
    assert second["until"] is None
    scores = [each["score"] for each in found["winning"]]
    assert (scores, found["more_winning"]) == (sorted(scores), len(WINNING) - WINNERS_SHOWN)
    assert min(each["score"] for each in WINNING) == scores[0]


def test_agents_see_who_holds_what_and_until_when() -> None:
    found: Any = contest_of(CONTEST, sees_all=False)
    assert set(found) == {"rivals"}
    assert set(found["rivals"][0]) == {"claim", "address", "attribute", "actor", "outcome", "since", "until", "class"}


def test_no_contest() -> None:
    assert contest_of(None, sees_all=True) is None


def text(*findings: dict[str, Any], sees_all: bool = True, **decision: Any) -> str:
    return str(explanation_of([decided(*findings, **decision)], sees_all=sees_all)["text"])


def test_a_refusal_says_who_asked_what_stood_against_it_and_when_to_come_back() -> None:
    when = "2026-03-01T12:00:00Z"
    titled = finding(title="A title", source="x.rego:7", offer=offer(holder="x", retry_after=when))
    lines = text(finding("allow", check="bounds"), titled).splitlines()
    assert lines[0].startswith("agent (agent) asked for sqs:PurgeQueue without a motive at ")
    assert "Nothing against it: bounds." in lines
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
    assert "It was approved by alice, bob (held as mut_0; `sentinel explain mut_0` says why)." in text(
        finding("allow"), verdict="allow", consent=used
    )
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


@pytest.mark.parametrize(
    ("cost", "effects", "told"),
    [
        (
            {"known_cents": 12_345, "dated": "2026-10-01"},
            1,
            "Estimated cost: +123.45 USD a month by list prices of 2026-10-01.",
        ),
        (
            {"known_cents": 0, "unknown": ["a", "b", "c", "d"], "unknown_count": 9, "dated": "2026-10-01"},
            1,
            "Estimated cost: not known for a, b, c and 6 more.",
        ),
        (
            {"known_cents": -500, "unknown": ["a"], "unknown_count": 1, "dated": "2026-10-01"},
            1,
            "Estimated cost: -5.00 USD a month by list prices of 2026-10-01, and not known for a.",
        ),
        (None, 1, ""),
        (None, 0, "Estimated cost: not known, because the effects of the call are not."),
    ],
)
def test_what_it_costs_is_told_and_unknown_is_never_nothing(
    cost: dict[str, Any] | None, effects: int, told: str
) -> None:
    facts = {} if cost is None else {"cost": cost}
    effect = {"address": "aws_x.y", "attribute": "size"}
    record = sample_record(
        stage=Stage.DECIDED,
        at=NOW,
        mutation_id="mut_1",
        actor="ana",
        body={"facts": facts, "effects": [effect] * effects, "decision": {"findings": [finding()]}},
    )
    shown = explanation_of([record], sees_all=True)
    assert shown["facts"]["cost"] == told
    assert told in shown["text"]
