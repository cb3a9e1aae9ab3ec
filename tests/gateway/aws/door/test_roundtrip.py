"""Every operation of every service, serialized by botocore, is routed to itself and parsed to equal parameters."""

import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from typing import Any

import pytest

from gateway.core.errors import Malformed
from gateway.core.model.inbound import Inbound

pytestmark = pytest.mark.slow

SAMPLE = 300
FEWEST_EQUAL = 21_534
"""How many operations must be parsed to equal parameters; a newer botocore only adds operations."""

REFUSED = {
    # Their input is a stream of events over HTTP/2, which this door does not speak.
    ("bedrock-runtime", "InvokeModelWithBidirectionalStream"): "event_stream",
    ("connecthealth", "StartMedicalScribeListeningSession"): "event_stream",
    ("lexv2-runtime", "StartConversation"): "event_stream",
    ("polly", "StartSpeechSynthesisStream"): "event_stream",
    ("qbusiness", "Chat"): "event_stream",
    # On the wire it is ListBuckets, with a parameter that one does not have; real clients sign it as s3express.
    ("s3", "ListDirectoryBuckets"): "unknown_parameter",
    # The oldest form of a document that is read in its present form (PutBucketNotificationConfiguration).
    ("s3", "PutBucketNotification"): "unknown_parameter",
}
"""What this door does not take, by the code of its refusal."""

ALIASES = {
    ("s3", "GetBucketLifecycle"): "GetBucketLifecycleConfiguration",
    ("s3", "GetBucketNotification"): "GetBucketNotificationConfiguration",
    ("s3", "PutBucketLifecycle"): "PutBucketLifecycleConfiguration",
}
"""The same request on the wire; the first is a deprecated name of the second, of the same class."""


async def test_a_sample_of_all_operations_reads_back_as_written(
    operations: Any, wire: Any, generated: Any, read_back: Callable[[Inbound], Awaitable[Any]], routes: Any
) -> None:
    every = sorted((service.name, name) for service in routes.services.values() for name in service.operations)
    chance = random.Random(7)  # noqa: S311  a seeded sample is no secret
    services = {*chance.sample(sorted(routes.services), 25), "ec2", "s3", "sqs", "iam", "cloudwatch"}
    among = [pair for pair in every if pair[0] in services]
    sample = set(chance.sample(among, SAMPLE))
    counts = await _compare(operations(lambda service, name: (service, name) in sample), wire, generated, read_back)
    assert counts["equal"] >= SAMPLE
    assert not {
        name: count for name, count in counts.items() if name not in ("equal", "shared name", "alias", "refused")
    }


@pytest.mark.long
async def test_every_operation_reads_back_as_written(
    operations: Any, wire: Any, generated: Any, read_back: Callable[[Inbound], Awaitable[Any]], routes: Any
) -> None:
    counts = await _compare(operations(lambda *_: True), wire, generated, read_back)
    total = sum(len(service.operations) * len(service.protocols) for service in routes.services.values())
    assert counts["equal"] >= FEWEST_EQUAL
    assert counts["refused"] == len(REFUSED)
    assert counts["alias"] == len(ALIASES)
    assert counts["equal"] + counts["refused"] + counts["alias"] == total
    print(f"read back equal: {counts['equal']} of {total}; service ambiguous without its name: {counts['shared name']}")


async def _compare(
    cases: Iterator[Any], wire: Any, generated: Any, read_back: Callable[[Inbound], Awaitable[Any]]
) -> Counter[str]:
    counts: Counter[str] = Counter()
    for case in cases:
        counts[await _one(case, wire, generated.parameters(case.model), read_back, counts)] += 1
    return counts


async def _one(
    case: Any,
    wire: Any,
    written: dict[str, Any],
    read_back: Callable[[Inbound], Awaitable[Any]],
    counts: Counter[str],
) -> str:
    """`equal`, `alias`, `refused`, or a sentence about what went wrong. A service that shares its signing name is read again with its name in the path."""
    got = None
    for name in ("", case.service):
        try:
            got = await read_back(wire.serialized(case.signing, case.protocol, case.model, written, named=name))
        except Malformed as error:
            if REFUSED.get((case.service, case.name)) == error.code:
                return "refused"
            if name:
                return f"{case.service}:{case.name} over {case.protocol} was refused: {error}"
        if got is not None and got.service == case.service:
            break
        counts["shared name"] += 1
    if got is None:
        return f"{case.service}:{case.name} was not read"
    if got.operation == ALIASES.get((case.service, case.name)):
        return "alias"
    if (got.service, got.operation) != (case.service, case.name):
        return f"{case.service}:{case.name} was taken for {got.service}:{got.operation}"
    same = _plain(got.parameters) == _plain(written)
    return "equal" if same else f"{case.service}:{case.name} over {case.protocol} read back other parameters"


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list():
            return [_plain(item) for item in value]
        case datetime():
            return value.timestamp()
    return value
