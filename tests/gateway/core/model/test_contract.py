"""What all matching blocks together let agents delete and invoke: only what every one of them grants."""

import pytest

from gateway.core.model.contract import AgentGrant, Contract


def contract(*grants: AgentGrant) -> Contract:
    return Contract(managed_by_agent=True, source="c:1", grants=grants)


def test_without_a_block_nothing_is_granted() -> None:
    assert contract().withholding_delete() == ("c:1",)
    assert contract().withholding_invoke("sqs", "PurgeQueue") == ("c:1",)
    assert Contract().withholding_delete() == ("",)


def test_a_block_grants_nothing_unless_it_says_so() -> None:
    assert contract(AgentGrant(source="c:2")).withholding_delete() == ("c:2",)
    assert contract(AgentGrant(source="c:2")).withholding_invoke("sqs", "PurgeQueue") == ("c:2",)


def test_every_block_must_let_agents_delete() -> None:
    deletes, keeps = AgentGrant(source="c:2", allow_delete=True), AgentGrant(source="c:9")
    assert contract(deletes).withholding_delete() == ()
    assert contract(deletes, keeps).withholding_delete() == ("c:9",)


@pytest.mark.parametrize(
    ("granted", "allowed"),
    [
        ({"PurgeQueue"}, True),
        ({"sqs:PurgeQueue"}, True),
        ({"SendMessage", "PurgeQueue"}, True),
        ({"sns:PurgeQueue"}, False),
        ({"SendMessage"}, False),
        ({"purgequeue"}, False),
        ({"Purge"}, False),
        ({"sqs"}, False),
        ({""}, False),
    ],
)
def test_an_operation_is_granted_by_its_name(granted: set[str], allowed: bool) -> None:
    block = AgentGrant(source="c:2", allow_invoke=frozenset(granted))
    assert contract(block).withholding_invoke("sqs", "PurgeQueue") == (() if allowed else ("c:2",))


def test_every_block_must_name_the_operation() -> None:
    one = AgentGrant(source="c:2", allow_invoke=frozenset({"PurgeQueue"}))
    other = AgentGrant(source="c:9", allow_invoke=frozenset({"sqs:PurgeQueue", "SendMessage"}))
    assert contract(one, other).withholding_invoke("sqs", "PurgeQueue") == ()
    assert contract(one, other).withholding_invoke("sqs", "SendMessage") == ("c:2",)
