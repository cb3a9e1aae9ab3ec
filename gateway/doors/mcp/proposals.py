"""Proposes a change by the same line as every door, and answers with the decision, the counter-offer, and how to wait."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import structlog

from gateway.core.errors import SentinelError
from gateway.core.model.caller import Caller
from gateway.core.model.inbound import Inbound
from gateway.core.model.mutation import Door
from gateway.core.model.outcome import Applied, Failed, InDoubt, Refused
from gateway.core.model.verdict import Decision, Verdict
from gateway.core.off_loop import BYTES_OF_AN_EFFECT, off_loop
from gateway.core.ports import Request, RequestDecoder
from gateway.doors.api.mutations import follow_mutation, response_to_json
from gateway.doors.api.ports import told
from gateway.doors.mcp.arguments import DryRunMutation, ProposeMutation
from gateway.doors.mcp.tool_call import McpPorts, ToolAnswer, ToolRequest
from gateway.line.pipeline import MutationResult
from gateway.line.withheld import withheld_names
from gateway.presentation.refusal import in_doubt_text, refusal_text
from gateway.presentation.serialize import decision_to_json, finding_to_json, mutation_to_json, outcome_to_json

log = structlog.get_logger()

RETRY_AFTER: Final = 30
"""Seconds after which an agent should ask again about a change that waits for a human."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The authenticator of a request whose caller this door has authenticated."""

    caller: Caller

    async def authenticate(self, inbound: Inbound) -> Caller:  # noqa: ARG002  the protocol's shape
        """The caller."""
        return self.caller


@dataclass(frozen=True, slots=True)
class _ToolDecoder:
    """Decodes a proposal as the API does; the record names this door."""

    decoder: RequestDecoder

    async def read(self, inbound: Inbound, caller: Caller) -> Request:
        """The request. Raises as the API's decoder."""
        return replace(await self.decoder.read(inbound, caller), door=Door.MCP)


async def dry_run(ports: McpPorts, request: ToolRequest, given: DryRunMutation) -> ToolAnswer:
    """The decision that the change would get; nothing changes."""
    return await _propose(ports, request, given, dry_run=True)


async def propose(ports: McpPorts, request: ToolRequest, given: ProposeMutation) -> ToolAnswer:
    """The result of the change; with `wait_seconds`, once a human has decided if it is held."""
    answer = await _propose(ports, request, given, key=given.idempotency_key)
    held = answer.content.get("held")
    if held is None or not given.wait_seconds:
        return answer
    state = await wait_for_decision(ports, request.caller, held["mutation_id"], given.wait_seconds)
    return replace(answer, content={**answer.content, "state": state["state"], "held": {**held, **_next(state)}})


async def wait_for_decision(ports: McpPorts, caller: Caller, mutation_id: str, seconds: float) -> dict[str, Any]:
    """The state and records of a mutation, as soon as it is decided. Raises `errors.NotFound`, `errors.Overloaded`."""
    found = await follow_mutation(ports.api, caller, mutation_id, seconds)
    return {**found, "url": ports.console_url(mutation_id), **_next(found)}


def _next(found: Mapping[str, Any]) -> dict[str, str]:
    """The next step for the agent, as a sentence."""
    match found["state"]:
        case "approved":
            return {"next": "A human approved it. Repeat the identical call: it passes once."}
        case "rejected":
            return {"next": "A human rejected it. Do not repeat it; explain_decision says why."}
        case "held":
            return {"next": "It waits for a human still. Ask again with wait_for_decision."}
        case "in_flight" | "in_doubt":
            return {"next": "Whether AWS carried it out is not known yet. Do not send it again; ask again."}
        case _:
            return {"next": "Nothing waits for it."}


