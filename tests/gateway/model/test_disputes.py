"""An effect is disputed if a standing claim says that the attribute, or the part both are about, has another value."""

from datetime import UTC, datetime

import pytest

from gateway.model.caller import ActorKind
from gateway.model.claim import Claim, Relation, StandingClaim
from gateway.model.contract import Contract
from gateway.model.disputes import with_disputes
from gateway.model.facts import Facts, Subject
from gateway.model.json import Json
from gateway.model.mutation import Effect, EffectAction
from gateway.model.verdict import Mode

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def _disputed(
    attribute: str,
    value: Json,
    claimed: tuple[str, Json],
    action: EffectAction = EffectAction.SET,
    address: str = "aws_x.a",
) -> bool:
    effect = Effect(address="aws_x.a", attribute=attribute, action=action, value=value, resource_type="aws_x")
    subject = Subject(
        effect=effect, before=value, declared=None, attributes_before={}, attributes_after={}, contract=Contract()
    )
    claim = Claim(
        id="clm_1",
        mutation_id="mut_1",
        address=address,
        attribute=claimed[0],
        value=claimed[1],
        actor="a",
        kind=ActorKind.AGENT,
        motive=None,
        since=NOW,
    )
    standing = (StandingClaim(claim=claim, relation=Relation.SAME),)
    facts = Facts(now=NOW, stack="s", mode=Mode.ENFORCE, subjects=(subject,), claims=standing)
    [marked] = with_disputes(facts).subjects
    assert marked.changes is (marked.disputed or action is not EffectAction.SET)
    return marked.disputed


@pytest.mark.parametrize(
    ("attribute", "value", "claimed", "disputed"),
    [
        ("size", 4, ("size", 8), True),
        ("size", 4, ("size", 4), False),
        ("size", 4, ("other", 8), False),
        ("size", 4, ("*", None), True),
        ("tags", {"owner": "a", "x": "y"}, ("tags.owner", "b"), True),
        ("tags", {"owner": "a", "x": "y"}, ("tags.owner", "a"), False),
        ("tags", {"x": "y"}, ("tags.owner", "a"), True),
        ("tags.owner", "a", ("tags", {"owner": "b"}), True),
        ("tags.owner", "a", ("tags", {"owner": "a", "x": "y"}), False),
    ],
)
def test_what_is_disputed(attribute: str, value: Json, claimed: tuple[str, Json], disputed: bool) -> None:
    assert _disputed(attribute, value, claimed) is disputed


def test_only_a_set_on_the_same_resource_is_disputed() -> None:
    assert not _disputed("size", 4, ("size", 8), address="aws_x.b")
    assert not _disputed("*", None, ("size", 8), action=EffectAction.DELETE)
