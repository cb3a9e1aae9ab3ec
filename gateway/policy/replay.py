"""Asks policies and contracts again what they were asked when changes were decided, and says which verdicts would be others.

The questions are those of the records (`core.records.asked`), so every decision is judged by what was known when it was made. What depends on
the order of changes is history: the claims, budgets and changes of holders are those that there were, also where an edited policy would
have refused the change that led to them. What other checks said is kept too. Contracts are judged again only if contracts are given.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from gateway.core.errors import PolicyInvalid, PolicyUnavailable
from gateway.core.model.caller import ActorKind
from gateway.core.model.verdict import Asked, Finding, RuleText, Verdict
from gateway.core.ports import LedgerQueries, RecordQuery
from gateway.core.records.asked import VERSION, LeftOutFor
from gateway.core.records.decided import DecidedBody, RecordedFinding
from gateway.core.records.record import Record, Stage
from gateway.core.times import utc_text
from gateway.line.checks.approvers import ENTRYPOINT as APPROVERS
from gateway.line.checks.approvers import rule_about
from gateway.line.checks.arbitration import ENTRYPOINT as ARBITRATION
from gateway.line.checks.arbitration import arbitrated, arbitration_findings
from gateway.line.checks.planned_parameters import objects_still
from gateway.line.checks.policy import ENTRYPOINT as GUARDRAILS
from gateway.line.checks.policy import guardrails_say
from gateway.line.checks.untold_values import is_about
from gateway.policy.bundle import RunningEngine
from gateway.policy.not_replayed import NotReplayed
from gateway.policy.replay_contracts import CHECKS, ContractReplay
from gateway.terraform.contracts.text import evaluated_within

HISTORY: Final = (
    "Claims, budgets and changes of holders are those that there were when each change was decided: "
    "a change that the edited policies would have refused is not taken out of what came after it."
)
"""What a replay does not do, in a sentence."""
LARGEST_PAGE: Final = 500
"""Decisions that are replayed at a time: half a second's work."""
_WORKERS: Final = 2
_AT_A_TIME: Final = 32
"""Decisions that are prepared before the policies are asked about them: a megabyte of questions, and eight at most."""
_MOST_BROKEN: Final = 20
"""Decisions that policies may fail to answer before a page ends: each may take the whole deadline."""
MOST_SECONDS: Final = 60.0
"""Processor time of one thread for a page: policies may take nearly their whole deadline for each decision."""
_MOST_FINDINGS: Final = 5
_LONGEST_REASON: Final = 400
_ABOUT_A_HOLD: Final = frozenset({"approval", "upload"})
"""Checks that object only to a change that something else holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Objection:
    """What a rule objected, then or now."""

    rule: str
    verdict: Verdict
    reason: str
    address: str
    attribute: str
    source: str = ""
    """`file:line` of the rule; relative to the policies' directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """One decision, asked again."""

    seq: int
    mutation: str
    at: datetime
    actor: str
    kind: ActorKind
    call: str
    """`service:Operation`."""
    stack: str
    observed: bool
    """Whether its stack was only observed, so that the verdict was not enforced."""
    before: Verdict
    after: Verdict
    old: tuple[Objection, ...]
    """What the policies objected when it was decided."""
    new: tuple[Objection, ...]
    """What they object now."""

    @property
    def flipped(self) -> bool:
        """Whether the verdict is another one."""
        return self.before is not self.after

    @property
    def broke(self) -> Objection | None:
        """Why the policies gave no answer; None if they did."""
        return next((each for each in self.new if each.rule.endswith(".broke")), None)

    @property
    def rule(self) -> str:
        """The rule that made the difference: the first objection that only one of both has, of now if the verdict is stricter, else of then."""
        old, new = {_key(each) for each in self.old}, {_key(each) for each in self.new}
        added = [each for each in self.new if _key(each) not in old]
        gone = [each for each in self.old if _key(each) not in new]
        stricter = _STRENGTH.index(self.after) < _STRENGTH.index(self.before)
        return next((each.rule for each in ((*added, *gone) if stricter else (*gone, *added))), "")


_STRENGTH: Final = tuple(Verdict)


def _key(objection: Objection) -> tuple[str, str, str, str]:
    return objection.rule, objection.verdict.value, objection.address, objection.attribute


