"""The feed: filters and pages in its address, and a stream that sends new rows only while there are some."""

import re
import threading
from collections.abc import Generator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from gateway.core.model.caller import ActorKind
from gateway.doors.console.feed import filter_of
from gateway.doors.console.live import ROWS
from tests.kit.console import Person, held, text_of, visitor
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def rows(page: httpx.Response) -> list[int]:
    body = re.search(r'<tbody id="rows".*?</tbody>', page.text, re.DOTALL)
    assert body
    return [int(number) for number in re.findall(r"<tr><td>(?:<a [^>]*>)?(\d+)", body[0])]


def test_a_filter_is_in_the_address_and_nothing_else_is() -> None:
    given = {
        "actor": "a",
        "stage": "decided",
        "verdict": "nonsense",
        "refused": "yes",
        "evil": "1",
        "no_evidence": "true",
    }
    assert filter_of(given) == {"actor": "a", "stage": "decided", "no_evidence": "true"}


def test_the_newest_come_first_and_older_pages_follow_without_gap(gate: Gate) -> None:
    gate.issue("busy", kind=ActorKind.HUMAN)
    for _ in range(ROWS + 5):
        held(gate, "busy")
    client = visitor(gate, "human")
    first = client.get("/console/feed?actor=busy")
    older = re.search(r'rel="next" href="([^"]+)"', first.text)
    assert older
    second = client.get(older[1].replace("&amp;", "&"))
    both = [*rows(first), *rows(second)]
    assert both == [record.seq for record in reversed(gate.records(actor="busy"))]
    assert "hx-sse:connect" not in second.text
    assert "hx-sse:connect" in first.text
    assert "hx-sse:connect" not in client.get("/console/feed?pause").text


@pytest.mark.parametrize(
    "query", ["verdict=hold&intent=availability", "stage=decided", "refused=true", "resource=aws_none"]
)
def test_filters_are_the_ledger_s(gate: Gate, query: str) -> None:
    held(gate)
    shown = rows(visitor(gate, "human").get(f"/console/feed?{query}"))
    found = httpx.get(f"{gate.url}/v1/records?limit={ROWS}&{query}", headers=gate.bearer("human")).json()["records"]
    assert shown == [record["seq"] for record in found]


@pytest.mark.parametrize(
    "query", ["before=x", "before=-1", "before=9999999999999999999999", "stage=%3Cscript%3E", "after=x"]
)
def test_an_odd_address_is_answered(gate: Gate, query: str) -> None:
    assert visitor(gate, "human").get(f"/console/feed?{query}").status_code in {200, 400}


def stream_of(page: httpx.Response) -> str:
    found = re.search(r'hx-sse:connect="([^"]+)"', page.text)
    assert found
    return found[1].replace("&amp;", "&")


def messages(person: Person, path: str) -> Generator[str, None, None]:
    """The messages of a stream, until the reader stops."""
    with (
        httpx.Client(base_url=person.url, cookies=person.cookies, timeout=300) as client,
        client.stream("GET", path) as reply,
    ):
        assert reply.headers["content-type"].startswith("text/event-stream")
        assert reply.headers["x-accel-buffering"] == "no"
        text = ""
        for part in reply.iter_text():
            text += part
            while "\n\n" in text:
                message, _, text = text.partition("\n\n")
                yield message


def test_new_records_come_by_the_stream(gate: Gate) -> None:
    person = visitor(gate, "human")
    page = person.get("/console/feed?verdict=hold")
    stream = messages(person, stream_of(page))
    assert next(stream) == ": open"
    made = held(gate)
    message = next(message for message in stream if made in message)
    assert 'hx-target="#rows"' in message
    assert re.search(r"^id: \d+$", message, re.MULTILINE)
    gate.issue("unrelated")
    count_only = next(message for message in stream if message.startswith("data: <hx-partial"))
    assert 'hx-target="#rows"' not in count_only
    stream.close()


def test_a_stream_shows_an_agent_only_its_own_and_no_totals(gate: Gate) -> None:
    person = visitor(gate, "rival")
    stream = messages(person, "/console/feed/stream?after=0")
    next(stream)
    other = held(gate, "agent")
    own = held(gate, "rival")
    for message in stream:
        assert other not in message
        assert "in all" not in message
        if own in message:
            break
    stream.close()


def test_a_stream_ends_with_its_sign_in(gate: Gate) -> None:
    actor = gate.issue("goes", kind=ActorKind.HUMAN)
    person = visitor(gate, actor)
    stream = messages(person, "/console/feed/stream?after=0")
    next(stream)
    person.post("/console/sign-out")
    stop = threading.Event()

    def write() -> None:
        while not stop.wait(0.3):
            held(gate)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        list(stream)
    finally:
        stop.set()
        writer.join(300)
    after = parse_qs(urlsplit(stream_of(visitor(gate, "human").get("/console/feed"))).query)["after"]
    assert int(after[0]) > 0


def test_the_feed_names_its_columns(gate: Gate) -> None:
    assert "Record At Stage Result Actor Motive What Resources" in text_of(visitor(gate, "human").get("/console/feed"))


@pytest.mark.slow
def test_an_open_feed_ends_when_the_gateway_stops(tmp_path: Path) -> None:
    with Gate(directory=tmp_path) as gate:
        stream = messages(visitor(gate, "human"), "/console/feed/stream?after=0")
        next(stream)
    list(stream)  # it ended; else the gateway would have waited for it, and failed
