"""Resources are found by address, ARN, type, stack and a part of a name, page by page."""

import shutil
from pathlib import Path

import pytest

from gateway.context.lookup import FoundResource, ResourceQuery, find_resources, resource_at
from gateway.core.errors import Malformed, NotFound
from gateway.terraform.stacks import Stacks
from tests.kit.stacks import GROUP, KAFKA, Source, load


@pytest.fixture(scope="module")
def kafka() -> Stacks:
    return load(Source(path=KAFKA))


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Stacks:
    """Two stacks with the same addresses."""
    other = Path(shutil.copytree(KAFKA, tmp_path_factory.mktemp("twin") / "kafka"))
    return load(Source(path=KAFKA, name="prod"), Source(path=other, name="dev"))


def names(stacks: Stacks, **query: object) -> list[str]:
    return [each.name for each in find_resources(stacks, ResourceQuery(**query))[0]]  # type: ignore[arg-type]  # its members


def test_a_line_of_the_list_has_every_member(kafka: Stacks) -> None:
    line = resource_at(kafka, GROUP).summary()
    assert line["address"] == GROUP
    assert (line["type"], line["stack"], line["managed_by_agent"], line["recorded"]) == ("aws_autoscaling_group", "kafka", True, True)  # fmt: skip
    assert line["source"].startswith("main.tf:")
    assert line["identity"]["name"] == "kafka-consumer-processor-asg"
    assert {"arn", "account", "region"} <= line["identity"].keys()


def test_the_members_of_the_query_restrict_it(kafka: Stacks) -> None:
    every = names(kafka, limit=200)
    assert GROUP in every
    assert names(kafka, q="CONSUMER-processor") == [GROUP]
    assert names(kafka, resource_type="aws_dynamodb_table") == ["aws_dynamodb_table.offsets"]
    assert names(kafka, resource_type="aws_dynamodb_table", q="consumer") == []
    arn = resource_at(kafka, GROUP).identity()["arn"]
    assert not arn or names(kafka, arn=arn) == [GROUP]


def test_the_pages_are_the_whole(kafka: Stacks, twins: Stacks) -> None:
    for stacks in (kafka, twins):
        found: list[FoundResource] = []
        after, more = "", True
        while more:
            page, more = find_resources(stacks, ResourceQuery(after=after, limit=3))
            found += page
            after = f"{page[-1].stack.name}:{page[-1].address}"
        assert [each.name for each in found] == names(stacks, limit=1_000)


def test_two_stacks_with_one_address_are_told_apart(twins: Stacks) -> None:
    assert resource_at(twins, f"dev:{GROUP}").stack.name == "dev"
    with pytest.raises(Malformed, match=r"prod.*dev"):
        resource_at(twins, GROUP)
    assert names(twins, stack="dev", q="consumer-processor") == [f"dev:{GROUP}"]


def test_what_there_is_not_is_said_with_what_there_is(kafka: Stacks) -> None:
    with pytest.raises(NotFound, match="/v1/resources"):
        resource_at(kafka, "aws_sqs_queue.none")
    with pytest.raises(NotFound, match="kafka"):
        find_resources(kafka, ResourceQuery(stack="other"))
