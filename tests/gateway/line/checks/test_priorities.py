"""The revision of the numbers that a decision was made by."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

from gateway.core.errors import PolicyUnavailable
from gateway.core.model.facts import Facts
from gateway.core.model.json import Json
from gateway.core.model.verdict import Mode
from gateway.line.checks.priorities import PrioritiesInForce, PrioritiesRevision, idle_layers, priorities_of
from tests.kit.doubles import NOW

FACTS = Facts(now=NOW, stack="dev", mode=Mode.ENFORCE, subjects=(), stacks=("dev",))


@dataclass
class Engine:
    """An engine with some numbers, which counts the questions."""

    revision: str = "r-1"
    close_call: int = 100
    fails: bool = False
    asked: list[Json] = field(default_factory=list)
    flip_window: timedelta = timedelta(hours=1)

    async def ask(self, entrypoint: str, document: Json) -> Json:
        """The numbers."""
        self.asked.append(document)
        if self.fails:
            raise PolicyUnavailable("The policies have no result for it: it is not an entrypoint.")
        every: dict[str, Json] = {"dev": ["dev", "dev-*"], "prod": ["produktion"]}
        return {"layers": "dev payments", "numbers": {"close_call": self.close_call}, "every": every}


async def test_it_names_the_layers_and_changes_with_the_numbers() -> None:
    one = await priorities_of(Engine(), ["dev"])
    assert one.layers == ("dev", "payments")
    assert one.revision.startswith("dev+payments@")
    assert one.revision == (await priorities_of(Engine(), ["dev"])).revision
    assert one.revision != (await priorities_of(Engine(close_call=50), ["dev"])).revision
    assert PrioritiesInForce(layers=(), numbers={}, every={}).revision.startswith("base@")


async def test_the_engine_is_asked_once_for_each_stack_and_revision() -> None:
    engine = Engine()
    revision = PrioritiesRevision(engine)
    first = await revision.of(FACTS)
    assert await revision.of(FACTS) == first
    await revision.of(replace(FACTS, stacks=(), stack="kafka"))
    assert engine.asked == [{"stacks": ["dev"]}, {"stacks": ["kafka"]}]
    engine.revision, engine.close_call = "r-2", 50
    assert await revision.of(FACTS) != first


async def test_a_server_without_a_bundle_is_asked_each_time() -> None:
    engine = Engine(revision="opa 1.22.0")
    revision = PrioritiesRevision(engine)
    first = await revision.of(FACTS)
    engine.close_call = 50
    assert await revision.of(FACTS) != first


async def test_policies_without_layers_have_no_revision_and_a_failure_is_not_kept() -> None:
    engine = Engine(fails=True)
    revision = PrioritiesRevision(engine)
    assert await revision.of(FACTS) == ""
    assert await idle_layers(engine, ["dev"]) == []
    engine.fails = False
    assert await revision.of(FACTS) != ""


async def test_what_is_kept_is_bounded() -> None:
    engine = Engine()
    revision = PrioritiesRevision(engine)
    for number in range(1000):
        await revision.of(replace(FACTS, stacks=(f"stack-{number}",)))
    await revision.of(replace(FACTS, stacks=("stack-999",)))
    assert len(engine.asked) == 1000


async def test_a_layer_of_no_stack_is_pointed_out() -> None:
    assert await idle_layers(Engine(), ["dev-shop", "kafka"]) == [
        "The layer 'prod' of the priorities is for the stacks produktion, and the settings have none of them."
    ]
