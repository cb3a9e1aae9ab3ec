"""Budgets are charged with the decision or not at all; a breaker opens, tries and closes; who wins an attribute cannot trip a rival."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gateway.core.errors import BreakerOpen, BudgetSpent, ClaimTaken, NotAllowed, NotFound
from gateway.core.model.budget import Used
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.circuit_breaker import Breaker, BreakerState
from gateway.core.model.mutation import PutBack
from gateway.core.model.outcome import Failed, InDoubt, Resolution, SettledBy
from gateway.core.model.verdict import CounterOffer, Decision, Finding, Mode, Verdict
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.decide.budgets import counts
from tests.kit.history import NOW
from tests.kit.time_boxes import HOUR, TimeBoxHistory

SECOND = timedelta(seconds=1)
CHIEF = Caller(actor="chief", kind=ActorKind.HUMAN, key_id="SNTLC", roles=("operator",))
FAILED = Failed(code="Throttled", message="no", reply=None, request_id="r-2")
RULE = {"in_a_row": 2, "open_seconds": 30}
DENY, HOLD, ALLOW = Verdict.DENY, Verdict.HOLD, Verdict.ALLOW


def bucket(most: int, cost: int = 1, *, when_sent: bool = False) -> dict[str, Any]:
    return {"most": most, "seconds": 60, "cost": cost, "when_sent": when_sent}


async def decide(scene: Any, verdict: Verdict = ALLOW, attribute: str = "", **more: Any) -> Any:
    """A decision of the actor about an attribute of its own, with these obligations; the mutation."""
    given = {"minute": bucket(3)} if "budgets" not in more else more["budgets"]
    change = scene.mutation(attribute=attribute or f"a{next(_numbers)}", actor=more.get("actor", "agent"))
    mode = more.get("mode", Mode.ENFORCE)
    facts = replace(scene.facts(change, mode), now=more.get("at", NOW))
    share = more.get("obligations") or {"budgets": given, **({"breaker": RULE} if more.get("breaker", True) else {})}
    await scene.ledger.record_decision(change, facts, scene.decision(verdict, obligations=share, mode=mode))
    return change


_numbers = iter(range(10**9))


async def used(scene: Any, actor: str = "agent") -> Used:
    found: Used = (await scene.ledger.used(NOW)).get(actor, Used())
    return found


async def transitions(scene: Any) -> list[tuple[str, str]]:
    records = await scene.ledger.records(RecordQuery(stage=Stage.BREAKER, newest_first=False))
    return [(each.body.members["of"], each.body.members["state"]) for each in records]


@pytest.mark.parametrize("verdicts", ["AAA", "HHH", "DAH"])
async def test_every_decision_costs_its_actor_and_nobody_else(scene: Any, verdicts: str) -> None:
    for letter in verdicts:
        await decide(scene, {"A": ALLOW, "H": HOLD, "D": DENY}[letter], breaker=False)
    for verdict in (ALLOW, HOLD, DENY):
        with pytest.raises(BudgetSpent, match="agent has used its budget of 3 mutations a minute") as error:
            await decide(scene, verdict, breaker=False)
        assert error.value.retry_after == 20
    assert len(await scene.ledger.records(RecordQuery(stage=Stage.DECIDED))) == 3
    await decide(scene, actor="rival", breaker=False)
    await decide(scene, at=NOW + 20 * SECOND, breaker=False)


async def test_a_size_costs_only_what_is_sent(scene: Any) -> None:
    size = {"instances/day": bucket(10, 6, when_sent=True)}
    for verdict in (HOLD, DENY, ALLOW):
        await decide(scene, verdict, budgets=size, breaker=False)
    with pytest.raises(BudgetSpent, match="budget of 10 added instances a day, and this would take 6 more"):
        await decide(scene, budgets=size, breaker=False)
    await decide(scene, HOLD, budgets=size, breaker=False)


async def test_what_fails_with_the_transaction_costs_nothing(scene: Any) -> None:
    await decide(scene, attribute="taken")
    for _ in range(5):
        with pytest.raises(ClaimTaken):
            await decide(scene, attribute="taken", actor="rival")
    assert await used(scene, "rival") == Used()


async def test_what_is_only_observed_is_charged_and_passes(scene: Any) -> None:
    for _ in range(9):
        await decide(scene, DENY, mode=Mode.OBSERVE)
    assert (await used(scene)).levels == {"minute": NOW + 60 * SECOND}
    assert (await used(scene)).breaker == Breaker()


async def test_refusals_in_a_row_open_the_breaker_and_keep_out_what_would_be_sent(scene: Any) -> None:
    for _ in range(2):
        await decide(scene, DENY, budgets={})
    assert (await used(scene)).breaker == Breaker(state=BreakerState.OPEN, in_a_row=2, until=NOW + 30 * SECOND)
    with pytest.raises(BreakerOpen) as error:
        await decide(scene, budgets={})
    assert error.value.retry_after == 30
    await decide(scene, budgets={}, actor="rival")
    assert await transitions(scene) == [("agent", "open")]
    [record] = await scene.ledger.records(RecordQuery(stage=Stage.DECIDED, verdict="deny", limit=1))
    assert record.body.members["refused_in_a_row"] == 2


async def test_refusals_count_together_only_within_their_time(scene: Any) -> None:
    share = {"budgets": {}, "breaker": {**RULE, "within_seconds": 600}}
    for minutes in (0, 11, 22):
        await decide(scene, DENY, obligations=share, at=NOW + minutes * 60 * SECOND)
    assert (await used(scene)).breaker == Breaker(in_a_row=1, until=NOW + 32 * 60 * SECOND)
    assert await transitions(scene) == []
    await scene.ledger.verify()
    change = await decide(scene, obligations=share, at=NOW + 23 * 60 * SECOND)
    await scene.ledger.record_outcome(change, FAILED, NOW + 24 * 60 * SECOND)
    assert await transitions(scene) == [("agent", "open")]
    await scene.ledger.verify()


@pytest.mark.parametrize("outcome", [FAILED, InDoubt(reason="No answer.")], ids=["failed", "in doubt"])
async def test_failures_open_it_too(scene: Any, outcome: Any) -> None:
    for _ in range(2):
        change = await decide(scene, budgets={})
        await scene.ledger.record_outcome(change, outcome, NOW)
    assert (await used(scene)).breaker.state is BreakerState.OPEN


async def test_a_success_begins_a_new_row(scene: Any) -> None:
    await decide(scene, DENY, budgets={})
    change = await decide(scene, budgets={})
    await scene.ledger.record_outcome(change, scene.applied, NOW)
    assert (await used(scene)).breaker == Breaker()
    await decide(scene, DENY, budgets={})
    assert await transitions(scene) == []


async def test_put_backs_that_are_refused_or_fail_do_not_open_the_breaker_of_who_sends_them(scene: Any) -> None:
    timed = TimeBoxHistory(scene.ledger)
    boxed = await timed.change()
    deny = scene.decision(DENY, obligations={"breaker": RULE, "budgets": {}})
    for _ in range(5):
        made = scene.mutation(actor="reconciler")
        change = replace(made, puts_back=PutBack(mutation_id=boxed.id, bases={}))
        await scene.ledger.record_decision(change, scene.facts(change), deny)
    for _ in range(5):
        await timed.put_back(boxed, at=NOW + 2 * HOUR, outcome=FAILED)
    assert await used(scene, "reconciler") == Used()
    assert await transitions(scene) == []


async def opened(scene: Any) -> Any:
    """Open the breaker; the moment when the trial may come."""
    for _ in range(2):
        await decide(scene, DENY, budgets={})
    return NOW + 30 * SECOND


async def test_one_call_tries_and_closes_it(scene: Any) -> None:
    at = await opened(scene)
    trial = await decide(scene, budgets={}, at=at)
    with pytest.raises(BreakerOpen, match=trial.id):
        await decide(scene, budgets={}, at=at)
    await scene.ledger.record_outcome(trial, scene.applied, at)
    await decide(scene, budgets={}, at=at)
    assert [state for _, state in await transitions(scene)] == ["open", "half_open", "closed"]


@pytest.mark.parametrize("how", ["failed", "in doubt", "denied", "gateway died"])
async def test_a_lost_trial_opens_it_again(scene: Any, how: str) -> None:
    at = await opened(scene)
    trial = await decide(scene, DENY if how == "denied" else ALLOW, budgets={}, at=at)
    if how == "gateway died":
        await scene.ledger.recover(at)
    elif how != "denied":
        await scene.ledger.record_outcome(trial, FAILED if how == "failed" else InDoubt(reason="No."), at)
    assert (await used(scene)).breaker.until == at + 30 * SECOND
    with pytest.raises(BreakerOpen):
        await decide(scene, budgets={}, at=at)
    await decide(scene, budgets={}, at=at + 30 * SECOND)


async def test_a_held_trial_neither_closes_nor_opens_it(scene: Any) -> None:
    at = await opened(scene)
    await decide(scene, HOLD, budgets={}, at=at)
    await decide(scene, budgets={}, at=at)


async def test_a_doubt_counts_once(scene: Any) -> None:
    change = await decide(scene, budgets={})
    await scene.ledger.record_outcome(change, InDoubt(reason="No answer."), NOW)
    await scene.ledger.leave_to_human(change.id, "Nothing shows it.", NOW)
    found = Resolution(carried_out=False, by=SettledBy.READ_BACK, reason="Not there.")
    await scene.ledger.resolve(change.id, found, NOW)
    assert (await used(scene)).breaker == Breaker(in_a_row=1)


async def test_what_turned_out_to_be_applied_begins_a_new_row(scene: Any) -> None:
    change = await decide(scene, budgets={})
    await scene.ledger.record_outcome(change, InDoubt(reason="No answer."), NOW)
    found = Resolution(carried_out=True, by=SettledBy.READ_BACK, reason="There.")
    await scene.ledger.resolve(change.id, found, NOW)
    assert (await used(scene)).breaker == Breaker()


async def test_policies_without_a_breaker_any_more_let_pass(scene: Any) -> None:
    at = await opened(scene)
    await decide(scene, budgets={}, breaker=False, at=NOW)
    assert at


async def test_only_another_person_with_the_role_resets_it(scene: Any) -> None:
    await opened(scene)
    reset = scene.ledger.reset_breaker
    for caller in (replace(CHIEF, roles=("approver",)), replace(CHIEF, kind=ActorKind.AGENT)):
        with pytest.raises(NotAllowed, match="role `operator`"):
            await reset("agent", by=caller, reason="x", at=NOW)
    for own in (replace(CHIEF, actor="agent"), replace(CHIEF, on_behalf_of="agent")):
        with pytest.raises(NotAllowed, match="Another person"):
            await reset("agent", by=own, reason="x", at=NOW)
    with pytest.raises(NotFound, match="breaker of rival is closed"):
        await reset("rival", by=CHIEF, reason="x", at=NOW)
    await reset("agent", by=CHIEF, reason="Mended.", at=NOW)
    [record] = await scene.ledger.records(RecordQuery(stage=Stage.BREAKER, limit=1))
    assert (record.actor, record.body.members["of"], record.body.members["reason"]) == ("chief", "agent", "Mended.")
    await decide(scene, budgets={})


def denial(check: str, holder: str = "") -> Finding:
    offer = CounterOffer(holder=holder) if holder else None
    return Finding(check=check, verdict=DENY, rule="R", reason="No.", offer=offer)


@pytest.mark.parametrize(
    ("findings", "counted"),
    [
        ([denial("bounds")], True),
        ([denial("arbitration", "rival")], False),
        ([denial("stops", "chief")], False),
        ([denial("arbitration")], True),
        ([denial("arbitration", "rival"), denial("bounds")], True),
        ([Finding(check="x", verdict=HOLD, rule="R", reason="?")], False),
        ([], True),
    ],
)
def test_what_others_caused_does_not_count(findings: list[Finding], counted: bool) -> None:
    if not findings:
        assert not counts(Decision()), "nothing was found, so nothing is the actor's fault"
        return
    assert counts(Decision(findings=tuple(findings))) is counted


async def test_who_holds_an_attribute_cannot_trip_the_breaker_of_who_asks_for_it(scene: Any) -> None:
    contest = Decision(findings=(denial("arbitration", "squatter"),), obligations={"breaker": RULE, "budgets": {}})
    for _ in range(20):
        change = scene.mutation(actor="victim")
        await scene.ledger.record_decision(change, scene.facts(change), contest)
    assert (await used(scene, "victim")).breaker == Breaker()


async def test_two_ledgers_on_one_database_do_not_spend_twice(scene: Any, tmp_path: Any) -> None:
    from gateway.ledger.ledger import open_ledger  # noqa: PLC0415  the second process of the test
    from tests.kit.stores import KEYS  # noqa: PLC0415

    async with open_ledger(f"sqlite:///{tmp_path / 'scene.db'}", KEYS) as other:
        second = replace(scene, ledger=other)
        passed = 0
        for number in range(20):
            try:
                await decide(second if number % 2 else scene, breaker=False)
                passed += 1
            except BudgetSpent:
                pass
    assert passed == 3


async def test_claims_are_counted_by_motivation(scene: Any) -> None:
    await decide(scene)
    assert (await used(scene)).claims == {"": 1}
