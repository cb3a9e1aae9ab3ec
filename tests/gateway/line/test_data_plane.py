"""Which calls of the data plane pass without a decision, and how those that pass are counted."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.core.derived_rows import AttributeSource, Confidence, DerivedRow, Origin
from gateway.core.errors import Ambiguous, LedgerUnavailable, Overloaded, SignatureSpent
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.data_plane import Passage, PassedCalls
from gateway.core.model.data_treatment import DEFAULT_TREATMENTS, DataTreatment
from gateway.core.model.json import Json
from gateway.core.model.mutation import Basis, Call, CallClass, EffectAction
from gateway.core.ports import Request
from gateway.effects.resolver import EffectResolver
from gateway.line.data_plane import (
    MOST_COUNTERS,
    MOST_RESOURCES,
    SAME_SECOND,
    DataPlane,
    DataSignature,
    DataSignatures,
    PassedCounts,
)
from gateway.line.ground_truth import GroundTruth
from gateway.terraform.aws_location import AwsLocation
from gateway.terraform.config.backend import StatePlace

PASS, RECORD, POLICY = DataTreatment
ADDRESSES = {
    "aws_dynamodb_table.orders": ("orders", {"name": "orders"}),
    "aws_dynamodb_table.users": ("users", {"name": "users"}),
    "aws_dynamodb_table.both": ("", {"name": "both"}),
    "aws_s3_bucket.b": ("orders", {"bucket": "b"}),
    "aws_s3_bucket.c": ("orders", {"bucket": "c"}),
    "aws_s3_object.o": ("orders", {"bucket": "b", "key": "declared"}),
    "aws_kms_key.k": ("orders", {"key_id": "k"}),
}
EVERY = dict.fromkeys(ActorKind, PASS)


@dataclass(frozen=True)
class Named:
    """A stack, of which only the name is asked for."""

    name: str


class World:
    """Resources of two stacks; one resource is in both."""

    def locate(
        self, resource_type: str, identity: Mapping[str, str], account: str = "", region: str = ""
    ) -> str | None:
        return next(
            (
                address
                for address, (_, given) in ADDRESSES.items()
                if address.startswith(f"{resource_type}.") and identity.items() <= given.items()
            ),
            None,
        )

    def differing_in_case(
        self, resource_type: str, identity: Mapping[str, str], account: str = "", region: str = ""
    ) -> tuple[str, ...]:
        return ()

    def find(self, resource_type: str, attribute: str, value: str) -> tuple[str, ...]:
        return ()

    def recorded(self, address: str) -> Mapping[str, Json] | None:
        return ADDRESSES[address][1] if address in ADDRESSES else None

    def place(self, address: str) -> AwsLocation:
        return AwsLocation()

    def accounts(self) -> frozenset[str]:
        return frozenset()

    def declaring(self, address: str) -> Named | None:
        name = ADDRESSES.get(address, (None, {}))[0]
        if name == "":
            raise Ambiguous("two stacks have it")
        return Named(name) if name else None


def _caller(kind: ActorKind = ActorKind.SERVICE) -> Caller:
    return Caller(actor="app", kind=kind, key_id="SNTLAPP")


async def _passage(
    operation: str,
    parameters: dict[str, Any],
    *,
    kind: ActorKind = ActorKind.SERVICE,
    treatments: Mapping[ActorKind, DataTreatment] = DEFAULT_TREATMENTS,
    by_stack: Mapping[str, Mapping[ActorKind, DataTreatment]] | None = None,
    call_class: CallClass = CallClass.DATA,
) -> Passage | None:
    world: Any = World()
    plane = DataPlane(resolver=EffectResolver(world), stacks=world, treatments=treatments, by_stack=by_stack or {})
    service, _, name = operation.partition(":")
    call = Call(service=service, operation=name, parameters=parameters, region="us-east-1")
    return await plane.passage(_caller(kind), Request(call=call, call_class=call_class))


PUT = ("dynamodb:PutItem", {"TableName": "orders", "Item": {"id": {"S": "1"}}})


@pytest.mark.parametrize(
    ("kind", "treatment"),
    [
        (ActorKind.SERVICE, PASS),
        (ActorKind.HUMAN, RECORD),
        (ActorKind.PIPELINE, RECORD),
        (ActorKind.AGENT, None),
    ],
)
async def test_the_defaults(kind: ActorKind, treatment: DataTreatment | None) -> None:
    passage = await _passage(*PUT, kind=kind, by_stack={"orders": DEFAULT_TREATMENTS})
    assert (passage.treatment if passage else None) is treatment
    if passage:
        assert passage.stack == "orders"
        assert passage.addresses == (("aws_dynamodb_table.orders",) if treatment is RECORD else ())


async def test_a_derived_row_lets_no_call_pass_undecided() -> None:
    """`TruncateTable` is no operation of AWS's, so no person wrote a row of it."""
    touches = DerivedRow(
        service="dynamodb",
        operation="TruncateTable",
        resource_type="aws_dynamodb_table",
        actions=frozenset({EffectAction.INVOKE}),
        origin=Origin.MODEL,
        confidence=Confidence.RESOURCE,
        identity={"TableName": AttributeSource(attribute="id")},
    )

    class Recorded(World):
        def find(self, resource_type: str, attribute: str, value: str) -> tuple[str, ...]:
            return ("aws_dynamodb_table.orders",) if (attribute, value) == ("id", "orders") else ()

        def recorded(self, address: str) -> Mapping[str, Json] | None:
            return {"id": "orders", "name": "orders"}

    world: Any = Recorded()
    resolver = EffectResolver(world, rows=lambda _service, _operation: (touches,))
    call = Call(service="dynamodb", operation="TruncateTable", parameters={"TableName": "orders"})
    plane = DataPlane(resolver=resolver, stacks=world, treatments=EVERY, by_stack={"orders": EVERY})

    assert [effect.basis for effect in resolver.effects(call)] == [Basis.RESOURCE]
    assert await plane.passage(_caller(), Request(call=call, call_class=CallClass.DATA)) is None


