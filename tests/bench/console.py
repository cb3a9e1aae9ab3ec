"""Figures of the console: `python -m tests.bench console`, one JSON object a figure.

How long a page takes at a gateway whose ledger has a million records (`--records N`), what a first visit loads, and what the feed costs a
real browser at 1,000 records a second: how busy its main thread is, how its heap grows, and what an idle page costs.
"""

import argparse
import gc
import logging
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import structlog
from playwright.sync_api import CDPSession, Page
from sqlalchemy import insert

from gateway.core.model.approval import HoldState
from gateway.core.model.caller import ActorKind
from gateway.core.model.claim import Claim
from gateway.core.model.ids import new_id
from gateway.core.model.json import canonical_text
from gateway.core.settings.stacks import StackSettings
from gateway.doors.console.rendering import static_files
from gateway.ledger.store.serialize import claim_to_row
from gateway.ledger.store.statements import Statement, Values
from gateway.ledger.store.tables import CLAIMS, HOLDS, SIGNALS, VALUES
from gateway.ledger.store.timestamps import to_text
from gateway.ledger.store.transaction import Transaction
from tests.bench.figure import quantile, show
from tests.bench.records import append_records
from tests.kit.chromium import a_browser, a_page
from tests.kit.console import PROPOSAL, held, visitor
from tests.kit.gate import Gate
from tests.kit.many_resources import write_many_resources

