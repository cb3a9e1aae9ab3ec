"""Which attributes overlap: the same, a part, what is around it, and the whole resource; found without comparing all with all."""

import pytest

from gateway.model.overlap import Overlaps
from tests.kit.growth import assert_linear

ITEMS = Overlaps(
    ("a", attribute, attribute) for attribute in ("tags", "tags.owner", "tags.owner.x", "tagset", "size", "*")
)


@pytest.mark.parametrize(
    ("attribute", "found"),
    [
        ("tags", {"tags", "tags.owner", "tags.owner.x", "*"}),
        ("tags.owner", {"tags", "tags.owner", "tags.owner.x", "*"}),
        ("tags.owner.x.y", {"tags", "tags.owner", "tags.owner.x", "*"}),
        ("tags.other", {"tags", "*"}),
        ("size", {"size", "*"}),
        ("nothing", {"*"}),
        ("*", {"tags", "tags.owner", "tags.owner.x", "tagset", "size", "*"}),
    ],
)
def test_what_overlaps(attribute: str, found: set[str]) -> None:
    overlapping = ITEMS.of("a", attribute)
    assert set(overlapping) == found
    assert len(overlapping) == len(found)


def test_another_resource_does_not_overlap() -> None:
    assert ITEMS.of("b", "tags") == ()
    assert ITEMS.of("b", "*") == ()


def test_the_work_grows_with_the_number_of_attributes_not_with_its_square() -> None:
    def look_up(size: int) -> None:
        overlaps = Overlaps(("a", f"tags.k{number}", number) for number in range(size))
        for number in range(size):
            overlaps.of("a", f"tags.k{number}")

    assert_linear(lambda size: lambda: look_up(size), 100)
