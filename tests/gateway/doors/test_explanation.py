"""An explanation comes from records alone, also from those of older versions."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.doors.explanation import come_back, explanation_of
from gateway.model.record import Record, Stage
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
    return Record(stage=Stage.DECIDED, at=NOW, mutation_id="mut_1", actor="agent", body=body, seq=3)


def test_a_record_of_an_older_version_is_explained_as_far_as_it_goes() -> None:
    found = explanation_of([decided(finding())], sees_all=True)
    assert (found["verdict"], found["contest"], found["state"]) == ("deny", None, "denied")
    assert found["facts"]["effects"] == []
    assert found["approval"] == {"needs": None, "answers": [], "used": None, "held_as": "", "would_end": []}
    assert "  No. [SEN-X, built into Sentinel]" in found["text"]


def test_findings_are_grouped_by_check_in_their_order() -> None:
    found = explanation_of(
        [decided(finding("allow", check="bounds"), finding("hold"), finding("deny", rule="SEN-Y"))], sees_all=True
    )
    assert [(check["check"], check["verdict"], len(check["rules"])) for check in found["checks"]] == [
        ("bounds", "allow", 1),
        ("policy", "deny", 2),
    ]


def test_what_people_answered_is_part_of_it() -> None:
    no = Record(stage=Stage.REJECTED, at=NOW, mutation_id="mut_1", actor="alice", body={"reason": "Not now"}, seq=4)
    found = explanation_of([decided(finding("hold"), verdict="hold"), no], sees_all=True)
    assert (found["state"], found["approval"]["answers"][0]["by"]) == ("rejected", "alice")
    assert "alice rejected it" in found["text"]
    assert "Not now" in found["text"]
    assert (found["approval"]["answers"][0]["door"], "(" in found["text"].splitlines()[-1]) == ("", False)
    in_chat = replace(no, body={"reason": "Not now", "door": "chat"})
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
    assert come_back({"verdict": verdict, "findings": findings}) == wanted
