"""The values that a due change puts back, by address and attribute."""

from gateway.core.ports import DueChange
from tests.kit import nouns


def test_parts_are_known_by_address_and_attribute() -> None:
    part = nouns.time_box_part(address="aws_x.y", attribute="size")
    due = DueChange(mutation_id="mut_1", stack="s", until=part.until, back=(part,))
    assert due.bases == {("aws_x.y", "size"): 4}
