"""The values that a due change puts back, by address and attribute."""

from datetime import UTC, datetime

from gateway.core.model.time_box import TimeBoxPart
from gateway.core.ports import DueChange

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def test_parts_are_known_by_address_and_attribute() -> None:
    part = TimeBoxPart(
        mutation_id="mut_1",
        address="aws_x.y",
        attribute="size",
        value=6,
        base=4,
        root="mut_1",
        actor="a",
        stack="s",
        since=NOW,
        until=NOW,
    )
    assert DueChange(mutation_id="mut_1", stack="s", until=NOW, back=(part,)).bases == {("aws_x.y", "size"): 4}