async def test_the_resource_s_stack_decides() -> None:
    by_stack = {"orders": {**EVERY, ActorKind.AGENT: RECORD}, "users": {**EVERY, ActorKind.AGENT: POLICY}}
    agent = {"kind": ActorKind.AGENT, "by_stack": by_stack}
    put: dict[str, Any] = {"Item": {}}
    orders = await _passage("dynamodb:PutItem", {"TableName": "orders", **put}, **agent)  # type: ignore[arg-type]
    users = await _passage("dynamodb:PutItem", {"TableName": "users", **put}, **agent)  # type: ignore[arg-type]
    unknown = await _passage("dynamodb:PutItem", {"TableName": "unknown", **put}, **agent)  # type: ignore[arg-type]
    assert orders is not None
    assert orders.addresses == ("aws_dynamodb_table.orders",)
    assert users is None
    assert unknown is None


async def test_of_several_stacks_the_strictest_decides() -> None:
    batch: dict[str, Any] = {"RequestItems": {name: [{"DeleteRequest": {"Key": {}}}] for name in ("orders", "users")}}
    recorded = await _passage(
        "dynamodb:BatchWriteItem", batch, by_stack={"orders": EVERY, "users": dict.fromkeys(ActorKind, RECORD)}
    )
    decided = await _passage(
        "dynamodb:BatchWriteItem", batch, by_stack={"orders": EVERY, "users": dict.fromkeys(ActorKind, POLICY)}
    )
    assert recorded is not None
    assert (recorded.treatment, recorded.stack, len(recorded.addresses)) == (RECORD, "", 2)
    assert decided is None


