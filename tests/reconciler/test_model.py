"""The keys by which wanted values are compared with changes of a plan."""

from dataclasses import replace

from reconciler.model import REPLACES, Wanted, is_new, is_replacement
from reconciler.terraform.plan import ResourceChange


def test_a_wanted_value_and_a_change_of_the_same_attribute_share_their_top() -> None:
    wanted = Wanted(address='aws_x.a["b.c"]', attribute="tags.owner", value="x")
    assert wanted.key == ('aws_x.a["b.c"]', "tags.owner")
    assert wanted.path.steps == ("tags", "owner")
    change = ResourceChange(address='aws_x.a["b.c"]', attribute="tags.team")
    assert wanted.top_key == change.top_key == ('aws_x.a["b.c"]', "tags")
    assert change.resource_type == "aws_x"
    assert ResourceChange(address="not an address", attribute="*").resource_type == ""


def test_a_replacement_says_which_resource_it_replaces() -> None:
    new = Wanted(address="aws_sqs_queue.a", attribute="*", value={"import_id": "b"})
    other = replace(new, value={"import_id": "b", REPLACES: "a"})
    assert [(is_new(each), is_replacement(each)) for each in (new, other)] == [(True, False), (True, True)]
    assert not is_replacement(replace(new, attribute="tags", value={REPLACES: "a"}))
