"""The whole line through a gateway in its own process: `python -m tests.bench.line [--rounds N]`, one JSON object a figure.

Direct and through the gateway alternate in each round over kept-alive connections, with the same client and the same requests;
the round in which the gateway was quickest counts, since others use this machine too. `added` is the difference of the medians of that
round. The floor of a read is the median directly; that of a mutation is two bare commits on the same disk, the least that any gate pays
that is durable before and after. Processor time per request depends less on who else is busy.
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count, cycle, islice
from pathlib import Path
from typing import NamedTuple

from gateway.core.model.caller import ActorKind
from gateway.core.ports import Key
from tests.bench.bare import BareCommits
from tests.bench.figure import quantile, show
from tests.bench.keepalive import Connection, at_once, numbered, signed
from tests.bench.processes import Process, gateway, key, spent, stub
from tests.bench.stack import write_stack

STACK = Path(__file__).parent.parent / "cases" / "stacks" / "kafka"
GROUP = "kafka-consumer-processor-asg"
WHY = {"x-sentinel-intent": "availability", "x-sentinel-motivation": "incident; evidence=A-1"}
FORM = {"content-type": "application/x-www-form-urlencoded; charset=utf-8"}
CALLERS, MANY = 16, 32
_STARTS = 5
_FLEETS = ((1, False), (2, False), (2, True))
"""With how many workers, and whether each stays on a core of its own."""
_ATTEMPTS = count()

Requests = Callable[[int], Iterator[bytes]]
"""Endless requests for the server at a port."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=8)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, stub() as aws:
        _one_caller(Path(directory), aws, arguments.rounds)
        _many_callers(Path(directory), aws)


def _one_caller(directory: Path, aws: Process, rounds: int) -> None:
    stack, data = directory / "kafka", directory / "data"
    shutil.copytree(STACK, stack)
    starts = []
    for number in range(_STARTS):
        with gateway(directory / f"start-{number}", stack, aws.port) as gate:
            starts.append(gate.ready_seconds)
    show("line.start_to_ready_with_new_data.p50", quantile(starts, 0.5), "s", n=_STARTS)
    agent = key(data, "agent", ActorKind.AGENT)
    with gateway(data, stack, aws.port) as gate:
        show("line.start_to_ready", gate.ready_seconds, "s", n=1)
        show("line.memory_at_start", gate.resident_mb, "MB", n=1)
        _compared("line.read", gate, aws, reads(agent), rounds=rounds, each=500)
        _compared("line.data", gate, aws, _writes(key(data, "app", ActorKind.SERVICE)), rounds=rounds, each=500)
        with BareCommits(data) as commits:
            _compared("line.mutation", gate, aws, changes(agent, GROUP), rounds=rounds, each=100, bare=commits.two)
        _traffic(gate, agent)
        show("line.memory_after_traffic", gate.resident_mb, "MB", n=1)


def _compared(
    name: str,
    gate: Process,
    aws: Process,
    requests: Requests,
    *,
    rounds: int,
    each: int,
    bare: Callable[[], float] | None = None,
) -> None:
    """Added p50, p99 through the gateway, and processor time per request. `bare` gives the floor in milliseconds, else it is the median directly."""
    best: tuple[float, float, float, list[float]] | None = None
    spent = 0.0
    with Connection(gate.port) as through, Connection(aws.port) as direct:
        _times(through, requests(gate.port), each)
        for _ in range(rounds):
            straight = quantile(_times(direct, requests(aws.port), each), 0.5)
            floor = quantile([bare() for _ in range(each)], 0.5) if bare else straight
            before = gate.cpu_seconds
            times = _times(through, requests(gate.port), each)
            spent += gate.cpu_seconds - before
            if best is None or quantile(times, 0.5) < best[0]:
                best = quantile(times, 0.5), straight, floor, times
    assert best is not None
    p50, straight, floor, times = best
    show(f"{name}.added.p50", p50 - straight, "ms", floor=floor, n=each)
    show(f"{name}.p99", quantile(times, 0.99), "ms", floor=floor, n=each)
    show(f"{name}.cpu", spent / (rounds * each) * 1000, "ms", n=rounds * each)


def _times(connection: Connection, requests: Iterator[bytes], each: int) -> list[float]:
    return [connection.timed(request) for request in islice(requests, each)]


def reads(agent: Key) -> Requests:
    def requests(port: int) -> Iterator[bytes]:
        headers = {"content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSQS.GetQueueUrl"}
        request = signed(agent, "sqs", b'{"QueueName": "orders"}', headers, port)
        while True:
            yield numbered(request, str(next(_ATTEMPTS)))

    return requests


def _writes(app: Key) -> Requests:
    """An application writes an item: a call of the data plane, which passes."""

    def requests(port: int) -> Iterator[bytes]:
        headers = {"content-type": "application/x-amz-json-1.0", "x-amz-target": "DynamoDB_20120810.PutItem"}
        body = b'{"TableName": "kafka-offsets", "Item": {"id": {"S": "1"}}}'
        while True:
            attempt = str(next(_ATTEMPTS))
            # A signature counts for its second only, in which a loaded machine does not end a round.
            yield numbered(signed(app, "dynamodb", body, headers | {"x-attempt": attempt}, port), attempt)

    return requests


