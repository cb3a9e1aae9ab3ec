"""What an approver is shown is taken from the explanation, and buttons follow the rule that the ledger applies."""

from typing import Any

import pytest

from gateway.core.model.caller import ActorKind, Caller
from gateway.doors.console.cards import card_of
from gateway.doors.console.rendering import environment

_PARTS: Any = environment().get_template("_parts.html").module
CALL = {
    "service": "sqs",
    "operation": "PurgeQueue",
    "parameters": {"Name": "it's"},
    "region": "eu-west-1",
    "whole": True,
}
EFFECT = {"address": "aws_sqs_queue.a", "attribute": "delay_seconds", "action": "set", "before": 1, "value": 2, "sensitive": False, "implied": False, "contract": "c.hcl:3"}  # fmt: skip
EXPLANATION: dict[str, Any] = {
    "actor": "agent",
    "kind": "agent",
    "on_behalf_of": "bea",
    "left_out": 0,
    "state": "held",
    "motive": {"intent": "cost", "motivation": "budget", "text": "why", "evidence": ["T-1"], "wanted_seconds": 90},
    "facts": {"effects": [EFFECT], "dependants": []},
    "contest": {"rivals": [{"claim": "clm_1", "actor": "rival", "address": "a", "attribute": "b"}]},
    "supersedes": [],
    "approval": {"needs": None, "answers": [{"stage": "approved", "by": "x"}], "would_end": ["clm_1", "clm_2"]},
}


def person(actor: str = "ana", *roles: str, kind: ActorKind = ActorKind.HUMAN) -> Caller:
    return Caller(actor=actor, kind=kind, key_id="k", roles=roles)


@pytest.mark.parametrize(
    ("visitor", "why_not"),
    [
        (person("ana", "approver"), ""),
        (person("ana"), "Only a human with the role `approver`"),
        (person("a2", "approver", kind=ActorKind.AGENT), "Only a human"),
        (person("agent", "approver"), "is your own"),
        (person("bea", "approver"), "is your own"),
    ],
)
def test_who_may_not_decide_is_told_why(visitor: Caller, why_not: str) -> None:
    card = card_of("mut_1", EXPLANATION, CALL, visitor)
    assert card.why_not.find(why_not) >= 0
    assert bool(card.why_not) is bool(why_not)


def test_the_card_has_the_change_the_losers_and_the_command() -> None:
    card = card_of("mut_1", EXPLANATION, CALL, person("ana", "break-glass"))
    assert [line.text for line in card.changes[0].difference.lines] == ["-1", "+2"]
    assert card.changes[0].plain == ("1", "2")
    assert "<del><code>1</code></del> → <ins><code>2</code></ins>" in str(_PARTS.changes(card))
    assert [loser.get("actor", loser["claim"]) for loser in card.losers] == ["rival", "clm_2"]
    assert card.as_command[:4] == ["sentinel", "propose", "sqs", "PurgeQueue"]
    assert card.as_command[5:] == [
        "--intent", "cost", "--motivation", "budget", "--why", "why", "--evidence", "T-1", "--wanted-for", "90s", "--region", "eu-west-1"
    ]  # fmt: skip
    assert (card.waits, card.longest, card.may_break_glass, len(card.consents)) == (True, "1 d", True, 1)


@pytest.mark.parametrize(
    ("before", "after", "plain"),
    [
        (None, "b", ("not set", '"b"')),
        (["a"], ["b"], None),
        ("x" * 80, "b", None),
        ('{"a": 1}', '{"a": 2}', None),
        (None, None, None),
    ],
)
def test_short_values_stand_side_by_side_and_others_line_by_line(
    before: Any, after: Any, plain: tuple[str, str] | None
) -> None:
    effects = [{**EFFECT, "before": before, "value": after}]
    explanation = {**EXPLANATION, "facts": {"effects": effects, "dependants": []}}
    card = card_of("mut_1", explanation, CALL, person())
    assert card.changes[0].plain == plain
    assert ('class="diff' in str(_PARTS.changes(card))) is (plain is None)


def test_what_denies_is_told_before_what_holds() -> None:
    def rule(verdict: str, reason: str) -> dict[str, Any]:
        return {
            "verdict": verdict,
            "rules": [{"verdict": verdict, "rule": "R", "reason": reason, "title": "", "source": ""}],
        }

    checks = [rule("hold", "Data goes."), rule("allow", "Fine."), rule("deny", "Held by `bea`.")]
    card = card_of("mut_1", {**EXPLANATION, "checks": checks}, CALL, person())
    shown = str(_PARTS.reasons(card))
    assert shown.index("Held by <code>bea</code>.") < shown.index("Data goes.")
    assert "Fine." not in shown


def test_a_secret_is_not_shown_and_what_is_cut_cannot_be_approved() -> None:
    effects = [{**EFFECT, "sensitive": True, "before": "hunter2", "value": "hunter3"}]
    explanation = {**EXPLANATION, "facts": {"effects": effects, "dependants": []}, "contest": None}
    card = card_of("mut_1", explanation, {**CALL, "whole": False}, person())
    assert (card.changes[0].unseen, card.changes[0].difference.lines) == (True, ())
    assert "cannot be approved" in card.why_no_approval


@pytest.mark.parametrize("effects", [[("delete", "*", True)], [("delete", "tags", True)], [("invoke", "*", False)]])
def test_what_goes_is_said_in_red_and_never_that_the_value_stays(effects: list[tuple[str, str, bool]]) -> None:
    [(action, attribute, destroys)] = effects
    effect = {**EFFECT, "action": action, "attribute": attribute, "before": None, "value": None}
    explanation = {**EXPLANATION, "facts": {"effects": [effect], "dependants": []}}
    card = card_of("mut_1", explanation, CALL, person())
    shown = str(_PARTS.changes(card))
    assert card.changes[0].consequence in shown
    assert ('class="goes"' in shown) is destroys
    assert "stays as it is" not in shown


def test_a_value_that_is_set_again_stays() -> None:
    explanation = {**EXPLANATION, "facts": {"effects": [{**EFFECT, "value": 1}], "dependants": []}}
    assert "The value stays as it is." in str(_PARTS.changes(card_of("mut_1", explanation, CALL, person())))
