"""Who sees which claims: people all, agents their own and those on the resource they name, without another's words."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.core.model.caller import Caller
from gateway.doors.api import resources
from gateway.doors.api.claims import visible_claims
from tests.kit.context_reader import claim, reader
from tests.kit.doubles import AGENT, HUMAN
from tests.kit.stacks import GROUP


class _Store:
    """Has a claim of the agent and one of a rival."""

    async def claims(self, **query: Any) -> Sequence[Any]:
        return [claim(actor="agent"), claim("max_size")]

    async def shown(self, caller: Caller, **query: Any) -> list[Any]:
        return []


async def _none_archived() -> dict[str, Any]:
    return {}


PORTS: Any = SimpleNamespace(queries=_Store(), time_boxes=_Store(), readers=reader(), archived=_none_archived)


@pytest.mark.parametrize(
    ("caller", "address", "actors"),
    [(HUMAN, "", ["agent", "rival"]), (AGENT, "", ["agent"]), (AGENT, GROUP, ["agent", "rival"])],
)
async def test_who_sees_which_claims(caller: Caller, address: str, actors: list[str]) -> None:
    answer = await visible_claims(PORTS, caller, address=address)
    assert [each["actor"] for each in answer["claims"]] == actors
    assert answer["left_off"] == ""


async def test_an_agent_sees_the_goal_of_another_and_all_of_its_own() -> None:
    own, others = (await visible_claims(PORTS, AGENT, address=GROUP))["claims"]
    assert (own["motive"]["text"], others["motive"]) == (
        "lag grows",
        {"intent": "availability", "motivation": "incident"},
    )
    _, seen = (await visible_claims(PORTS, HUMAN, address=GROUP))["claims"]
    assert seen["motive"]["evidence"] == ["A-1"]


async def test_the_readers_are_asked_as_the_caller() -> None:
    assert (await resources.resource_context(PORTS, AGENT, GROUP, "max_size"))["signals"] == []
    found = await resources.resources(PORTS, AGENT, q="consumer-processor")
    assert found["resources"][0]["address"] == GROUP
    assert (await resources.history(PORTS, AGENT, GROUP))["history"] == []