_AT_ONCE = 1_000
_ROUNDS = 15
_WAITING = 12
"""Held calls that wait for a person."""
_COUNT_MESSAGES = """() => {
  window.messages = 0;
  new MutationObserver(() => { window.messages += 1; }).observe(document.getElementById("count"), { childList: true });
}"""
_SECONDS = 20
RESOURCE = "aws_autoscaling_group.kafka_consumer"
_BETWEEN = timedelta(seconds=0.864)
"""Between two records: a hundred thousand are a day's."""
_SIGNALS = 20
_CLAIM = Statement(insert(CLAIMS))
_VALUE = Statement(insert(VALUES))
_SIGNAL = Statement(insert(SIGNALS))
_HOLD = Statement(insert(HOLDS))
PAGES = {
    "feed": "feed",
    "feed_of_an_actor": "feed?actor=actor-13",
    "feed_of_an_actor_and_stage": "feed?actor=actor-13&stage=decided",
    "feed_of_a_stranger": "feed?actor=nobody&stage=decided",
    "feed_of_refusals": "feed?refused=true",
    "feed_without_evidence": "feed?no_evidence=true",
    "feed_of_a_motive": "feed?intent=cost&verdict=deny",
    "feed_of_nothing": "feed?stage=settled&verdict=deny",
    "feed_of_many_resources": "feed?resource=aws_",
    "overview": "",
    "changes": "changes",
    "changes_denied": "changes?verdict=deny",
    "changes_of_words": "changes?q=nowhere",
    "feed_of_a_resource": "feed?resource=aws_sqs_queue.q77",
    "feed_deep": "feed?before=1000",
    "approvals": "approvals",
    "approvals_all": "approvals?state=all",
    "mutation": "",
    "claims": "claims",
    "claims_all": "claims?every=true",
    "resource": f"resource?address={RESOURCE}",
    "drift": "drift",
    "write_back": "write-back",
    "actors": "actors",
    "actor": "actors/actor-13",
    "policy": "policy",
    "policy_90_days": "policy?span=90d",
    "policy_rule": "policy/rules/SEN-C001",
    "policy_numbers": "policy/numbers",
    "who_wins": "policy/who-wins",
    "contests": "contests",
    "resources": "resources",
    "map": "map",
    "map_of_1000": "map?stack=large",
    "map_of_1000_opened": "map?stack=large&open=module.cell_1&open=module.cell_1/aws_instance&open=module.cell_2",
    "replay": "replay",
    "ledger": "ledger",
    "playground": "playground?policy=data/disruption.json",
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--pages-only", action="store_true", help="without the figures of a real browser")
    parser.add_argument(
        "--data", type=Path, help="a ledger that is kept: it is made if it is not there, and used again else"
    )
    arguments = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with tempfile.TemporaryDirectory() as directory:
        addresses = write_many_resources(Path(directory) / "large")
        large = StackSettings(name="large", path=Path(directory) / "large")
        with Gate(Path(directory), data=arguments.data, replays=False, more_stacks=(large,)) as gate:
            gate.issue("ana", kind=ActorKind.HUMAN, roles=("approver", "operator"))
            gate.issue("actor-13")
            if gate.run(gate.ledger.changed_since(-1))[0] < arguments.records:
                _grow(gate, addresses, arguments.records)
            # A ledger that is used again has them already: an agent may have only so many that wait.
            waiting = gate.run(gate.ledger.holds(state=HoldState.OPEN, actor="", stack="", limit=_WAITING))
            there = [_held(gate, number) for number in range(_WAITING - len(waiting))]
            mutation = there[-1] if there else waiting[0].mutation_id
            _pages(gate, arguments.records, mutation)
            if not arguments.pages_only:
                _live(gate)


def _grow(gate: Gate, addresses: Sequence[str], records: int) -> None:
    """Records of the last days; a claim for each third one, of which the newest thousand are open; a held call for each twentieth, all answered.

    Of the stack of a thousand resources each has a claim, a third an applied value that the code does not declare. The chain holds.
    """
    now = datetime.now(UTC)

    def at(number: int) -> datetime:
        return now - (records - number) * _BETWEEN

    for start in range(0, records, _AT_ONCE):
        gate.run(gate.ledger.write(partial(append_records, start=start, count=_AT_ONCE, at=at)))
    claims = records // 3
    for start in range(0, claims, _AT_ONCE):
        rows = [
            _claim(number, addresses, now - (claims - number) * _BETWEEN * 3, claims - _AT_ONCE)
            for number in range(start, start + _AT_ONCE)
        ]
        gate.run(gate.ledger.write(partial(_insert, _CLAIM, rows)))
    gate.run(
        gate.ledger.write(
            partial(_insert, _VALUE, [_value(number, each) for number, each in enumerate(addresses[::3])])
        )
    )
    gate.run(gate.ledger.write(partial(_insert, _SIGNAL, [_signal(number) for number in range(_SIGNALS)])))
    _held(gate, -1)
    summary = canonical_text(gate.run(gate.ledger.holds(state=HoldState.OPEN, actor="", stack="", limit=1))[0].summary)
    for start in range(0, records // 20, _AT_ONCE):
        rows = [_hold(number, at(number * 20), summary) for number in range(start, start + _AT_ONCE)]
        gate.run(gate.ledger.write(partial(_insert, _HOLD, rows)))


def _held(gate: Gate, number: int) -> str:
    """A held call, different from the others; its mutation."""
    return held(gate, parameters={**PROPOSAL["parameters"], "ReplayName": f"bench{number}"})


def _insert(statement: Statement, rows: list[Values], transaction: Transaction) -> None:
    transaction.change_each(statement, rows)


def _claim(number: int, addresses: Sequence[str], since: datetime, ended: int) -> Values:
    claim = Claim(
        id=new_id("clm"),
        mutation_id=f"mut_{number}",
        address=addresses[number % len(addresses)],
        attribute=f"tags.t{number}",
        value=number,
        actor=f"actor-{number % 97}",
        kind=ActorKind.AGENT,
        motive=None,
        since=since,
        until=None,
        proof=(f"sig_{number % _SIGNALS}",) if number % 3 == 0 else (),
    )
    at = to_text(since + timedelta(seconds=1))
    return claim_to_row(claim) | {"unsettled": 0} | ({"ended_at": at, "end": "superseded"} if number < ended else {})


def _value(number: int, address: str) -> Values:
    at = to_text(datetime.now(UTC))
    value = {"address": address, "attribute": "tags", "value": canonical_text({"n": str(number)})}
    return {**value, "mutation_id": f"mut_{number}", "at": at, "seq": number}


def _signal(number: int) -> Values:
    at = to_text(datetime.now(UTC))
    texts = {"source": "alerts", "key": str(number), "name": f"ConsumerLag{number}", "service": "kafka"}
    times = {"at": at, "since": at, "heard_at": at}
    return {"id": f"sig_{number}", **texts, "state": "open", **times, "labels": "{}", "refs": "[]", "scopes": "[]"}


def _hold(number: int, at: datetime, summary: str) -> Values:
    return {
        "mutation_id": f"mut_{number}",
        "at": to_text(at),
        "actor": f"actor-{number % 97}",
        "on_behalf_of": "",
        "stack": "kafka",
        "call_digest": f"{number:064x}",
        "summary": summary,
        "state": "rejected",
        "binding": "",
    }


def _pages(gate: Gate, records: int, mutation: str) -> None:
    """The time from a request to the end of its answer within the gateway; the floor is the page that says there is no such page."""
    cookie = "; ".join(f"{each.name}={each.value}" for each in visitor(gate, "ana").cookies.jar)
    # As `sentinel serve` does when it is ready: else a page would pay for looking at everything that was imported.
    gc.collect()
    gc.freeze()

    def p50(path: str) -> tuple[float, float]:
        """Passed and processor time. The gateway is this process, and does nothing else meanwhile but what the page began."""
        gate.run(_served(gate, path, cookie))
        passed, used = [], []
        for _ in range(_ROUNDS):
            before = time.process_time()
            passed.append(gate.run(_served(gate, path, cookie))[0] * 1e3)
            used.append((time.process_time() - before) * 1e3)
        return quantile(passed, 0.5), quantile(used, 0.5)

    floors = p50("nothing")
    for name, path in {**PAGES, "mutation": f"mutations/{mutation}"}.items():
        for kind, value, floor in zip(("p50", "cpu"), p50(path), floors, strict=True):
            show(f"console.page.{name}.{kind}", value, "ms", floor=floor, n=records)
    loads = {
        name: _first_load(gate, path, cookie) for name, path in {**PAGES, "mutation": f"mutations/{mutation}"}.items()
    }
    for name, load in loads.items():
        show(f"console.page.{name}.load", load / 1024, "KB", n=records)
    show("console.first_load", max(loads.values()) / 1024, "KB", n=len(loads))


def _first_load(gate: Gate, path: str, cookie: str) -> int:
    """Bytes of the page and of every file that it names."""
    body = gate.run(_served(gate, path, cookie))[1]
    files = static_files()
    named = set(re.findall(rb"/console/static/([\w.]+)", body))
    return len(body) + sum(len(file.content) for name, file in files.items() if name.encode() in named)


async def _served(gate: Gate, path: str, cookie: str) -> tuple[float, bytes]:
    """How long the gateway took for a page, and the page."""
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
        "path": f"/console/{name}".rstrip("/"),
        "raw_path": f"/console/{name}".rstrip("/").encode(),
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
    return took, b"".join(message.get("body", b"") for message in sent)


def _live(gate: Gate) -> None:
    """What an open feed costs a browser: while nothing happens, and at a thousand records a second, by another process."""
    with a_browser() as browser, a_page(browser, gate, "ana") as page:
        page.goto("/console/feed")
        page.wait_for_timeout(3_000)
        measured = page.context.new_cdp_session(page)
        measured.send("Performance.enable", {"timeDomain": "threadTicks"})
        show("console.idle.busy", _busy(page, measured, _SECONDS), "share", n=_SECONDS)
        heap, before = _heap(measured), _told(page)
        command = [
            sys.executable,
            "-m",
            "tests.bench.records",
            str(gate.data or gate.directory / "data"),
            "--first",
            "2000000",
        ]
        with subprocess.Popen([*command, "--seconds", str(3 * _SECONDS)], stdout=subprocess.PIPE, text=True) as writer:
            while _told(page) == before:
                page.wait_for_timeout(50)
            page.evaluate(_COUNT_MESSAGES)
            began, first = time.monotonic(), _told(page)
            show("console.feed.busy", _busy(page, measured, _SECONDS), "share", n=_SECONDS)
            middle = _heap(measured)
            _busy(page, measured, _SECONDS)
            arrived, passed = _told(page) - first, time.monotonic() - began
            show("console.feed.arrived", arrived / passed, "records/s", n=arrived)
            messages = int(page.evaluate("window.messages"))
            show("console.feed.messages", messages / passed, "messages/s", n=messages)
            show("console.feed.heap", _heap(measured), "MB", floor=middle, n=arrived)
            written, seconds = (float(each) for each in writer.communicate()[0].split())
        show("console.feed.written", written / seconds, "records/s", n=int(written))
        show("console.feed.heap_at_rest", heap, "MB", n=1)


def _told(page: Page) -> int:
    """How many new records the page says there are since it was opened."""
    words = page.locator("#count").inner_text().partition(" new since")[0].replace(",", "")
    return int(words) if words else 0


def _busy(page: Page, measured: CDPSession, seconds: int) -> float:
    """The share of the time in which the page's main thread used a processor."""
    began, before = time.monotonic(), _metrics(measured)
    page.wait_for_timeout(seconds * 1e3)
    return (_metrics(measured)["TaskDuration"] - before["TaskDuration"]) / (time.monotonic() - began)


def _metrics(measured: CDPSession) -> dict[str, float]:
    return {each["name"]: each["value"] for each in measured.send("Performance.getMetrics")["metrics"]}


def _heap(measured: CDPSession) -> float:
    """Megabytes in use after a collection."""
    measured.send("HeapProfiler.collectGarbage")
    return _metrics(measured)["JSHeapUsedSize"] / 1e6


if __name__ == "__main__":
    main()