@pytest.mark.parametrize(
    ("operation", "parameters"),
    [
        PUT,
        ("dynamodb:ExecuteStatement", {"Statement": "DELETE FROM \"orders\" WHERE id = '1'"}),
        ("dynamodb:PutItem", {"TableName": "nobody-declares-it", "Item": {}}),
        (
            "sqs:ReceiveMessage",
            {"QueueUrl": "https://sqs.us-east-1.amazonaws.com/123456789012/q", "WaitTimeSeconds": 20},
        ),
        ("sqs:DeleteMessage", {"QueueUrl": "https://sqs.us-east-1.amazonaws.com/123456789012/q", "ReceiptHandle": "r"}),
        ("s3:PutObject", {"Bucket": "b", "Key": "k", "Body": b"x"}),
        ("s3:DeleteObject", {"Bucket": "b", "Key": "k", "VersionId": "1"}),
        ("s3:CopyObject", {"Bucket": "b", "Key": "k", "CopySource": "b/j"}),
        ("s3:UploadPart", {"Bucket": "b", "Key": "k", "UploadId": "u", "PartNumber": 1, "Body": b"x"}),
        ("kinesis:PutRecord", {"StreamName": "s", "Data": b"x", "PartitionKey": "k"}),
        ("events:PutEvents", {"Entries": [{"Source": "s", "DetailType": "t", "Detail": "{}"}]}),
        ("logs:PutLogEvents", {"logGroupName": "g", "logStreamName": "s", "logEvents": []}),
        ("sns:Publish", {"TopicArn": "arn:aws:sns:us-east-1:123456789012:t", "Message": "m"}),
        ("cloudwatch:PutMetricData", {"Namespace": "n", "MetricData": []}),
        ("xray:PutTraceSegments", {"TraceSegmentDocuments": []}),
    ],
)
async def test_data_passes(operation: str, parameters: dict[str, Any]) -> None:
    assert await _passage(operation, parameters) is not None


@pytest.mark.parametrize(
    ("operation", "parameters"),
    [
        ("dynamodb:PutItem", {"TableName": "both", "Item": {}}),
        ("dynamodb:PutItem", {"TableName": "arn:aws:dynamodb:us-east-1:123456789012:table/o/index/i", "Item": {}}),
        ("dynamodb:PutItem", {"TableName": "orders", "Item": {}, "SomethingNew": 1}),
        ("s3:PutObject", {"Bucket": "b", "Key": "declared", "Body": b"x"}),
        ("s3:DeleteObjects", {"Bucket": "b", "Delete": {"Objects": [{"Key": "k"}, {"Key": "declared"}]}}),
        ("s3:PutObject", {"Bucket": "b", "Key": "k", "ACL": "public-read"}),
        ("s3:PutObject", {"Bucket": "b", "Key": "k", "ObjectLockMode": "COMPLIANCE"}),
        ("s3:PutObject", {"Bucket": "b", "Key": "k", "SSECustomerKey": "x" * 32}),
        ("s3:DeleteObjects", {"Bucket": "b", "Delete": {"Objects": [{"Key": "k"}]}, "BypassGovernanceRetention": True}),
        ("s3:CopyObject", {"Bucket": "b", "Key": "k", "CopySource": "c/j"}),
        ("s3:CopyObject", {"Bucket": "b", "Key": "k", "CopySource": "unknown/j"}),
        ("sns:Publish", {"PhoneNumber": "+15550100", "Message": "m"}),
        ("events:PutEvents", {"Entries": [{"Source": "s"}], "EndpointId": "e"}),
        ("dynamodb:BatchWriteItem", {"RequestItems": {str(number): [] for number in range(20_000)}}),
    ],
)
async def test_what_is_more_than_data_is_a_mutation(operation: str, parameters: dict[str, Any]) -> None:
    assert await _passage(operation, parameters, treatments=EVERY) is None


@pytest.mark.parametrize("call_class", [each for each in CallClass if each is not CallClass.DATA])
async def test_no_other_class_passes(call_class: CallClass) -> None:
    assert await _passage(*PUT, treatments=EVERY, call_class=call_class) is None


NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PASSED_PUT = Passage(
    caller=Caller(actor="app", kind=ActorKind.SERVICE, key_id="SNTLAPP"),
    service="dynamodb",
    operation="PutItem",
    stack="orders",
    addresses=(),
    treatment=DataTreatment.PASS,
)
RECORDED = replace(PASSED_PUT, treatment=DataTreatment.RECORD, addresses=("aws_dynamodb_table.a",))


