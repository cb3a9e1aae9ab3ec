"""Reports to an OPA control plane in OPA's own forms: the status of the pulled bundle, and decisions."""

import asyncio
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import structlog

from gateway.core.errors import PolicyUnavailable
from gateway.core.outbound.client import OutboundClient
from gateway.core.outbound.response import OutboundFailure
from gateway.core.ports import LedgerQueries, RecordQuery
from gateway.core.records.decided import DecidedBody, RecordedFinding
from gateway.core.records.record import Record, Stage
from gateway.core.settings.policy import ControlPlaneSettings
from gateway.policy.pulled import PulledEngine, bundle_status

_SECONDS: Final = 30.0
_BATCH: Final = 100
_PLACE: Final = "decision-log-reported"
"""File in the data directory with the number of the last record that was reported."""
_PATH: Final = "sentinel/guardrails/result"

log = structlog.get_logger()


@dataclass(slots=True, kw_only=True)
class ControlPlane:
    """Sends status and decisions. What cannot be sent is sent later, so a decision may be reported twice and is never left out."""

    settings: ControlPlaneSettings
    engine: PulledEngine
    queries: LedgerQueries
    directory: Path
    labels: Mapping[str, str]
    client: OutboundClient = field(default_factory=lambda: OutboundClient(seconds=_SECONDS, most_bytes=64 * 1024))

    async def pull(self) -> None:
        """Look for a new bundle, and report the status if that is set."""
        await self.engine.pull()
        if self.settings.status:
            await self._post("status", bundle_status(self.settings.name, self.engine.state, self.labels))

    async def report_decisions(self) -> None:
        """Report the decisions since the last time. Raises `errors.PolicyUnavailable` if the service does not take them."""
        if not self.settings.decision_logs:
            return
        place = self.directory / _PLACE
        done = await self._reported(place)
        while found := await self.queries.records(
            RecordQuery(stage=Stage.DECIDED, after_seq=done, limit=_BATCH, newest_first=False)
        ):
            events = [event for record in found for event in decision_events(record, self.settings.name, self.labels)]
            await self._post("logs", events)
            done = found[-1].seq
            await asyncio.to_thread(place.write_text, str(done))

    async def _reported(self, place: Path) -> int:
        """The last record that was reported; at first the newest one, so that the past is not reported."""
        try:
            return int(await asyncio.to_thread(place.read_text))
        except (OSError, ValueError):
            newest = await self.queries.records(RecordQuery(stage=Stage.DECIDED, limit=1))
            seq = newest[0].seq if newest else 0
            await asyncio.to_thread(place.write_text, str(seq))
            return seq

    async def _post(self, path: str, document: object) -> None:
        headers = {**self.settings.authorization(), "content-type": "application/json"}
        body = json.dumps(document, ensure_ascii=False).encode()
        if path == "logs":
            headers["content-encoding"], body = "gzip", gzip.compress(body)
        try:
            reply = await self.client.request(
                "POST", f"{self.settings.url.rstrip('/')}/{path}", headers=headers, body=body
            )
        except OutboundFailure as error:
            raise PolicyUnavailable(
                f"The control plane did not take /{path} ({error}). It is sent again later."
            ) from error
        if not 200 <= reply.status < 300:  # noqa: PLR2004  success
            raise PolicyUnavailable(
                f"The control plane answered /{path} with status {reply.status}. It is sent again later."
            )


def decision_events(record: Record, bundle: str, labels: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The decision in the form of OPA's decision log (https://www.openpolicyagent.org/docs/management-decision-logs)."""
    body = record.body
    if not isinstance(body, DecidedBody):
        return
    decision = body.decision
    event: dict[str, Any] = {
        "labels": dict(labels),
        "decision_id": record.mutation_id,
        "bundles": {bundle: {"revision": decision.bundle}},
        "path": _PATH,
        "result": {
            "verdict": decision.verdict.value,
            "findings": _findings(decision.findings),
            "warned": _findings(decision.warned),
        },
        "requested_by": record.actor,
        "timestamp": record.at.isoformat().replace("+00:00", "Z"),
        "metrics": {},
        "req_id": record.seq,
    }
    asked = body.asked
    questions = asked.questions() if asked is not None and asked.packed else ()
    document = next((each.document for each in questions if each.entrypoint == _PATH), None)
    yield {**event, "input": document} if document is not None else {**event, "erased": ["/input"]}


def _findings(findings: Sequence[RecordedFinding]) -> list[dict[str, Any]]:
    return [
        {
            "id": each.rule,
            "verdict": each.verdict.value,
            "message": each.reason,
            "address": each.address,
            "attribute": each.attribute,
        }
        for each in findings
    ]