def questions_of(body: DecidedBody[Any]) -> tuple[Asked, ...] | NotReplayed:
    """What the policies were asked for this decision, or why nobody can tell."""
    asked = body.asked
    if asked is None:
        return NotReplayed.NO_FACTS
    if asked.version > VERSION:
        return NotReplayed.NEWER
    if asked.left_out is not None:
        return NotReplayed.SECRET if asked.left_out is LeftOutFor.SECRET else NotReplayed.SIZE
    if body.cut is not None and body.cut.findings:
        return NotReplayed.SIZE  # what other checks said may be among the findings that were left out
    try:
        questions = asked.questions()
    except (ValueError, KeyError, TypeError, IndexError):
        return NotReplayed.UNREADABLE
    return questions or NotReplayed.NO_FACTS


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    """A decision that the policies are to be asked about again."""

    record: Record
    body: DecidedBody[Any]
    questions: tuple[Asked, ...]
    asked: frozenset[str]
    """The checks whose findings are made again."""
    judged: tuple[Finding, ...] = ()
    """What the contracts say."""
    told_the_same: bool = False
    """Whether contracts were judged again and change nothing that the policies are told."""


async def replay(
    record: Record, engine: RunningEngine, contracts: ContractReplay | None = None
) -> Replayed | NotReplayed:
    """The decision of a DECIDED record, with what the policies of `engine` say, and what the `contracts` say if there are any."""
    prepared = await _prepared(record, contracts)
    return prepared if isinstance(prepared, NotReplayed) else await _asked_again(prepared, engine)


async def _prepared(record: Record, contracts: ContractReplay | None) -> _Prepared | NotReplayed:
    """The questions of a record, and what the contracts say."""
    body = record.body
    if not isinstance(body, DecidedBody):
        return NotReplayed.UNREADABLE
    questions = questions_of(body)
    if isinstance(questions, NotReplayed):
        return questions
    asked = frozenset({question.check for question in questions} | {"approvers"})
    if contracts is None:
        return _Prepared(record=record, body=body, questions=questions, asked=asked)
    again = await contracts.again(record, body, questions)
    if isinstance(again, NotReplayed):
        return again
    asked |= CHECKS if again.judged else frozenset()
    return _Prepared(
        record=record,
        body=body,
        questions=again.questions,
        asked=asked,
        judged=again.findings,
        told_the_same=again.told_the_same,
    )


async def _asked_again(prepared: _Prepared, engine: RunningEngine) -> Replayed:
    """The decision with what the policies say."""
    record, body, questions, asked = prepared.record, prepared.body, prepared.questions, prepared.asked
    said = _said_then(prepared, engine)
    if said is None:
        said = tuple([each for question in questions for each in await answers(question, engine)])
    findings = (*prepared.judged, *said)
    kept = tuple(each for each in body.decision.findings if each.check not in asked)
    after = _verdict(body, kept, findings)
    if after is Verdict.HOLD and engine.answers(APPROVERS):
        held = [each for each in findings if each.verdict is Verdict.HOLD]
        try:
            await rule_about(engine, questions[0].document, held)
        except PolicyUnavailable as error:
            findings = (*findings, _broken("approvers", error))
            after = Verdict.DENY
    texts = engine.rules()
    return Replayed(
        seq=record.seq,
        mutation=record.mutation_id,
        at=record.at,
        actor=record.actor,
        kind=body.caller.kind,
        call=body.call.name,
        stack=record.stack,
        observed=body.decision.mode.value == "observe",
        before=body.decision.verdict,
        after=after,
        old=_objections((each, each.source) for each in body.decision.findings if each.check in asked),
        new=_objections((each, each.source or texts.get(each.rule, _NO_TEXT).source) for each in findings),
    )


def _said_then(prepared: _Prepared, engine: RunningEngine) -> tuple[Finding, ...] | None:
    """What the policies said when it was decided, if the same ones would be asked the same; None if they must be asked.

    Then only contracts are edited, and they change nothing that policies see: a policy's answer follows from its bundle and its input. A
    question of a plan's session is asked, since its answer was judged by the plan too, and so is one that was not answered.
    """
    body = prepared.body
    same = prepared.told_the_same and body.decision.bundle == engine.revision
    if not same or any(each.lifted or each.untold is not None for each in prepared.questions):
        return None
    checks = {each.check for each in prepared.questions}
    said = [each for each in body.decision.findings if each.check in checks]
    if {each.check for each in said} != checks or any(each.rule.endswith((".broke", ".silent")) for each in said):
        return None
    return tuple(
        Finding(
            check=each.check,
            verdict=each.verdict,
            rule=each.rule,
            reason=each.reason,
            address=each.address,
            attribute=each.attribute,
            source=each.source,
        )
        for each in said
    )


