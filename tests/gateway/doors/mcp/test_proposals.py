"""What became of a proposal, in words and members; whole proposals are played in test_server.py."""

import json
from typing import Any

import pytest
from structlog.testing import capture_logs

from gateway.core.errors import NotFound
from gateway.core.model.outcome import Failed, InDoubt, Refused
from gateway.core.model.verdict import Decision, Finding, Verdict
from gateway.doors.mcp.arguments import DryRunMutation, ProposeMutation
from gateway.doors.mcp.proposals import _answer, _inbound, _next, propose, wait_for_decision
from gateway.doors.mcp.tool_call import McpPorts
from gateway.line.pipeline import MutationResult
from tests.kit import nouns
from tests.kit.doubles import AGENT, CALL

MUTATION = nouns.mutation(id="mut_1", caller=AGENT, call=CALL)
ALLOWED = Decision(findings=(Finding(check="a", verdict=Verdict.ALLOW, rule="a.passed", reason="Fine."),))


@pytest.mark.parametrize(
    ("outcome", "word", "says"),
    [
        (Failed(code="Denied", message="No."), "failed", "AWS refused the call: Denied: No. Nothing changed."),
        (InDoubt(reason="Cut off."), "in_doubt", "is not sent again"),
    ],
)
def test_what_went_wrong_is_an_error_with_a_sentence(ports: McpPorts, outcome: Any, word: str, says: str) -> None:
    answer = _answer(ports, MutationResult(mutation=MUTATION, decision=ALLOWED, outcome=outcome), passed=False)
    assert (answer.is_error, answer.content["outcome"]) == (True, word)
    assert says in answer.content["detail"]


def test_a_dry_run_that_would_pass(ports: McpPorts) -> None:
    answer = _answer(ports, MutationResult(mutation=MUTATION, decision=ALLOWED, outcome=None), passed=False)
    assert (answer.is_error, answer.content["verdict"], answer.content["offers"]) == (False, "allow", [])
    assert "would be carried out" in answer.content["detail"]


def test_a_dry_run_that_would_be_denied_is_an_answer_and_no_error(ports: McpPorts) -> None:
    denied = Decision(findings=(*ALLOWED.findings, Finding(check="b", verdict=Verdict.DENY, rule="b.no", reason="No.")))
    result = MutationResult(mutation=MUTATION, decision=denied, outcome=None)
    answer = _answer(ports, result, passed=False)
    assert (answer.is_error, answer.content["verdict"]) == (False, "deny")
    assert [each["rule"] for each in answer.content["decision"]["findings"]] == ["b.no"]
    every = _answer(ports, result, passed=True).content["decision"]["findings"]
    assert [each["rule"] for each in every] == ["a.passed", "b.no"]
    refused = _answer(
        ports, MutationResult(mutation=MUTATION, decision=denied, outcome=Refused(decision=denied)), passed=False
    )
    assert refused.is_error


@pytest.mark.parametrize("state", ["approved", "rejected", "held", "in_flight", "in_doubt", "applied", None])
def test_each_state_has_a_next_step(state: str | None) -> None:
    assert _next({"state": state})["next"].endswith(".")


async def test_the_proposal_is_a_request_of_the_api_from_the_same_sender(request_by: Any) -> None:
    inbound = request_by().inbound
    given = ProposeMutation(service="sqs", operation="PurgeQueue", parameters={"QueueUrl": "u"}, wait_seconds=3)
    made = _inbound(inbound, given, dry_run=True, key="k-1")
    body = json.loads(await made.read_body())
    assert body == {
        "service": "sqs",
        "operation": "PurgeQueue",
        "parameters": {"QueueUrl": "u"},
        "region": "",
        "motive": None,
        "dry_run": True,
    }
    assert (made.header("idempotency-key"), made.header("content-type"), made.target) == ("k-1", "application/json", "/mcp")  # fmt: skip
    assert _inbound(inbound, DryRunMutation(service="s", operation="o", parameters={}), dry_run=True, key="").header("idempotency-key") is None  # fmt: skip


async def test_a_proposal_that_breaks_may_have_been_sent(ports: McpPorts, request_by: Any) -> None:
    class Broken:
        """Admits everything and breaks."""

        async def admit(self, inbound: Any, authenticator: Any, decoder: Any) -> Any:
            assert await authenticator.authenticate(inbound) is AGENT
            proposal = type("P", (), {"call": CALL})()
            return AGENT, proposal

        async def execute(self, caller: Any, proposal: Any) -> Any:
            raise KeyError("hunter2")

    api: Any = ports.api
    api.pipeline, api.decoder = Broken(), None
    with capture_logs() as logged:
        answer = await propose(ports, request_by(), ProposeMutation(service="s", operation="o", parameters={}))
    assert (answer.is_error, answer.content["code"], answer.content["retry_safe"]) == (True, "outcome_unknown", False)
    assert "hunter2" not in str(answer.content)
    assert [each["event"] for each in logged] == ["proposal_broke"]


async def test_a_mutation_that_the_caller_may_not_see_is_not_found(ports: McpPorts) -> None:
    async def no_records(caller: Any, query: Any) -> tuple[()]:
        return ()

    async def none_archived() -> str:
        return ""

    api: Any = ports.api
    api.visible_records, api.older = no_records, none_archived
    with pytest.raises(NotFound):
        await wait_for_decision(ports, AGENT, "mut_1", 0)