def changes(agent: Key, group: str) -> Requests:
    """The same actor sets the capacity to 5 and to 6, by turns, each time as an attempt of its own."""

    def requests(port: int) -> Iterator[bytes]:
        for capacity in cycle((5, 6)):
            attempt = str(next(_ATTEMPTS))
            yield numbered(_change(agent, group, capacity, port, attempt), attempt)

    return requests


def _change(agent: Key, group: str, capacity: int, port: int, attempt: str) -> bytes:
    body = f"Action=SetDesiredCapacity&Version=2011-01-01&AutoScalingGroupName={group}&DesiredCapacity={capacity}"
    # A signature is accepted once. Some calls of a bench are equal within one second, so a signed header tells them apart.
    return signed(agent, "autoscaling", body.encode(), FORM | WHY | {"x-attempt": attempt}, port)


def _traffic(gate: Process, agent: Key) -> None:
    """Reads of the services that the example uses, so that their models are in memory."""
    asked = {
        "ec2": "Action=DescribeInstances&Version=2016-11-15",
        "rds": "Action=DescribeDBInstances&Version=2014-10-31",
        "autoscaling": "Action=DescribeAutoScalingGroups&Version=2011-01-01",
        "monitoring": "Action=DescribeAlarms&Version=2010-08-01",
        "iam": "Action=GetRole&Version=2010-05-08&RoleName=rebalancer",
        "sns": "Action=ListTopics&Version=2010-03-31",
    }
    json_calls = {"dynamodb": "DynamoDB_20120810.ListTables", "logs": "Logs_20140328.DescribeLogGroups"}
    with Connection(gate.port) as through:
        for _ in range(50):
            for service, body in asked.items():
                through.timed(signed(agent, service, body.encode(), FORM, gate.port))
            for service, target in json_calls.items():
                headers = {"content-type": "application/x-amz-json-1.1", "x-amz-target": target}
                through.timed(signed(agent, service, b"{}", headers, gate.port))


def _many_callers(directory: Path, aws: Process, each: int = 60, rounds: int = 4) -> None:
    """Mutations a second from many callers at once, each on a resource of its own, by one process, by two workers, and by two on a core each in turns.

    The load and the stub share the cores with the gateway, so their part is told, and how much a gateway does in a second of a core.
    """
    stack = directory / "fleet"
    write_stack(stack, MANY)
    with ExitStack() as running:
        fleets = [
            _Fleet(running, directory / f"fleet-{number}", stack, aws, workers, own_core=own_core)
            for number, (workers, own_core) in enumerate(_FLEETS)
        ]
        for callers in (CALLERS, MANY):
            for fleet in fleets * rounds:
                fleet.ask(callers, each * CALLERS // callers)
            one, two, apart = (fleet.told() for fleet in fleets)
            name, n = f"line.mutations_{callers}_callers", CALLERS * each
            show(name, one.best, "mutations/s", n=n)
            show(f"{name}.cpu", one.cpu, "ms", n=n * rounds)
            show(f"{name}.load.cpu", one.load, "ms", floor=one.cpu, n=n * rounds)
            show(f"{name}.in_a_second_of_a_core", 1000 / one.cpu, "mutations/s", n=n * rounds)
            show(f"{name}.workers_2", two.best, "mutations/s", floor=one.best, n=n)
            show(f"{name}.workers_2.cpu", two.cpu, "ms", floor=one.cpu, n=n * rounds)
            show(f"{name}.workers_2.own_core", apart.best, "mutations/s", floor=one.best, n=n)
            show(f"{name}.workers_2.own_core.cpu", apart.cpu, "ms", floor=one.cpu, n=n * rounds)


class _Told(NamedTuple):
    """What a fleet did."""

    best: float
    """Most mutations a second."""
    cpu: float
    """Milliseconds of processor that a mutation takes at the gateway."""
    load: float
    """The same of the load and the stand-in for AWS."""


class _Fleet:
    """A gateway with so many workers, and what it did since it was asked for that."""

    def __init__(
        self, running: ExitStack, data: Path, stack: Path, aws: Process, workers: int, *, own_core: bool
    ) -> None:
        self._agent = key(data, "agent", ActorKind.AGENT)
        self._aws = aws
        self._gate = running.enter_context(gateway(data, stack, aws.port, workers=workers, own_core=own_core))
        self._best, self._spent, self._load, self._asked = 0.0, 0.0, 0.0, 0
        self.ask(MANY, 3)
        self.told()

    def ask(self, callers: int, each: int) -> None:
        """One round. The requests are signed before it."""
        port = self._gate.port
        asked = [(port, [*islice(changes(self._agent, f"group-{number}")(port), each)]) for number in range(callers)]
        before, load = spent([self._gate]), self._aws.cpu_seconds + time.process_time()
        rate = callers * each / at_once(asked)
        self._best = max(self._best, rate)
        self._spent += spent([self._gate]) - before
        self._load += self._aws.cpu_seconds + time.process_time() - load
        self._asked += callers * each

    def told(self) -> _Told:
        """The figures of the rounds since the last time."""
        told = _Told(self._best, self._spent / self._asked * 1000, self._load / self._asked * 1000)
        self._best, self._spent, self._load, self._asked = 0.0, 0.0, 0.0, 0
        return told


if __name__ == "__main__":
    main()
