"""The history of a resource: one entry for each mutation, newest first; only what is about the attribute that was asked for."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.context.ports import HistoryQuery, SentChange
from gateway.core.model.mutation import EffectAction
from gateway.core.model.outcome import Failed, InDoubt
from gateway.ledger.ask.blame import blame
from gateway.ledger.ask.change_history import _is_about, changes_of, commits_of
from tests.kit.bodies import written_back

QUEUE = "aws_sqs_queue.orders"


async def history(scene: Any, **query: Any) -> list[SentChange]:
    asked = HistoryQuery(addresses=(QUEUE,), **query)
    return list(await scene.ledger.query(lambda session: changes_of(session, asked)))


async def _change(scene: Any, value: int, attribute: str = "delay", **more: Any) -> str:
    claims = await scene.ledger.claims(address=QUEUE)
    ended = tuple(each.id for each in claims if each.attribute == attribute)
    mutation = scene.mutation(value, attribute, **more)
    await scene.execute(mutation, supersedes=ended)
    return str(mutation.id)


async def test_a_mutation_of_two_attributes_is_one_entry(scene: Any) -> None:
    both = scene.mutation(1, "tags.a")
    both = replace(both, effects=(*both.effects, *scene.mutation(2, "tags.b").effects))
    await scene.execute(both)
    [entry] = await history(scene)
    assert (entry.mutation_id, entry.outcome, entry.kind, entry.operation) == (both.id, "applied", "agent", "sqs:SetQueueAttributes")  # fmt: skip
    assert [(each["attribute"], each["value"], each["before"]) for each in entry.changes] == [("tags.a", 1, 4), ("tags.b", 2, 4)]  # fmt: skip
    [part] = await history(scene, attribute="tags.b")
    assert [each["attribute"] for each in part.changes] == ["tags.b"]
    [whole] = await history(scene, attribute="tags")
    assert len(whole.changes) == 2


async def test_the_newest_comes_first_and_the_pages_join(scene: Any) -> None:
    made = [await _change(scene, value, actor=f"a{value}") for value in (1, 2, 3)]
    await _change(scene, 9, "other")
    entries = await history(scene, attribute="delay")
    assert [each.mutation_id for each in entries] == made[::-1]
    [newest] = await history(scene, attribute="delay", limit=1)
    rest = await history(scene, attribute="delay", before_seq=newest.seq)
    assert [each.mutation_id for each in (newest, *rest)] == made[::-1]
    assert [each.mutation_id for each in await history(scene, attribute="delay", after_seq=entries[1].seq)] == made[2:]


async def test_the_changes_of_both_names_of_a_resource_are_one_list(scene: Any) -> None:
    """Each name is asked for alone. A change of both is one entry, and a page is of the newest of all."""
    old = "aws_sqs_queue.before"
    first = await _change(scene, 1, actor="a1")
    other = scene.mutation(2, address=old, actor="a2")
    await scene.execute(other)
    both = scene.mutation(3, "tags.a", actor="a3")
    both = replace(both, effects=(*both.effects, *scene.mutation(4, "tags.b", address=old).effects))
    await scene.execute(both)
    for attribute in ("", "delay", "tags"):
        made = {"": [both.id, other.id, first], "delay": [other.id, first], "tags": [both.id]}[attribute]
        asked = HistoryQuery(addresses=(QUEUE, old), attribute=attribute)
        entries = await scene.ledger.query(lambda session, asked=asked: changes_of(session, asked))
        assert [each.mutation_id for each in entries] == made
        one = replace(asked, limit=1)
        [newest] = await scene.ledger.query(lambda session, one=one: changes_of(session, one))
        assert newest == entries[0]


async def test_a_creation_is_about_every_attribute_and_a_failure_about_none(scene: Any) -> None:
    created = scene.mutation(None, "*", action=EffectAction.CREATE)
    await scene.execute(created)
    failed = scene.mutation(9, "other")
    await scene.execute(failed, Failed(code="Denied", message="No."))
    doubted = scene.mutation(7, "third")
    await scene.execute(doubted, InDoubt(reason="cut off"))
    assert [each.mutation_id for each in await history(scene, attribute="other")] == [created.id]
    assert [(each.mutation_id, each.outcome) for each in await history(scene)] == [(doubted.id, "in_doubt"), (created.id, "applied")]  # fmt: skip


async def test_what_only_stays_as_it_was_is_no_change(scene: Any) -> None:
    """A restated value, in more calls than a page has, and what is only done with the resource."""
    first = await _change(scene, 6, actor="a1")
    for number in range(5):
        await _change(scene, 4, actor=f"b{number}")
    invoked = scene.mutation(None, "*", action=EffectAction.INVOKE)
    await scene.execute(invoked)
    assert [each.mutation_id for each in await history(scene, attribute="delay", limit=2)] == [first]
    assert [each.mutation_id for each in await history(scene)] == [invoked.id, first]
    found = await scene.ledger.query(lambda session: blame(session, QUEUE, "delay"))
    assert (found.mutation_id, found.previous_mutation_id) == (first, "")


async def test_where_it_was_written_is_the_last_report(scene: Any) -> None:
    made = await _change(scene, 5)
    assert await scene.ledger.query(lambda session: commits_of(session, [made])) == {}
    for commit in ("one", "two"):
        body = {"branch": "sentinel/shop", "commit": commit}
        await scene.ledger.record_reconciliation(made, at=scene.now, body=written_back(body))
    [entry] = await history(scene)
    assert (entry.branch, entry.commit) == ("sentinel/shop", "two")
    assert await scene.ledger.query(lambda session: commits_of(session, [])) == {}


@pytest.mark.parametrize(
    ("changed", "attribute", "about"),
    [("a", "", True), ("a.b", "a", True), ("a", "a.b", True), ("*", "a", True), ("ab", "a", False), ("b", "a", False)],
)
def test_what_a_change_is_about(changed: str, attribute: str, about: bool) -> None:
    assert _is_about(changed, attribute) is about
