"""The author of an agent: her program scales the shop, reads refusals and mends itself, and what it did is in the code afterwards."""

import asyncio
import json
from typing import Any

import pytest
from botocore.exceptions import ClientError
from mcp_types import CallToolResult

from tests.kit.mcp import mcp_client_at
from tests.system.users.conftest import Shop, mutation_of

pytestmark = [
    *(pytest.mark.system, pytest.mark.terraform, pytest.mark.slow, pytest.mark.long),
    pytest.mark.allow_hosts(["127.0.0.1"]),
]

SERVICE = "module.api.aws_ecs_service.this"
WHY = ("--intent", "availability", "--motivation", "incident", "--evidence", "ALERT-7")


def test_an_agent_scales_the_shop(shop: Shop) -> None:
    without_a_motive_she_learns_how_to_state_one(shop)
    a_refusal_carries_the_nearest_legal_value(shop)
    scaled = her_program_scales_the_service(shop)
    another_agent_wants_less_and_is_told_who_holds_it(shop)
    a_session_is_never_longer_than_asked_for(shop)
    for_an_hour = a_change_for_a_time_is_extended_and_ended(shop)
    tools_answer_as_her_model_reads_them(shop)
    shop.written(scaled, for_an_hour)
    shop.ends_well()
    assert "default     = 4" in (shop.code / "main.tf").read_text()


def scale(client: Any, tasks: int) -> dict[str, Any]:
    answer: dict[str, Any] = client.update_service(cluster="shop", service="shop-api", desiredCount=tasks)
    return answer


def without_a_motive_she_learns_how_to_state_one(shop: Shop) -> None:
    """The refusal is the SDK's own exception, and its message names both ways to say why."""
    with pytest.raises(ClientError) as refused:
        scale(shop.client("agent", "ecs"), 3)
    message = str(refused.value)
    assert "SEN-M001" in message
    assert "x-sentinel-intent" in message
    assert "sentinel session --intent" in message


def a_refusal_carries_the_nearest_legal_value(shop: Shop) -> None:
    """In a header as JSON, so that a program need not read sentences."""
    with pytest.raises(ClientError) as refused:
        scale(shop.client("agent", "ecs", intent="availability", motivation="incident"), 9)
    headers = refused.value.response["ResponseMetadata"]["HTTPHeaders"]
    [offer] = json.loads(headers["x-sentinel-offer"])
    assert (offer["address"], offer["attribute"], offer["nearest"]) == (SERVICE, "desired_count", 6)
    assert "shop.sentinel.hcl:" in str(refused.value)
    explained = shop.sentinel("agent", "explain", mutation_of(str(refused.value))).stdout
    assert "The nearest legal value of desired_count" in explained


def her_program_scales_the_service(shop: Shop) -> str:
    """AWS's own answer; then the same through the command line, where the value repeats."""
    program = shop.client("agent", "ecs", intent="availability", motivation="incident; evidence=ALERT-7")
    assert scale(program, 4)["service"]["desiredCount"] == 4
    claim = next(each for each in shop.json("agent", "claims")["claims"] if each["address"] == SERVICE)
    assert (claim["attribute"], claim["value"], claim["actor"]) == ("desired_count", 4, "agent-scaler")
    return str(claim["mutation_id"])


def another_agent_wants_less_and_is_told_who_holds_it(shop: Shop) -> None:
    """Her rival cannot undo it. If it asks for exactly what is there, it agrees: that is allowed, and takes no claim."""
    cheaper = ("--intent", "cost", "--motivation", "budget")
    wanted = {"cluster": "shop", "service": "shop-api", "desiredCount": 2}
    refused = shop.propose("optimizer", "ecs:UpdateService", wanted, *cheaper, code=1)
    assert "is held by agent-scaler" in json.dumps(refused)
    agreed = shop.propose("optimizer", "ecs:UpdateService", {**wanted, "desiredCount": 4}, *cheaper)
    assert agreed["outcome"]["outcome"] == "applied"
    holders = {each["actor"] for each in shop.json("human", "claims")["claims"] if each["address"] == SERVICE}
    assert holders == {"agent-scaler"}


def a_session_is_never_longer_than_asked_for(shop: Shop) -> None:
    """A hundred days are refused, not shortened."""
    refused = shop.sentinel("agent", "session", "--intent", "cost", "--motivation", "budget", "--for", "100d", code=1)
    assert "twelve hours at most" in refused.stderr
    printed = shop.sentinel("agent", "session", "--intent", "cost", "--motivation", "budget", "--lasts", "1h").stdout
    assert "export AWS_ACCESS_KEY_ID=SNTS" in printed


def a_change_for_a_time_is_extended_and_ended(shop: Shop) -> str:
    """One word says how long a change is wanted: `--wanted-for`; `extend` moves the claim with it."""
    url = "http://127.0.0.1/123456789012/shop-refunds"
    longer = {"QueueUrl": url, "Attributes": {"VisibilityTimeout": "120"}}
    mutation = str(
        shop.propose("agent", "sqs:SetQueueAttributes", longer, *WHY, "--wanted-for", "1h")["mutation"]["id"]
    )
    before = claim_of(shop, mutation)
    shop.sentinel("agent", "extend", mutation, "--wanted-for", "2h", "--reason", "the backlog is long")
    after = claim_of(shop, mutation)
    assert before["goes_back_at"] < after["goes_back_at"] <= after["until"]
    shop.sentinel("agent", "end", mutation, "--reason", "done")
    queue = shop.client("agent", "sqs")

    def visibility() -> str:
        return str(queue.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]["VisibilityTimeout"])

    shop.wait_until(lambda: visibility() == "60", "the queue has its value from before")
    return mutation


def claim_of(shop: Shop, mutation: str) -> dict[str, Any]:
    """The claim of a mutation on its one attribute."""
    [found] = [each for each in shop.json("agent", "claims")["claims"] if each["mutation_id"] == mutation]
    claim: dict[str, Any] = found
    return claim


def tools_answer_as_her_model_reads_them(shop: Shop) -> None:
    """MCP: a denied dry run is an answer and no error, and it leaves out what passed."""
    asked = {
        "service": "ecs",
        "operation": "UpdateService",
        "parameters": {"cluster": "shop", "service": "shop-api", "desiredCount": 99},
        "motive": {"intent": "availability", "motivation": "incident"},
    }

    async def ask() -> tuple[CallToolResult, set[str]]:
        bearer = {"Authorization": f"Bearer {shop.key('agent').token}"}
        async with mcp_client_at(shop.credentials.url, bearer) as client:
            tools = await client.list_tools()
            return await client.call_tool("dry_run_mutation", asked), {each.name for each in tools.tools}

    answer, tools = asyncio.run(ask())
    assert {"extend_change", "end_change"} <= tools
    assert not answer.is_error
    assert answer.structured_content is not None
    assert answer.structured_content["verdict"] == "deny"
    assert "bounds.passed" not in json.dumps(answer.structured_content)
