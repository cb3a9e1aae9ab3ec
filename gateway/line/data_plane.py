"""Decides which calls of the data plane pass without a decision, and counts those that pass and their signatures.

A call passes only if it does nothing but invoke resources as a whole: every parameter is understood, and no resource is content that the code
declares itself (an `aws_s3_object`). Any other call, and every call that the settings treat as `policy`, is a mutation.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Protocol

import structlog

from gateway.core.errors import Ambiguous, CallTooLarge, LedgerUnavailable, Overloaded, SentinelError, SignatureSpent
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.data_plane import Passage, PassedCalls
from gateway.core.model.data_treatment import STRICTNESS, DataTreatment
from gateway.core.model.mutation import Basis, Call, CallClass, Door, Effect, EffectAction
from gateway.core.model.path import WHOLE
from gateway.core.off_loop import off_loop, size_of
from gateway.core.ports import Clock, Request
from gateway.effects.registry import WITHOUT_RESOURCE
from gateway.effects.resolver import EffectResolver
from gateway.line.ground_truth import GroundTruth
from gateway.terraform.stacks import Stacks

Treatments = Mapping[ActorKind, DataTreatment]
"""The treatment of each kind of actor."""

_CONTENT_TYPES = frozenset({"aws_s3_bucket_object", "aws_s3_object", "aws_s3_object_copy"})
"""Resource types that are content of another resource: writing one is a change of what the code declares."""


class DataPlane:
    """The treatments of all stacks, and the tables by which a call's resources are found."""

    def __init__(
        self,
        *,
        resolver: EffectResolver,
        stacks: Stacks,
        treatments: Treatments,
        by_stack: Mapping[str, Treatments],
        ground: GroundTruth | None = None,
    ) -> None:
        """`treatments` are those of resources that no stack declares; `by_stack` has those of each stack. `ground` knows the states, which
        only those reach whom the line admitted to them.
        """
        self._ground = ground or GroundTruth()
        self._resolver = resolver
        self._stacks = stacks
        self._treatments = treatments
        self._by_stack = by_stack
        every = (treatments, *by_stack.values())
        self._passing = frozenset(
            kind for kind in ActorKind if any(each[kind] is not DataTreatment.POLICY for each in every)
        )

    async def passage(self, caller: Caller, request: Request) -> Passage | None:
        """How this call passes; None if it must be decided as a mutation. In the session of a plan only calls on its stack's state pass."""
        call = request.call
        if request.call_class is not CallClass.DATA:
            return None
        if request.door is Door.AWS and (state := self._ground.state_of(call)) is not None:
            return Passage(
                caller=caller,
                service=call.service,
                operation=call.operation,
                stack=state.stack,
                addresses=(state.object.url,),
                treatment=DataTreatment.RECORD,
            )
        if caller.kind not in self._passing or caller.plan:
            return None  # in the session of a plan its plan explains it, or nothing does
        passage = await off_loop(size_of(call.parameters), lambda: self._passage(caller, call))
        return None if passage is None else replace(passage, door=request.door)

    def _passage(self, caller: Caller, call: Call) -> Passage | None:
        if caller.kind is ActorKind.AGENT and self._ground.sets_off(call):
            return None  # what it makes up has AWS stop, scale or run something, which a person decides about
        try:
            addresses = self._addresses(call)
            declaring = [self._stacks.declaring(address) for address in addresses]
        except (_Change, Ambiguous, CallTooLarge):
            return None
        stacks = {stack.name if stack is not None else "" for stack in declaring} or {""}
        treatment = max((self._of(stack)[caller.kind] for stack in stacks), key=STRICTNESS.index)
        if treatment is DataTreatment.POLICY:
            return None
        return Passage(
            caller=caller,
            service=call.service,
            operation=call.operation,
            stack=stacks.pop() if len(stacks) == 1 else "",
            addresses=addresses if treatment is DataTreatment.RECORD else (),
            treatment=treatment,
        )

    def _addresses(self, call: Call) -> tuple[str, ...]:
        """The resources that the call is about. Raises `_Change` if it does more than invoke them, `errors.CallTooLarge`."""
        if (call.service, call.operation) in WITHOUT_RESOURCE:
            return ()
        effects = self._resolver.effects(call)
        if not effects or not all(effect.basis is Basis.HAND and _only_invokes(effect, call) for effect in effects):
            raise _Change
        return tuple(dict.fromkeys(effect.address for effect in effects))

    def _of(self, stack: str) -> Treatments:
        return self._by_stack.get(stack, self._treatments)


class _Change(Exception):
    """The call is more than a call of the data plane, or is not understood."""


def _only_invokes(effect: Effect, call: Call) -> bool:
    """Whether the effect leaves the resource as it is. A copy out of another bucket reads what the settings of this one do not cover."""
    source = effect.value.get("CopySource") if isinstance(effect.value, Mapping) else None
    plain = effect.action is EffectAction.INVOKE and effect.attribute == WHOLE and not effect.implied
    same_bucket = source is None or str(source).removeprefix("/").partition("/")[0] == call.parameters.get("Bucket")
    return plain and same_bucket and effect.resource_type not in _CONTENT_TYPES


