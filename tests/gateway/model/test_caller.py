"""What a caller's kind and key id say about it."""

import pytest

from gateway.model.caller import ActorKind, Caller
from gateway.model.motive import Intent, Motivation, Motive


@pytest.mark.parametrize("kind", ActorKind)
def test_people_and_pipelines_see_every_actors_records(kind: ActorKind) -> None:
    caller = Caller(actor="a", kind=kind, key_id="SNTLAAAAAAAAAAAAAAAA")
    assert caller.sees_all == (kind in {ActorKind.HUMAN, ActorKind.PIPELINE})


@pytest.mark.parametrize(("key_id", "in_session"), [("SNTLAAAAAAAAAAAAAAAA", False), ("SNTSAAAAAAAAAAAAAAAA", True)])
def test_the_key_id_says_whether_it_is_a_session(key_id: str, in_session: bool) -> None:
    assert Caller(actor="a", kind=ActorKind.AGENT, key_id=key_id).in_session is in_session


@pytest.mark.parametrize(("only", "standing", "may"), [(False, False, True), (True, True, False), (True, False, False)])
def test_a_ceiling_lets_no_other_motive_be_stated(only: bool, standing: bool, may: bool) -> None:
    routine = Motive(intent=Intent.CONSISTENCY, motivation=Motivation.ROUTINE)
    other = Motive(intent=Intent.SECURITY, motivation=Motivation.VULNERABILITY)
    caller = Caller(
        actor="a", kind=ActorKind.AGENT, key_id="SNTLA", motive=routine if standing else None, motive_only=only
    )
    assert caller.may_state(other) is may
    assert caller.may_state(routine) is (standing or not only)
