"""Figures of the console: `python -m tests.bench console`, one JSON object a figure.

How long a page takes at a gateway whose ledger has a million records (`--records N`), what a first visit loads, and what the feed costs a
real browser at 1,000 records a second: how busy its main thread is, how its heap grows, and what an idle page costs.
"""

import argparse
import logging
import tempfile
import time
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import structlog
from playwright.sync_api import CDPSession, Page

from gateway.doors.console.static_files import static_files
from gateway.ledger.transaction import Transaction
from gateway.model.caller import ActorKind
from gateway.model.json import Json
from gateway.model.record import Record, Stage
from tests.bench.figure import quantile, show
from tests.kit.chromium import a_browser, a_page
from tests.kit.console import held, visitor
from tests.kit.gate import Gate

_AT_ONCE = 1_000
_ROUNDS = 15
_SECONDS = 20
RESOURCE = "aws_autoscaling_group.kafka_consumer"
PAGES = {
    "feed": "feed",
    "feed_of_an_actor": "feed?actor=actor-13",
    "feed_of_a_resource": "feed?resource=aws_sqs_queue.q77",
    "feed_deep": "feed?before=1000",
    "approvals": "approvals",
    "mutation": "",
    "claims": "claims",
    "resource": f"resource?address={RESOURCE}",
    "drift": "drift",
    "write_back": "write-back",
    "actors": "actors",
    "actor": "actors/actor-13",
    "policy": "policy",
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    arguments = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with tempfile.TemporaryDirectory() as directory, Gate(Path(directory)) as gate:
        gate.issue("ana", kind=ActorKind.HUMAN, roles=("approver", "operator"))
        gate.issue("actor-13")
        _grow(gate, arguments.records)
        mutation = [held(gate) for _ in range(12)][-1]
        _pages(gate, arguments.records, mutation)
        _live(gate)


def _body(number: int) -> dict[str, Json]:
    """A decision as large as most."""
    address = f"aws_sqs_queue.q{number % 1_009}"
    effect: Json = {"address": address, "attribute": "tags", "action": "set", "value": number, "before": None}
    finding: Json = {
        "check": "bounds",
        "verdict": "deny",
        "rule": "bounds.max",
        "reason": "Too high.",
        "address": address,
    }
    return {
        "caller": {"kind": "agent"},
        "call": {"service": "sqs", "operation": "TagQueue", "parameters": {"padding": "x" * 700}},
        "motive": {"intent": "cost", "motivation": "budget", "text": "", "evidence": [], "wanted_seconds": None},
        "effects": [effect],
        "decision": {"verdict": "deny", "findings": [finding], "mode": "enforce"},
    }


def _append(transaction: Transaction, start: int, count: int) -> None:
    now = datetime.now(UTC)
    for number in range(start, start + count):
        record = Record(
            stage=Stage.DECIDED, at=now, mutation_id=f"mut_{number}", actor=f"actor-{number % 97}", body=_body(number)
        )
        transaction.append(record, resources=[(f"aws_sqs_queue.q{number % 1_009}", "tags")])


def _grow(gate: Gate, records: int) -> None:
    for start in range(0, records, _AT_ONCE):
        gate.run(gate.ledger.write(partial(_append, start=start, count=_AT_ONCE)))


def _pages(gate: Gate, records: int, mutation: str) -> None:
    """The time from a request to the end of its answer within the gateway; the floor is the page that says there is no such page."""
    cookie = "; ".join(f"{each.name}={each.value}" for each in visitor(gate, "ana").cookies.jar)

    def p50(path: str) -> float:
        times = [gate.run(_served(gate, path, cookie))[0] for _ in range(_ROUNDS + 1)]
        return quantile(times[1:], 0.5) * 1e3

    floor = p50("nothing")
    for name, path in {**PAGES, "mutation": f"mutations/{mutation}"}.items():
        show(f"console.page.{name}.p50", p50(path), "ms", floor=floor, n=records)
    size = gate.run(_served(gate, "feed", cookie))[1]
    first = size + sum(len(file.content) for file in static_files().values())
    show("console.first_load", first / 1024, "KB", n=len(static_files()) + 1)


async def _served(gate: Gate, path: str, cookie: str) -> tuple[float, int]:
    """How long the gateway took for a page, and its size."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    name, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": f"/console/{name}",
        "raw_path": f"/console/{name}".encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(b"host", b"localhost"), (b"cookie", cookie.encode())],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 1),
    }
    began = time.perf_counter()
    await gate.app(scope, receive, send)
    took = time.perf_counter() - began
    assert sent[0]["status"] == (HTTPStatus.NOT_FOUND if name == "nothing" else HTTPStatus.OK), path
    return took, sum(len(message.get("body", b"")) for message in sent)


def _live(gate: Gate) -> None:
    """What an open feed costs a browser: while nothing happens, and at a thousand records a second."""
    with a_browser() as browser, a_page(browser, gate, "ana") as page:
        page.goto("/console/feed")
        page.wait_for_timeout(3_000)
        measured = page.context.new_cdp_session(page)
        measured.send("Performance.enable", {"timeDomain": "threadTicks"})
        show("console.idle.busy", _busy(page, measured, _SECONDS, lambda _: None), "share", n=_SECONDS)
        heap = _heap(measured)
        written = 0

        def write(_: float) -> None:
            nonlocal written
            start = 2_000_000 + written
            gate.run(gate.ledger.write(lambda transaction: _append(transaction, start, 250)))
            written += 250

        show("console.feed.busy", _busy(page, measured, _SECONDS, write), "share", n=written)
        middle = _heap(measured)
        _busy(page, measured, _SECONDS, write)
        show("console.feed.heap", _heap(measured), "MB", floor=middle, n=written)
        show("console.feed.heap_at_rest", heap, "MB", n=1)
        assert "new since" in page.locator("#count").inner_text()


def _busy(page: Page, measured: CDPSession, seconds: int, four_times_a_second: Any) -> float:
    """The share of the time in which the page's main thread used a processor."""
    began, before = time.monotonic(), _metrics(measured)
    while (passed := time.monotonic() - began) < seconds:
        four_times_a_second(passed)
        page.wait_for_timeout(max(1.0, 250 - (time.monotonic() - began - passed) * 1e3))
    return (_metrics(measured)["TaskDuration"] - before["TaskDuration"]) / (time.monotonic() - began)


def _metrics(measured: CDPSession) -> dict[str, float]:
    return {each["name"]: each["value"] for each in measured.send("Performance.getMetrics")["metrics"]}


def _heap(measured: CDPSession) -> float:
    """Megabytes in use after a collection."""
    measured.send("HeapProfiler.collectGarbage")
    return _metrics(measured)["JSHeapUsedSize"] / 1e6


if __name__ == "__main__":
    main()
