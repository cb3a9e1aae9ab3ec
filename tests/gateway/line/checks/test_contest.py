"""A contest is taken apart only if there is one, and never decides anything."""

from dataclasses import replace
from typing import Any

from gateway.core.errors import PolicyUnavailable
from gateway.core.model.caller import ActorKind
from gateway.core.model.claim import Relation
from gateway.core.model.json import Json
from gateway.line.checks.contest import ContestPolicy
from gateway.line.checks.policy_input import PolicyInputs
from tests.gateway.line.checks.test_approvers import Engine
from tests.gateway.line.checks.test_arbitration import BUDGET, INCIDENT, facts, mutation

ANSWER: dict[str, Json] = {"evaluated": True, "incoming": {}, "rivals": {"clm_1": {}}, "needed": 7, "winning": []}
CHANGE = mutation("other", ActorKind.AGENT, BUDGET)


async def _contest(engine: Engine, change: Any = CHANGE, known: Any = None) -> Any:
    return await ContestPolicy(engine, PolicyInputs()).of(change, known or facts(INCIDENT))


async def test_the_contest_with_another_actors_claim_is_kept_without_what_says_that_it_is_complete() -> None:
    assert await _contest(Engine(ANSWER)) == {name: ANSWER[name] for name in ANSWER if name != "evaluated"}


async def test_without_a_claim_in_the_way_nothing_is_asked() -> None:
    for change, known in (
        (mutation("rescuer", ActorKind.AGENT, BUDGET), facts(INCIDENT)),
        (CHANGE, replace(facts(INCIDENT), claims=())),
        (CHANGE, replace(facts(INCIDENT), claims=(replace(facts(INCIDENT).claims[0], relation=Relation.RESOURCE),))),
    ):
        engine = Engine(ANSWER)
        assert await _contest(engine, change, known) is None
        assert engine.asked == []


async def test_what_cannot_be_explained_changes_no_decision() -> None:
    class Broken(Engine):
        async def ask(self, entrypoint: str, document: Json) -> Json:
            raise PolicyUnavailable(entrypoint)

    assert await _contest(Broken(None)) is None
    assert await _contest(Engine(ANSWER, has=False)) is None
    assert await _contest(Engine({**ANSWER, "rivals": {}})) is None
    assert await _contest(Engine({"other": 1})) is None