@dataclass
class Ticking:
    """A clock that goes on by a second whenever it is read."""

    at: datetime = NOON

    def now(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at


@dataclass
class Recorder:
    """A ledger that keeps what it is given, unless it fails."""

    fails: list[Exception] = field(default_factory=list)
    passed: list[PassedCalls] = field(default_factory=list)

    async def record_passed(self, passed: Sequence[PassedCalls], at: datetime) -> None:
        if self.fails:
            raise self.fails.pop(0)
        self.passed.extend(passed)


@pytest.fixture
def ledger() -> Recorder:
    return Recorder()


@pytest.fixture
def counts(ledger: Recorder) -> PassedCounts:
    return PassedCounts(ledger, Ticking())


async def test_many_calls_are_one_record(counts: PassedCounts, ledger: Recorder) -> None:
    for _ in range(1000):
        counts.add(PASSED_PUT)
    counts.add_error(PASSED_PUT)
    await counts.flush()
    (passed,) = ledger.passed
    assert (passed.count, passed.errors, passed.resources) == (1000, 1, {})
    assert NOON < passed.since < passed.until
    await counts.flush()
    assert len(ledger.passed) == 1


async def test_each_key_stack_and_operation_has_its_own(counts: PassedCounts, ledger: Recorder) -> None:
    other = replace(PASSED_PUT.caller, key_id="SNTSAPP")
    for passage in (
        PASSED_PUT,
        replace(PASSED_PUT, operation="DeleteItem"),
        replace(PASSED_PUT, stack="users"),
        replace(PASSED_PUT, caller=other),
    ):
        counts.add(passage)
    await counts.flush()
    assert [passed.count for passed in ledger.passed] == [1, 1, 1, 1]


async def test_resources_are_counted_and_their_number_is_limited(counts: PassedCounts, ledger: Recorder) -> None:
    for number in range(MOST_RESOURCES + 50):
        counts.add(replace(RECORDED, addresses=(f"aws_dynamodb_table.t{number}", "aws_dynamodb_table.t0")))
    await counts.flush()
    (passed,) = ledger.passed
    assert len(passed.resources) == MOST_RESOURCES
    assert passed.resources["aws_dynamodb_table.t0"] == MOST_RESOURCES + 51
    assert passed.others == 50


@pytest.mark.parametrize("error", [LedgerUnavailable("The disk is full."), RuntimeError("odd")])
async def test_nothing_passes_while_nothing_can_be_recorded(
    counts: PassedCounts, ledger: Recorder, error: Exception
) -> None:
    counts.add(RECORDED)
    ledger.fails.append(error)
    await counts.flush()
    assert ledger.passed == []
    with pytest.raises(LedgerUnavailable, match="nothing was sent"):
        counts.add(RECORDED)
    # A call that was sent before may still get its answer.
    counts.add_error(RECORDED)
    await counts.flush()
    assert counts.problem == ""
    counts.add(RECORDED)
    (passed,) = ledger.passed
    assert (passed.count, passed.errors, passed.resources) == (1, 1, {"aws_dynamodb_table.a": 1})


async def test_a_durable_call_is_recorded_before_it_is_sent(counts: PassedCounts, ledger: Recorder) -> None:
    await counts.add_durably(RECORDED)
    assert [each.count for each in ledger.passed] == [1]
    ledger.fails.append(LedgerUnavailable("The disk is full."))
    with pytest.raises(LedgerUnavailable, match="nothing was sent"):
        await counts.add_durably(RECORDED)


async def test_what_is_counted_while_the_ledger_fails_is_added(ledger: Recorder) -> None:
    counts = PassedCounts(ledger, Ticking())

    class Failing(Recorder):
        async def record_passed(self, passed: Sequence[PassedCalls], at: datetime) -> None:
            counts.add(replace(RECORDED, addresses=("aws_dynamodb_table.b",)))
            raise LedgerUnavailable("The disk is full.")

    counts.add(RECORDED)
    counts._ledger = Failing()
    await counts.flush()
    counts._ledger = ledger
    await counts.flush()
    (passed,) = ledger.passed
    assert (passed.count, passed.resources) == (2, {"aws_dynamodb_table.a": 1, "aws_dynamodb_table.b": 1})


async def test_the_number_of_counters_is_limited(counts: PassedCounts) -> None:
    for number in range(MOST_COUNTERS):
        counts.add(replace(PASSED_PUT, stack=str(number)))
    with pytest.raises(LedgerUnavailable, match="Too many"):
        counts.add(replace(PASSED_PUT, stack="one more"))


async def test_in_the_session_of_a_plan_only_calls_on_states_pass() -> None:
    state = StatePlace(stack="shop", bucket="states", key="shop.tfstate", region="us-east-1", lock_table="locks")
    world: Any = World()
    world.state_places, world.generation, world.recorded_of = (state,), world, lambda _: iter(())
    plane = DataPlane(
        resolver=EffectResolver(world),
        stacks=world,
        treatments=DEFAULT_TREATMENTS,
        by_stack={},
        ground=GroundTruth((), world),
    )
    caller = replace(_caller(ActorKind.PIPELINE), plan="mut_1")

    async def passes(service: str, operation: str, parameters: dict[str, Any]) -> bool:
        call = Call(service=service, operation=operation, parameters=parameters, region="us-east-1")
        return await plane.passage(caller, Request(call=call, call_class=CallClass.DATA)) is not None

    locked = {"TableName": "locks", "Item": {"LockID": {"S": "states/shop.tfstate"}}}
    assert await passes("dynamodb", "PutItem", locked)
    assert not await passes("dynamodb", "PutItem", {"TableName": "orders", "Item": {"id": {"S": "1"}}})


@pytest.mark.parametrize(
    ("kind", "metric", "passes"),
    [
        (ActorKind.AGENT, "armed", False),
        (ActorKind.AGENT, "child", False),
        (ActorKind.AGENT, "told", True),
        (ActorKind.SERVICE, "armed", True),
    ],
)
async def test_what_sets_off_an_alarm_that_acts_is_decided_for_agents(
    kind: ActorKind, metric: str, passes: bool
) -> None:
    scales = "arn:aws:autoscaling:us-east-1:123456789012:scalingPolicy:1"
    alarms = [
        {"alarm_name": "armed", "namespace": "Own", "metric_name": "armed", "alarm_actions": [scales]},
        {"alarm_name": "child", "namespace": "Own", "metric_name": "child"},
        {
            "alarm_name": "told",
            "namespace": "Own",
            "metric_name": "told",
            "ok_actions": ["arn:aws:sns:us-east-1:123456789012:n"],
        },
    ]
    composites = [
        {
            "alarm_name": "both",
            "alarm_rule": "ALARM(child)",
            "alarm_actions": ["arn:aws:ssm:us-east-1:123456789012:opsitem:1"],
        }
    ]
    recorded: dict[str, Any] = {"aws_cloudwatch_metric_alarm": alarms, "aws_cloudwatch_composite_alarm": composites}
    world: Any = World()
    world.state_places, world.generation, world.recorded_of = (), world, lambda kind: iter(recorded.get(kind, ()))
    treatments = dict.fromkeys(ActorKind, DataTreatment.RECORD)
    plane = DataPlane(
        resolver=EffectResolver(world), stacks=world, treatments=treatments, by_stack={}, ground=GroundTruth((), world)
    )
    parameters = {"Namespace": "Own", "MetricData": [{"MetricName": metric, "Value": 1.0}]}
    call = Call(service="cloudwatch", operation="PutMetricData", parameters=parameters, region="us-east-1")
    request = Request(call=call, call_class=CallClass.DATA)
    assert (await plane.passage(_caller(kind), request) is not None) == passes


# Signatures ------------------------------------------------------------------------------------------------------------


class Minutes:
    """A clock that is set."""

    def __init__(self) -> None:
        self.at = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

    def later(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


def made(clock: Minutes, value: str = "a", nonce: str = "n", *, signed: bool = True) -> DataSignature:
    return DataSignature(value=value, at=clock.now(), nonce=nonce, signed_nonce=signed)


def test_a_signature_is_remembered_as_long_as_it_is_valid_and_no_longer() -> None:
    clock = Minutes()
    spent = DataSignatures(clock, skew=timedelta(minutes=5))
    ahead = DataSignature(value="b", at=clock.now() + timedelta(minutes=5), nonce="n", signed_nonce=True)
    early = made(clock)
    for each in (early, ahead):
        spent.spend(each)
    clock.later(299)
    for each in (early, ahead):
        with pytest.raises(SignatureSpent):
            spent.spend(each)
    clock.later(300)
    with pytest.raises(SignatureSpent):
        spent.spend(ahead)
    clock.later(200)
    spent.spend(made(clock, "c"))
    assert sum(map(len, spent._by_end.values())) == 1


def test_a_presigned_url_is_remembered_until_it_ends() -> None:
    clock = Minutes()
    spent = DataSignatures(clock, skew=timedelta(minutes=5), most=2)
    before = clock.now() - timedelta(days=1)
    urls = [
        DataSignature(value=value, at=before, nonce="", signed_nonce=True, ends=clock.now() + timedelta(days=days))
        for value, days in (("a", 3), ("b", 6), ("c", 5))
    ]
    spent.spend(urls[0])
    spent.spend(urls[1])
    clock.later(2 * 86_400)
    for each in urls[:2]:
        with pytest.raises(SignatureSpent):
            spent.spend(each)
    with pytest.raises(Overloaded):
        spent.spend(urls[2])
    spent.spend(made(clock))
    spent.free(urls[0])
    spent.spend(urls[0])


def test_a_shared_signature_is_not_given_back_by_one_of_its_calls() -> None:
    """Of two equal calls AWS refused one; the other was carried out."""
    clock = Minutes()
    spent = DataSignatures(clock, skew=timedelta(minutes=5))
    one, other = made(clock, nonce="1", signed=False), made(clock, nonce="2", signed=False)
    spent.spend(one)
    spent.spend(other)
    clock.later(SAME_SECOND + 0.1)
    spent.free(other)
    for each in (one, other):
        with pytest.raises(SignatureSpent):
            spent.spend(each)


def test_what_lasts_for_a_second_is_forgotten_with_it() -> None:
    clock = Minutes()
    spent = DataSignatures(clock, skew=timedelta(minutes=5))
    for number in range(1_000):
        spent.spend(made(clock, str(number), signed=False))
        clock.later(0.01)
    assert len(spent._first) <= 201 >= len(spent._sent)


def test_too_many_signatures_are_not_forgotten_but_refused() -> None:
    clock = Minutes()
    spent = DataSignatures(clock, skew=timedelta(minutes=5), most=2)
    for value in "ab":
        spent.spend(made(clock, value))
    clock.later(60)
    with pytest.raises(Overloaded):
        spent.spend(made(clock, "c"))
    clock.later(400)
    spent.spend(made(clock, "c"))


async def test_nothing_passes_while_the_ledger_does_not_answer_and_nothing_is_counted_twice() -> None:
    goes_on = asyncio.Event()

    class Waiting(Recorder):
        async def record_passed(self, passed: Sequence[PassedCalls], at: datetime) -> None:
            await goes_on.wait()
            await super().record_passed(passed, at)

    waiting = Waiting()
    counts = PassedCounts(waiting, Ticking(), seconds=0.01)
    counts.add(RECORDED)
    await counts.flush()
    with pytest.raises(LedgerUnavailable, match="has not answered"):
        counts.add(RECORDED)
    await counts.flush()
    assert (waiting.passed, counts.problem != "") == ([], True)
    goes_on.set()
    await counts.flush()
    counts.add(RECORDED)
    await counts.add_durably(RECORDED)
    assert [each.count for each in waiting.passed] == [1, 2]