MOST_SIGNATURES: Final = 1_000_000
"""Signatures that are remembered at once: those of five minutes at 3,000 calls a second, in about 100 MB."""
SAME_SECOND: Final = 2.0
"""How long a signature that several calls may share is good for after it came first: the second that it names, and one on the way."""
_BUCKET_SECONDS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSignature:
    """The verified signature of a call that is about to pass."""

    value: str
    at: datetime
    """When it says that it was made, to the second."""
    nonce: str
    """What the client's SDK says of the call and the attempt, which tells equal calls of one second apart; empty if it says nothing."""
    signed_nonce: bool
    """Whether the signature covers that."""
    ends: datetime | None = None
    """When a presigned URL ends, which may be days from now; None for a signature in the head, which ends with the skew of clocks."""


class DataSignatures:
    """The signatures with which calls passed at this gateway, as long as they are valid.

    A signature that covers the nonce of its call counts once. One that does not (boto3, the AWS CLI) is the same for equal calls of one
    second, such as two polls of a queue. It counts once for each nonce, for `SAME_SECOND` after it came first, and never later. A presigned
    URL counts once. One that is older than this gateway is taken, once: it is made to be used later.
    """

    def __init__(self, clock: Clock, *, skew: timedelta, most: int = MOST_SIGNATURES) -> None:
        """`skew` is the greatest difference of clocks with which a signature is accepted."""
        self._clock = clock
        self._skew = skew.total_seconds()
        self._most = most
        self._began = int(clock.now().timestamp())
        self._by_end: dict[int, set[int]] = {}
        """The signatures by the minute in which they end."""
        self._of_urls: dict[int, set[int]] = {}
        """Those of presigned URLs, which are good for days, so that they fill nothing but their own part."""
        self._first: dict[int, float] = {}
        """When those that are good for more calls came first, in that order."""
        self._sent: dict[int, float] = {}
        """When each of these calls came, in that order."""

    def spend(self, signature: DataSignature) -> None:
        """Spend the signature for a call that is about to be sent.

        Raises `errors.SignatureSpent` if it was spent, or if it is older than this gateway, which then cannot know;
        `errors.Overloaded` if too many are remembered. Send nothing then.
        """
        now, made = self._clock.now().timestamp(), signature.at.timestamp()
        if made < self._began and signature.ends is None:
            raise SignatureSpent(
                "This request was signed before this gateway started, which cannot know whether it was sent then. "
                "Nothing was sent; sign it again."
            )
        for recent in (self._first, self._sent):
            while recent and now - recent[oldest := next(iter(recent))] > SAME_SECOND:
                del recent[oldest]
        end, by_end = self._end(signature), self._by_end if signature.ends is None else self._of_urls
        spent = by_end.get(end)
        if spent is None:
            spent = self._begin(by_end, end, int(now) // _BUCKET_SECONDS)
        known, call = hash(signature.value), hash((signature.value, signature.nonce))
        if known not in spent:
            spent.add(known)
            if not signature.signed_nonce:
                self._first[known] = now
        elif known not in self._first or call in self._sent:
            raise SignatureSpent(
                "The signature of this request was used before, so nothing was sent again. "
                "If this is another call, sign it again: a signature changes every second. A presigned URL writes once; make another."
            )
        self._sent[call] = now

    def free(self, signature: DataSignature) -> None:
        """Give a signature back whose call was not carried out: nothing was sent, or AWS refused it.

        One that other calls may share stays as it is, since they may have been carried out.
        """
        self._sent.pop(hash((signature.value, signature.nonce)), None)
        if signature.signed_nonce:
            by_end = self._by_end if signature.ends is None else self._of_urls
            by_end.get(self._end(signature), set()).discard(hash(signature.value))

    def _end(self, signature: DataSignature) -> int:
        """The minute in which the signature ends."""
        end = signature.at.timestamp() + self._skew if signature.ends is None else signature.ends.timestamp()
        return int(end) // _BUCKET_SECONDS

    def _begin(self, by_end: dict[int, set[int]], end: int, now: int) -> set[int]:
        """The place of the signatures that end in another minute, once those that have ended are forgotten."""
        for each in [each for each in by_end if each < now]:
            del by_end[each]
        if sum(map(len, by_end.values())) >= self._most:
            raise Overloaded(
                "Too many calls pass at once for their signatures to be remembered. Nothing was sent; try again in a minute."
            )
        return by_end.setdefault(end, set())


log = structlog.get_logger()

MOST_RESOURCES = 100
"""The most resources that one record names; the others are counted together."""
MOST_COUNTERS = 10_000
"""The most counters between two flushes. Keys are issued and operations are few, so only a mistake comes near it."""


ANSWER_SECONDS: Final = 20.0
"""How long the ledger may take to store counts, as long as it may take to store a decision."""


class PassedLedger(Protocol):
    """Records calls that passed without a decision."""

    async def record_passed(self, passed: Sequence[PassedCalls], at: datetime) -> None:
        """Append one PASSED record for each. Raises `errors.LedgerUnavailable`; then none was stored."""
        ...


class PassedCounts:
    """The counts since the last flush. A crash loses them; an orderly shutdown flushes them."""

    def __init__(self, ledger: PassedLedger, clock: Clock, *, seconds: float = ANSWER_SECONDS) -> None:
        """`seconds` is how long the ledger may take to store the counts."""
        self._ledger = ledger
        self._clock = clock
        self._seconds = seconds
        self._turn = asyncio.Lock()
        self._recording: tuple[dict[tuple[str, ...], _Counter], asyncio.Future[None]] | None = None
        """The counts that the ledger was given and has not confirmed."""
        self._counters: dict[tuple[str, ...], _Counter] = {}
        self.problem = ""
        """Why the last counts could not be recorded, as a sentence; empty if they were. Then no call passes."""

    def add(self, passage: Passage) -> None:
        """Count a call that is about to be sent. Raises `errors.LedgerUnavailable` if the ledger does not take the counts: send nothing."""
        if self.problem:
            raise LedgerUnavailable(f"Calls that pass cannot be recorded, so nothing was sent. {self.problem}")
        if len(self._counters) >= MOST_COUNTERS:
            raise LedgerUnavailable(
                "Too many different calls pass at once to be counted. Nothing was sent; try again in a minute."
            )
        self._counter(passage).add(passage, self._clock.now())

    def add_error(self, passage: Passage) -> None:
        """Count that AWS answered a counted call with an error, or not at all."""
        self._counter(passage).errors += 1

    async def add_durably(self, passage: Passage) -> None:
        """Count a call, and record the counts before it is sent. Raises `errors.LedgerUnavailable`: send nothing."""
        self.add(passage)
        await self.flush()
        if self.problem:
            raise LedgerUnavailable(f"The call cannot be recorded, so nothing was sent. {self.problem}")

    async def flush(self) -> None:
        """Record the counts. If that fails they are kept, and nothing passes until a later flush succeeds, or the ledger has answered one that it
        let wait. Raises nothing.

        A cancelled flush loses nothing either: what the ledger was given it stores.
        """
        async with self._turn:
            if self._recording is not None:
                await self._confirmed(*self._recording)
            if self._recording is None:
                taken, self._counters = self._counters, {}
                passed = [counter.passed() for counter in taken.values()]
                stored = self._ledger.record_passed(passed, self._clock.now()) if passed else _nothing()
                self._recording = taken, asyncio.ensure_future(stored)
                await self._confirmed(*self._recording)

    async def _confirmed(self, taken: "dict[tuple[str, ...], _Counter]", recording: asyncio.Future[None]) -> None:
        """Wait until the ledger confirms the counts that it was given, and tell of it."""
        try:
            await asyncio.wait_for(asyncio.shield(recording), self._seconds)
        except TimeoutError:
            # Given again, they would be counted twice once the ledger goes on.
            self.problem = f"The ledger has not answered for {self._seconds:g} seconds."
            log.error("passed_calls_not_recorded", reason=self.problem)  # noqa: TRY400  a traceback says no more
            return
        except Exception as error:
            self._put_back(taken)
            self.problem = str(error) if isinstance(error, SentinelError) else "The ledger failed; the log says how."
            log.exception("passed_calls_not_recorded")
        else:
            self.problem = ""
        self._recording = None

    def _put_back(self, taken: "dict[tuple[str, ...], _Counter]") -> None:
        for key, counter in taken.items():
            if (later := self._counters.get(key)) is not None:
                counter.include(later)
            self._counters[key] = counter

    def _counter(self, passage: Passage) -> "_Counter":
        key = (
            passage.caller.key_id,
            passage.stack,
            passage.service,
            passage.operation,
            passage.treatment,
            passage.door,
        )
        counter = self._counters.get(key)
        if counter is None:
            now = self._clock.now()
            counter = self._counters[key] = _Counter(passage, since=now, until=now)
        return counter


async def _nothing() -> None:
    """Store nothing."""


@dataclass(slots=True)
class _Counter:
    """The calls of one key to one operation in one stack."""

    first: Passage
    since: datetime
    until: datetime
    count: int = 0
    errors: int = 0
    resources: dict[str, int] = field(default_factory=dict)
    others: int = 0

    def add(self, passage: Passage, at: datetime) -> None:
        self.count += 1
        self.until = at
        for address in passage.addresses:
            self._name(address, 1)

    def include(self, later: "_Counter") -> None:
        """Add the counts of another counter, which was started later."""
        self.until = later.until
        self.count += later.count
        self.others += later.others
        self.errors += later.errors
        for address, number in later.resources.items():
            self._name(address, number)

    def passed(self) -> PassedCalls:
        first = self.first
        return PassedCalls(
            caller=first.caller,
            service=first.service,
            operation=first.operation,
            stack=first.stack,
            treatment=first.treatment,
            count=self.count,
            errors=self.errors,
            since=self.since,
            until=self.until,
            resources=dict(self.resources),
            others=self.others,
            call_class=first.call_class,
            door=first.door,
        )

    def _name(self, address: str, number: int) -> None:
        if address in self.resources or len(self.resources) < MOST_RESOURCES:
            self.resources[address] = self.resources.get(address, 0) + number
        else:
            self.others += number
