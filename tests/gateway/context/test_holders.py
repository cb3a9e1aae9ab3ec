"""Who holds what, and why, is told to everybody; text and evidence only to people and to the holder."""

from datetime import timedelta

import pytest

from gateway.context.holders import holder_of, motive_words
from gateway.model.caller import ActorKind, Caller
from gateway.model.claim import Claim
from gateway.model.motive import Intent, Motivation, Motive
from tests.kit.doubles import AGENT, HUMAN, NOW

MOTIVE = Motive(intent=Intent.COST, motivation=Motivation.BUDGET, text="private words", evidence=("T-1",))
CLAIM = Claim(
    id="clm_1",
    mutation_id="mut_1",
    address="aws_lb.a",
    attribute="idle_timeout",
    value=5,
    actor="rival",
    kind=ActorKind.AGENT,
    motive=MOTIVE,
    since=NOW,
    until=NOW + timedelta(hours=1),
)


def test_everybody_is_told_who_why_and_until_when() -> None:
    shown = holder_of(CLAIM, AGENT)
    assert shown == {
        "holder": "rival",
        "kind": "agent",
        "intent": "cost",
        "motivation": "budget",
        "since": "2026-11-21T00:00:00Z",
        "until": "2026-11-21T01:00:00Z",
        "unsettled": False,
        "mutation_id": "mut_1",
    }


@pytest.mark.parametrize("caller", [HUMAN, Caller(actor="rival", kind=ActorKind.AGENT, key_id="k")])
def test_people_and_the_holder_see_the_text(caller: Caller) -> None:
    assert (holder_of(CLAIM, caller)["text"], holder_of(CLAIM, caller)["evidence"]) == ("private words", ["T-1"])


def test_no_motive_has_no_words() -> None:
    assert motive_words(None) == {"intent": "", "motivation": ""}