async def _propose(
    ports: McpPorts, request: ToolRequest, given: DryRunMutation, *, dry_run: bool = False, key: str = ""
) -> ToolAnswer:
    api, caller = ports.api, request.caller
    inbound = _inbound(request.inbound, given, dry_run=dry_run, key=key)
    _, proposal = await api.pipeline.admit(inbound, _Known(caller), _ToolDecoder(api.decoder))
    try:
        result = await api.pipeline.execute(caller, proposal)
        size = BYTES_OF_AN_EFFECT * len(result.mutation.effects)
        return await off_loop(size, lambda: _answer(ports, result, passed=given.passed_checks))
    except SentinelError:
        raise
    except Exception:
        log.exception("proposal_broke", service=proposal.call.service, operation=proposal.call.operation)
        detail = "Sentinel had an internal error. Look at the history of the resource before you send the call again."
        return ToolAnswer(content={"code": "outcome_unknown", "detail": detail, "retry_safe": False}, is_error=True)


def _inbound(inbound: Inbound, given: DryRunMutation, *, dry_run: bool, key: str) -> Inbound:
    """The proposal as a request of the API, from the same sender."""
    members = given.model_dump(mode="json", include={"service", "operation", "parameters", "region", "motive"})
    body = json.dumps({**members, "dry_run": dry_run}).encode()
    kept = [(name, value) for name, value in inbound.headers if name in ("user-agent", "authorization")]
    own = [("content-type", "application/json"), *([("idempotency-key", key)] if key else [])]

    async def read_body() -> bytes:
        return body

    return replace(inbound, headers=(*kept, *own), read_body=read_body)


def _answer(ports: McpPorts, result: MutationResult, *, passed: bool) -> ToolAnswer:
    mutation, decision, outcome = result.mutation, result.decision, result.outcome
    verdict = decision.verdict.value if decision else "repeated"
    members: dict[str, Any] = {
        "mutation_id": mutation.id,
        "verdict": verdict,
        "outcome": "dry_run" if outcome is None else outcome_to_json(outcome)["outcome"],  # type: ignore[index]  # it has one
        "detail": _detail(result),
        "mutation": mutation_to_json(mutation),
        "decision": None if decision is None else _decision(decision, passed=passed),
        "offers": _offers(decision),
        "url": ports.console_url(mutation.id),
    }
    if isinstance(outcome, Applied):
        members["response"] = response_to_json(ports.api, mutation.call, outcome.reply)
        if withheld := withheld_names(outcome.reply):
            members["withheld"] = withheld
    if isinstance(outcome, Refused) and outcome.decision.verdict is Verdict.HOLD:
        members["held"] = {
            "mutation_id": mutation.id,
            "url": ports.console_url(mutation.id),
            "retry_after_seconds": RETRY_AFTER,
            "next": "A human must decide. Wait with wait_for_decision; once approved, repeat the identical call: it passes once.",
        }
    # That a change would be denied is what a dry run asks, so it is no error.
    denied = verdict == Verdict.DENY.value and not isinstance(outcome, Applied | None)
    failed = isinstance(outcome, Failed | InDoubt) or denied
    return ToolAnswer(content=told(mutation.caller, members), is_error=failed)


def _decision(decision: Decision, *, passed: bool) -> dict[str, Any]:
    """The decision; the findings that allow only if they are asked for, because a model reads each word."""
    document = decision_to_json(decision)
    kept = [each for each in document["findings"] if passed or each["verdict"] != Verdict.ALLOW.value]
    return {**document, "findings": kept}


def _detail(result: MutationResult) -> str:
    mutation, decision, outcome = result.mutation, result.decision, result.outcome
    match outcome:
        case None if decision is not None and decision.objections:
            return f"Only judged, nothing was sent. {refusal_text(mutation, decision)}"
        case None:
            return "Only judged, nothing was sent. It would be carried out."
        case Applied():
            return "AWS carried it out."
        case Refused():
            return refusal_text(mutation, outcome.decision)
        case Failed():
            return f"AWS refused the call: {outcome.code}: {outcome.message} Nothing changed."
        case InDoubt():
            return in_doubt_text(mutation, outcome)


def _offers(decision: Decision | None) -> list[dict[str, Any]]:
    """Each objection with what would be accepted instead: the nearest value, or who holds it and when to come back."""
    findings = decision.objections if decision else ()
    return [{"offer": None, **finding_to_json(finding)} for finding in findings]
