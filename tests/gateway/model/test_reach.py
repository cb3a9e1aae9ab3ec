"""What a mutation touches: who asks and for whom, the service, and every stack that declares a resource of it."""

from dataclasses import replace
from datetime import UTC, datetime

from gateway.model.caller import ActorKind, Caller
from gateway.model.facts import Facts
from gateway.model.mutation import Call, CallClass, Mutation
from gateway.model.reach import reach
from gateway.model.stop import Reach
from gateway.model.verdict import Mode
from tests.kit.decided import effect

FACTS = Facts(
    now=datetime(2026, 3, 1, tzinfo=UTC), stack="shop", stacks=("search", "shop"), mode=Mode.ENFORCE, subjects=()
)
MUTATION = Mutation(
    id="mut_1",
    caller=Caller(actor="bot", kind=ActorKind.AGENT, key_id="SNTL0", on_behalf_of="ana"),
    call=Call(service="sqs", operation="SetQueueAttributes"),
    call_class=CallClass.MUTATION,
    motive=None,
    effects=(effect("aws_sqs_queue.a", "delay_seconds", 1),),
)


def test_everything_that_a_stop_can_name_is_in_it() -> None:
    both = frozenset({"shop", "search"})
    assert reach(MUTATION, FACTS) == Reach(actors=frozenset({"bot", "ana"}), service="sqs", stacks=both)


def test_empty_names_are_not_in_it() -> None:
    alone = replace(MUTATION, caller=replace(MUTATION.caller, on_behalf_of=""))
    found = reach(alone, replace(FACTS, stack="", stacks=()))
    assert found == Reach(actors=frozenset({"bot"}), service="sqs")


def test_a_change_without_known_effects_may_touch_any_stack() -> None:
    assert reach(replace(MUTATION, effects=()), FACTS).any_stack
