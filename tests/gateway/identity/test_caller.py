"""A caller has every property of its key except the secret."""

from dataclasses import fields

from gateway.core.model.caller import ActorKind
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.ports import Key


def test_the_caller_has_everything_but_the_secret() -> None:
    motive = Motive(intent=Intent.COST, motivation=Motivation.BUDGET)
    key = Key(
        id="SNTL1", secret="s3cret", actor="a", kind=ActorKind.AGENT, roles=("r",), on_behalf_of="b", motive=motive
    )
    caller = key.caller
    assert (caller.actor, caller.kind, caller.key_id) == ("a", ActorKind.AGENT, "SNTL1")
    assert (caller.roles, caller.on_behalf_of, caller.motive) == (("r",), "b", motive)
    assert "s3cret" not in [getattr(caller, each.name) for each in fields(caller)]
