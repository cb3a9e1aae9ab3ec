"""What is behind each URI, as its caller may see it."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.core.errors import NotFound
from gateway.doors.mcp.resources import PAGES, TEMPLATES, mutation_of, page_of
from gateway.doors.mcp.tool_call import McpPorts
from tests.kit.doubles import AGENT, HUMAN
from tests.kit.stacks import GROUP


async def test_the_stacks(ports: McpPorts, request_by: Any) -> None:
    page = await page_of(ports, request_by(), "sentinel://stacks")
    [stack] = page["stacks"]
    assert (stack["name"], stack["mode"], page["problems"]) == ("kafka", "enforce", [])
    assert stack["resources"] > 10


async def test_what_is_wrong_with_a_stack_is_for_people(ports: McpPorts, request_by: Any) -> None:
    snapshot = SimpleNamespace(all=(), problems=("kafka: main.tf:1: broken",))
    broken: Any = SimpleNamespace(snapshot=lambda: snapshot)
    other = replace(ports, stacks=broken)
    assert (await page_of(other, request_by(AGENT), "sentinel://stacks"))["problems"] == []
    assert (await page_of(other, request_by(HUMAN), "sentinel://stacks"))["problems"]


async def test_the_policies(ports: McpPorts, request_by: Any) -> None:
    page = await page_of(ports, request_by(), "sentinel://policies")
    assert page["rules"] == [{"rule": "SEN-1", "title": "A title", "source": "a.rego:1"}]


@pytest.mark.parametrize("uri", [f"sentinel://context/{GROUP}?attribute=max_size", f"sentinel://context/{GROUP.replace('.', '%2E')}?attribute=max_size"])  # fmt: skip
async def test_the_context_of_a_resource(ports: McpPorts, request_by: Any, uri: str) -> None:
    page = await page_of(ports, request_by(), uri)
    assert (page["address"], [each["attribute"] for each in page["attributes"]]) == (GROUP, ["max_size"])


@pytest.mark.parametrize("uri", ["sentinel://nope", "sentinel://context/aws_lb.none", "file:///etc/passwd", "sentinel://mutations/../x", ""])  # fmt: skip
async def test_there_is_nothing_else(ports: McpPorts, request_by: Any, uri: str) -> None:
    with pytest.raises(NotFound) as raised:
        await page_of(ports, request_by(), uri)
    assert "passwd" not in str(raised.value)


@pytest.mark.parametrize(
    ("uri", "mutation"),
    [
        ("sentinel://mutations/mut_01m7xz6hz9", "mut_01m7xz6hz9"),
        ("sentinel://mutations/", None),
        ("sentinel://mutations/mut_A", None),
        ("sentinel://mutations/mut_1/x", None),
        ("mut_1", None),
    ],
)
def test_the_mutation_of_a_uri(uri: str, mutation: str | None) -> None:
    assert mutation_of(uri) == mutation


def test_every_uri_says_what_it_is() -> None:
    assert all(page[0] for page in PAGES.values())
    assert all(TEMPLATES.values())