_NO_TEXT: Final = RuleText("")


async def answers(question: Asked, engine: RunningEngine) -> tuple[Finding, ...]:
    """What the policies object to a recorded input; that they broke, if they do not answer as they should."""
    try:
        if question.entrypoint == GUARDRAILS:
            found = (await guardrails_say(engine, engine.packages(), question.document)).objections
        elif question.entrypoint == ARBITRATION:
            found = arbitration_findings(await arbitrated(engine, question.document))
        else:
            return (_broken(question.check, PolicyUnavailable(f"Nobody asks {question.entrypoint} about changes.")),)
    except PolicyUnavailable as error:
        return (_broken(question.check, error),)
    if question.untold is not None:
        return tuple(each for each in found if is_about(each, question.lifted, question.untold))
    return tuple(each for each in found if objects_still(each, question.lifted))


def _broken(check: str, error: PolicyUnavailable) -> Finding:
    return Finding(check=check, verdict=Verdict.DENY, rule=f"{check}.broke", reason=str(error))


def _verdict(body: DecidedBody[Any], kept: Sequence[RecordedFinding], findings: Sequence[Finding]) -> Verdict:
    """The verdict of what is kept and of what the policies say now. The approval of then lifts the holds of then, and no new ones."""
    held = [each for each in body.decision.findings if each.verdict is Verdict.HOLD]
    lifted = {_place(each) for each in held} if body.decision.approval else set()
    objections: list[RecordedFinding | Finding] = [each for each in kept if each.check not in _ABOUT_A_HOLD]
    objections += findings
    verdicts = {each.verdict for each in objections if each.verdict is not Verdict.HOLD or _place(each) not in lifted}
    if Verdict.HOLD in verdicts:
        verdicts |= {each.verdict for each in kept if each.check in _ABOUT_A_HOLD}
    return min(verdicts, key=_STRENGTH.index, default=Verdict.ALLOW)


def _place(finding: RecordedFinding | Finding) -> tuple[str, str, str]:
    return finding.rule, finding.address, finding.attribute


def _objections(findings: Iterable[tuple[RecordedFinding | Finding, str]]) -> tuple[Objection, ...]:
    found = dict.fromkeys(
        Objection(
            rule=each.rule,
            verdict=each.verdict,
            reason=each.reason,
            address=each.address,
            attribute=each.attribute,
            source=source,
        )
        for each, source in findings
        if each.verdict is not Verdict.ALLOW
    )
    return tuple(sorted(found, key=lambda each: (_STRENGTH.index(each.verdict), each.rule, each.address)))


# Many ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class ReplayPage:
    """What became of some decisions."""

    replayed: int = 0
    flips: list[Replayed] = field(default_factory=list)
    not_replayed: Counter[NotReplayed] = field(default_factory=Counter)


def replay_threads() -> ThreadPoolExecutor:
    """The threads of replays, to be shut down by who asks for them: each keeps an instance of the policies, which takes longer to make than many answers."""
    return ThreadPoolExecutor(max_workers=_WORKERS, thread_name_prefix="replay")


async def replay_all(
    records: Sequence[Record], engine: RunningEngine, threads: Executor, contracts: ContractReplay | None = None
) -> ReplayPage:
    """Every record replayed in these threads: the event loop answers meanwhile."""
    loop = asyncio.get_running_loop()
    parts = [records[number::_WORKERS] for number in range(_WORKERS)]
    pages = await asyncio.gather(
        *(loop.run_in_executor(threads, _in_thread, part, engine, contracts) for part in parts)
    )
    whole = ReplayPage()
    for page in pages:
        whole.replayed += page.replayed
        whole.flips += page.flips
        whole.not_replayed += page.not_replayed
    whole.flips.sort(key=lambda each: -each.seq)
    return whole


