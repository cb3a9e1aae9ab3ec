"""What a change touches, as far as stops can be about it."""

from gateway.model.facts import Facts
from gateway.model.mutation import Mutation
from gateway.model.stop import Reach


def reach(mutation: Mutation, facts: Facts) -> Reach:
    """The reach of a mutation. One whose effects are not known may touch any stack."""
    caller = mutation.caller
    return Reach(
        actors=frozenset({caller.actor, caller.on_behalf_of} - {""}),
        service=mutation.call.service,
        stacks=frozenset({facts.stack, *facts.stacks} - {""}),
        any_stack=not mutation.understood,
    )
