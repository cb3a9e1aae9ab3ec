"""Where exports stand: begun once, moved by one process, and bounded in what comes next."""

from gateway.ledger.chain import START
from gateway.ledger.export_positions import (
    begin_export,
    end_until,
    first_keyed,
    last_record,
    move_export,
    position_of,
    positions,
    range_end,
    start_since,
)
from gateway.ledger.rows import ChainEndRow
from gateway.ledger.timestamps import to_text
from tests.gateway.ledger.conftest import NOW, Scene

SINK = "ocsf /somewhere"


async def test_an_export_begins_once_and_each_step_is_one_process_s(scene: Scene) -> None:
    await scene.ledger.write(lambda session: begin_export(session, SINK, ChainEndRow(3, "h"), "now"))
    await scene.ledger.write(lambda session: begin_export(session, SINK, ChainEndRow(9, "x"), "later"))
    was = await scene.ledger.read(lambda session: position_of(session, SINK))
    assert was is not None
    assert was.end == ChainEndRow(3, "h")
    planned = was._replace(planned=8)
    assert await scene.ledger.write(lambda session: move_export(session, was, planned))
    assert not await scene.ledger.write(lambda session: move_export(session, was, planned)), "another one took it"
    assert await scene.ledger.read(positions) == [planned]


async def test_a_range_is_bounded_by_records_and_by_size_and_never_empty(scene: Scene) -> None:
    for value in range(3):
        await scene.execute(scene.mutation(value, f"a{value}"))
    last = (await scene.ledger.read(last_record)).seq
    assert last == 6
    assert await scene.ledger.read(lambda session: range_end(session, 0, most=4, most_characters=10**9)) == 4
    assert await scene.ledger.read(lambda session: range_end(session, 0, most=4, most_characters=1)) == 1
    assert await scene.ledger.read(lambda session: range_end(session, 6, most=4, most_characters=1)) == 6


async def test_an_end_is_the_last_record_from_before_a_time(scene: Scene) -> None:
    await scene.execute(scene.mutation())
    for until, seq in (("", 2), (to_text(NOW), 0), ("2999", 2)):
        assert await scene.ledger.read(lambda session, until=until: end_until(session, until)) == seq  # type: ignore[misc]  # bound early


async def test_a_start_is_the_record_before_a_time(scene: Scene) -> None:
    assert await scene.ledger.read(lambda session: start_since(session, "")) == START
    assert await scene.ledger.read(first_keyed) == 0
    await scene.execute(scene.mutation())
    assert await scene.ledger.read(lambda session: start_since(session, to_text(NOW))) == START
    end = await scene.ledger.read(last_record)
    assert await scene.ledger.read(lambda session: start_since(session, "2999")) == end
    assert await scene.ledger.read(first_keyed) == 1
