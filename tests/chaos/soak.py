"""Load without a pause on one gateway: `python -m tests.chaos.soak [--minutes 60] [--rate 10]`. What it holds, after a tenth of the time and at the end.

Changes by both doors, repeats, refusals, reads, and strangers. One JSON object; exits with 1 if memory grew by more than 5 %, or if descriptors,
threads or tasks were left, or if anything was carried out twice or unlogged.
"""

import argparse
import asyncio
import gc
import json
import logging
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import httpx
import structlog

from gateway.core.model.caller import ActorKind
from gateway.core.ports import Key
from gateway.core.settings import ServerSettings, Settings, StackSettings, UpstreamSettings
from tests.bench.contention.gateways import issue
from tests.bench.stub import JSON
from tests.chaos.aws import LoggingAws, carried_out
from tests.chaos.child import open_gateway
from tests.chaos.stack import LONGEST, STACK, write_stack
from tests.kit.signed_requests import Signer

_QUEUES: Final = 50
_MOST_GROWTH: Final = 1.05
_WARM: Final = 0.1
"""Part of the time after which the first measurement is taken: caches are full then."""
_SLACK: Final = 2
"""Descriptors, threads or tasks that a request under way may hold at the moment of a measurement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What the process holds."""

    memory_kb: int
    descriptors: int
    threads: int
    tasks: int


def held() -> Held:
    """What this process holds now."""
    gc.collect()
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return Held(
        memory_kb=int(status["VmRSS"].split()[0]),
        descriptors=len(list(Path("/proc/self/fd").iterdir())),
        threads=int(status["Threads"]),
        tasks=len(asyncio.all_tasks()),
    )


async def soak(directory: Path, seconds: float, rate: float) -> dict[str, Any]:
    """The load for so many seconds, at so many requests a second; what was held."""
    with LoggingAws(directory / "aws.log") as aws:
        settings = Settings(
            data=directory / "data",
            server=ServerSettings(lease_seconds=15),
            upstream=UpstreamSettings(simulated=f"http://127.0.0.1:{aws.port}"),
            stacks=(StackSettings(name=STACK, path=write_stack(directory / "stack", directory / "r.git", _QUEUES)),),
        )
        keys = await issue(settings, {"human": ActorKind.HUMAN, "agent": ActorKind.AGENT})
        answers: Counter[int] = Counter()
        async with open_gateway(settings) as url, httpx.AsyncClient(base_url=url, timeout=300) as client:
            began, first, number = time.monotonic(), None, 0
            while (passed := time.monotonic() - began) < seconds:
                answers[await _one(client, url, keys, number)] += 1
                number += 1
                if first is None and passed > seconds * _WARM:
                    first = held()
                await asyncio.sleep(max(0.0, began + number / rate - time.monotonic()))
            last = held()
        times = Counter(each.mutation for each in carried_out(aws.log))
    first = first or last
    return {
        "name": "soak",
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "minutes": round(seconds / 60, 1),
        "requests": number,
        "answers": {str(status): count for status, count in sorted(answers.items())},
        "first": asdict(first),
        "last": asdict(last),
        "memory_growth": round(last.memory_kb / first.memory_kb, 3),
        "twice": sum(count > 1 for count in times.values()),
        "problems": _problems(first, last)
        + [f"{each} was carried out {n} times" for each, n in times.items() if n > 1],
    }


def _problems(first: Held, last: Held) -> list[str]:
    found = []
    if last.memory_kb > first.memory_kb * _MOST_GROWTH:
        found.append(f"memory grew from {first.memory_kb} to {last.memory_kb} kB")
    for name in ("descriptors", "threads", "tasks"):
        before, after = getattr(first, name), getattr(last, name)
        if after > before + _SLACK:
            found.append(f"{name} grew from {before} to {after}")
    return found


async def _one(client: httpx.AsyncClient, url: str, keys: Any, number: int) -> int:
    """One request of the mixture; the status of the answer."""
    queue, value = number % _QUEUES, number % LONGEST
    call = {
        "QueueUrl": f"https://sqs.us-east-1.amazonaws.com/123456789012/queue-{queue}",
        "Attributes": {"VisibilityTimeout": str(value)},
    }
    match number % 10:
        case 0:
            return (
                await client.post("/v1/mutations", json={}, headers={"Authorization": "Bearer no.body"})
            ).status_code
        case 1:
            return (await client.get("/v1/claims", headers=_bearer(keys["human"]))).status_code
        case 2:
            call["Attributes"] = {"VisibilityTimeout": str(LONGEST + 1)}
            return (
                await client.post("/v1/mutations", json=_proposal(call), headers=_bearer(keys["agent"]))
            ).status_code
        case 3 | 4:
            headers = {**_bearer(keys["human"]), "Idempotency-Key": f"pair-{number // 10}"}
            call["Attributes"] = {"VisibilityTimeout": str(number // 10 % LONGEST)}
            call["QueueUrl"] = f"https://sqs.us-east-1.amazonaws.com/123456789012/queue-{number // 10 % _QUEUES}"
            return (await client.post("/v1/mutations", json=_proposal(call), headers=headers)).status_code
        case 5:
            return (
                await client.post("/v1/mutations", json=_proposal(call), headers=_bearer(keys["human"]))
            ).status_code
    signer = Signer(url=url, key_id=keys["human"].id, secret=keys["human"].secret, service="sqs")
    headers = {
        "Content-Type": JSON,
        "X-Amz-Target": "AmazonSQS.SetQueueAttributes",
        "x-sentinel-intent": "availability",
        "x-sentinel-motivation": "routine",
    }
    wire = signer.signed(headers=headers, body=json.dumps(call).encode())
    return (await client.post("/", headers=list(wire.headers), content=wire.body)).status_code


def _proposal(call: dict[str, Any]) -> dict[str, Any]:
    motive = {"intent": "availability", "motivation": "routine"}
    return {"service": "sqs", "operation": "SetQueueAttributes", "parameters": call, "motive": motive}


def _bearer(key: Key) -> dict[str, str]:
    return {"Authorization": f"Bearer {key.id}.{key.secret}"}


def main() -> int:
    """Play it; 1 if something was left or wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.soak", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=10.0)
    parser.add_argument("--record", type=Path)
    arguments = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with tempfile.TemporaryDirectory(prefix="sentinel-soak-") as directory:
        result = asyncio.run(soak(Path(directory), arguments.minutes * 60, arguments.rate))
    line = json.dumps(result)
    print(line)
    if arguments.record is not None:
        with arguments.record.open("a") as record:
            record.write(line + "\n")
    return int(bool(result["problems"]))


if __name__ == "__main__":
    sys.exit(main())
