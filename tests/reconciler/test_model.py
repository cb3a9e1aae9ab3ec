"""The keys by which wanted values are compared with changes of a plan."""

from reconciler.model import Wanted
from reconciler.terraform.plan import ResourceChange


def test_a_wanted_value_and_a_change_of_the_same_attribute_share_their_top() -> None:
    wanted = Wanted(address='aws_x.a["b.c"]', attribute="tags.owner", value="x")
    assert wanted.key == ('aws_x.a["b.c"]', "tags.owner")
    assert wanted.path.steps == ("tags", "owner")
    change = ResourceChange(address='aws_x.a["b.c"]', attribute="tags.team")
    assert wanted.top_key == change.top_key == ('aws_x.a["b.c"]', "tags")
    assert change.resource_type == "aws_x"
    assert ResourceChange(address="not an address", attribute="*").resource_type == ""
