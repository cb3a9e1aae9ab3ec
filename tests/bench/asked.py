"""What agents ask before they act: `python -m tests.bench.asked [--rounds N]`, one JSON object a figure.

The context of a resource without a live read, over the API; and calls of tools over MCP beside the same calls over the API, by turns over
kept-alive connections, where the round in which the tools were quickest counts. The gateway runs in a process of its own.
"""

import argparse
import json
import shutil
import tempfile
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

from gateway.core.model.caller import ActorKind
from gateway.core.ports import Key
from tests.bench.figure import quantile, show
from tests.bench.keepalive import Connection
from tests.bench.line import STACK
from tests.bench.processes import gateway, key, stub
from tests.bench.stack import write_stack

ADDRESS = "aws_autoscaling_group.kafka_consumer"
PROPOSAL = {
    "service": "autoscaling",
    "operation": "SetDesiredCapacity",
    "parameters": {"AutoScalingGroupName": "kafka-consumer-processor-asg", "DesiredCapacity": 5},
    "motive": {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]},
}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
EACH = 200
_RESOURCES = 10_000
_CALLS = count()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=8)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as directory, stub() as aws:
        stack, data = Path(directory) / "kafka", Path(directory) / "data"
        shutil.copytree(STACK, stack)
        agent = key(data, "agent", ActorKind.AGENT)
        with gateway(data, stack, aws.port) as gate, Connection(gate.port) as connection:
            before = gate.resident_mb
            _context(connection, agent, gate.port, rounds)
            _tools(connection, agent, gate.port, rounds)
            show("asked.mcp.memory", gate.resident_mb - before, "MB", n=1)
        _large(Path(directory), aws.port, rounds)


def _context(connection: Connection, agent: Key, port: int, rounds: int) -> None:
    connection.timed(_post(agent, port, "/v1/mutations", PROPOSAL))
    paths = {
        "attribute": f"/v1/context?address={ADDRESS}&attribute=desired_capacity",
        "resource": f"/v1/context?address={ADDRESS}",
        "history": f"/v1/history?address={ADDRESS}",
    }
    for name, path in paths.items():
        times = _best(connection, _get(agent, port, path), rounds)
        show(f"asked.{name}.p50", quantile(times, 0.5), "ms", n=EACH)


def _tools(connection: Connection, agent: Key, port: int, rounds: int) -> None:
    dry = {**PROPOSAL, "dry_run": True}
    pairs = {
        "get_context": (
            _tool(agent, port, "get_context", {"address": ADDRESS, "attribute": "desired_capacity"}),
            _get(agent, port, f"/v1/context?address={ADDRESS}&attribute=desired_capacity"),
        ),
        "dry_run_mutation": (
            _tool(agent, port, "dry_run_mutation", PROPOSAL),
            _post(agent, port, "/v1/mutations", dry),
        ),
    }
    connection.timed(pairs["get_context"][0])  # the first loads the SDK
    for name, (tool, plain) in pairs.items():
        rows = [(_times(connection, tool), _times(connection, plain)) for _ in range(rounds)]
        by_tool, by_api = min(
            ((quantile(one, 0.5), quantile(other, 0.5)) for one, other in rows), key=lambda row: row[0]
        )
        show(f"asked.mcp.{name}.added.p50", by_tool - by_api, "ms", floor=by_api, n=EACH)


def _large(directory: Path, upstream: int, rounds: int) -> None:
    """The same in a stack of many resources."""
    stack, data = directory / "large", directory / "large-data"
    write_stack(stack, _RESOURCES)
    agent = key(data, "agent", ActorKind.AGENT)
    with gateway(data, stack, upstream) as gate, Connection(gate.port) as connection:
        address = "aws_autoscaling_group.group%5B7%5D"
        times = _best(connection, _get(agent, gate.port, f"/v1/context?address={address}"), rounds)
        show(f"asked.resource.of_{_RESOURCES}.p50", quantile(times, 0.5), "ms", n=EACH)
        times = _best(connection, _get(agent, gate.port, "/v1/resources?q=group-77"), 1)
        show(f"asked.find.of_{_RESOURCES}.p50", quantile(times, 0.5), "ms", n=EACH)


def _best(connection: Connection, request: bytes, rounds: int) -> Sequence[float]:
    """The times of the quickest round."""
    return min((_times(connection, request) for _ in range(rounds)), key=lambda times: quantile(times, 0.5))


def _times(connection: Connection, request: bytes) -> list[float]:
    return [connection.timed(request) for _ in range(EACH)]


def _get(agent: Key, port: int, target: str) -> bytes:
    return _head(agent, port, f"GET {target}") + b"\r\n"


def _post(agent: Key, port: int, target: str, body: Any, *more: str) -> bytes:
    content = json.dumps(body).encode()
    extra = "".join(
        f"{line}\r\n" for line in (*more, "content-type: application/json", f"content-length: {len(content)}")
    )
    return _head(agent, port, f"POST {target}") + extra.encode() + b"\r\n" + content


def _tool(agent: Key, port: int, name: str, arguments: Any) -> bytes:
    params = {"name": name, "arguments": arguments, "_meta": META}
    body = {"jsonrpc": "2.0", "id": next(_CALLS), "method": "tools/call", "params": params}
    accept = "accept: application/json, text/event-stream"
    version = "mcp-protocol-version: 2026-07-28"
    return _post(agent, port, "/mcp", body, accept, version, "mcp-method: tools/call", f"mcp-name: {name}")


def _head(agent: Key, port: int, line: str) -> bytes:
    token = f"authorization: Bearer {agent.id}.{agent.secret}"
    return f"{line} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n{token}\r\n".encode()


if __name__ == "__main__":
    main()