def _in_thread(records: Sequence[Record], engine: RunningEngine, contracts: ContractReplay | None) -> ReplayPage:
    return asyncio.run(_replayed(records, engine, contracts))


async def _replayed(records: Sequence[Record], engine: RunningEngine, contracts: ContractReplay | None) -> ReplayPage:
    page, broken, began = ReplayPage(), 0, time.thread_time()
    # A batch is prepared before its time is looked at, and one change of many resources may meet thousands of conditions.
    with evaluated_within(MOST_SECONDS):
        async for done in _each(records, engine, contracts):
            if time.thread_time() - began > MOST_SECONDS:
                raise PolicyInvalid(
                    f"Policies and contracts took longer than {MOST_SECONDS:.0f} s for {page.replayed} decisions, so the replay ended there. Ask for smaller pages, "
                    "or make them quicker."
                )
            if (
                isinstance(done, Replayed)
                and (problem := done.broke)
                and not any(each.rule == problem.rule for each in done.old)
            ):
                broken += 1
                if broken >= _MOST_BROKEN:
                    raise PolicyInvalid(
                        f"The policies did not answer about {broken} decisions, so the replay ended there. The last one is {done.mutation}: {problem.reason}"
                    )
            if isinstance(done, NotReplayed):
                page.not_replayed[done] += 1
                continue
            page.replayed += 1
            if done.flipped:
                page.flips.append(done)
    return page


async def _each(
    records: Sequence[Record], engine: RunningEngine, contracts: ContractReplay | None
) -> AsyncIterator[Replayed | NotReplayed]:
    """What becomes of each record. Several are prepared before the policies are asked: in turns, each would put the other out of the caches."""
    for first in range(0, len(records), _AT_A_TIME):
        prepared = [await _prepared(each, contracts) for each in records[first : first + _AT_A_TIME]]
        for each in prepared:
            yield each if isinstance(each, NotReplayed) else await _asked_again(each, engine)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRange:
    """Which decisions to replay, newest first."""

    since: datetime | None = None
    stack: str = ""
    before_seq: int = 0
    """Only decisions recorded before this one; 0 for the newest."""
    limit: int = LARGEST_PAGE


async def replay_page(
    queries: LedgerQueries,
    engine: RunningEngine,
    threads: Executor,
    wanted: ReplayRange,
    contracts: ContractReplay | None = None,
) -> dict[str, Any]:
    """One page of the decisions, replayed, as JSON; `next` is where the following page begins, null if there is none.

    Raises `errors.PolicyInvalid` for policies that do not answer.
    """
    size = min(wanted.limit, LARGEST_PAGE)
    found = await queries.records(RecordQuery(stage=Stage.DECIDED, before_seq=wanted.before_seq, limit=size))
    since = wanted.since
    in_time = [each for each in found if since is None or each.at >= since]
    page = await replay_all([each for each in in_time if wanted.stack in ("", each.stack)], engine, threads, contracts)
    more = len(found) == size and len(in_time) == size
    return {
        **page_to_json(page),
        "revision": engine.revision,
        "contracts": contracts.revision if contracts else "",
        "next": found[-1].seq if more else None,
    }


def page_to_json(page: ReplayPage) -> dict[str, Any]:
    """What became of the decisions of a page."""
    return {
        "replayed": page.replayed,
        "not_replayed": {reason.value: count for reason, count in sorted(page.not_replayed.items())},
        "flips": [_flip_to_json(each) for each in page.flips],
    }


def _flip_to_json(flip: Replayed) -> dict[str, Any]:
    return {
        "mutation": flip.mutation,
        "at": utc_text(flip.at),
        "actor": flip.actor,
        "kind": flip.kind.value,
        "call": flip.call,
        "stack": flip.stack,
        "observed": flip.observed,
        "from": flip.before.value,
        "to": flip.after.value,
        "rule": flip.rule,
        "old": [objection_to_json(each) for each in flip.old[:_MOST_FINDINGS]],
        "new": [objection_to_json(each) for each in flip.new[:_MOST_FINDINGS]],
    }


def objection_to_json(objection: Objection) -> dict[str, Any]:
    """The objection, its reason cut."""
    return {
        "rule": objection.rule,
        "verdict": objection.verdict.value,
        "reason": objection.reason[:_LONGEST_REASON],
        "address": objection.address,
        "attribute": objection.attribute,
        "source": objection.source,
    }
