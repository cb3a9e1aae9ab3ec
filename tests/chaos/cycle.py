"""One cycle: a change, killed at a point, killed again while it recovers, recovered, asked for again; and what must not be, as sentences."""

import random
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gateway.core.ports import RecordQuery
from gateway.core.records.record import Record, Stage
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.sealed_ledger import open_sealed_ledger
from tests.chaos.aws import carried_out
from tests.chaos.points import ALL, CrashPoint, Held, again
from tests.chaos.stack import BRANCH, LONGEST, values_of
from tests.chaos.world import QUEUES, World
from tests.kit.git import git

KILLED: Final = -signal.SIGKILL
_PAGE: Final = 1_000
_OK, _CONFLICT = 200, 409


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """Where one change is killed."""

    number: int
    """From 1 on; it makes queue and value, so every change is one of its own."""
    first: CrashPoint
    second: CrashPoint | None = None
    """Where the recovery is killed; None: it is not."""
    door: str = "aws"

    @property
    def name(self) -> str:
        """The points, e.g. `CP8+R3`."""
        return f"{self.first.name}+{self.second.name}" if self.second else self.first.name

    @property
    def change(self) -> dict[str, object]:
        """What is asked for."""
        return {
            "queue": self.number % QUEUES,
            "value": self.number % LONGEST,
            "door": self.door,
            "idempotency_key": f"cycle-{self.number}",
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What came of a cycle."""

    problems: tuple[str, ...]
    seconds: float
    """From the start of the process that recovered until it had settled what was in doubt."""
    kills: int


def cycles(count: int, *, seed: int = 0, first: int = 1) -> Iterator[Cycle]:
    """Each point in turn; two of three are killed a second time, at a point that chance chooses."""
    chosen = random.Random(seed)  # noqa: S311  examples, no secrets
    for number in range(first, first + count):
        point = ALL[number % len(ALL)]
        second = chosen.choice(again(point)) if chosen.random() < 2 / 3 else None
        door = "aws" if "CP14" in (point.name, second.name if second else "") else chosen.choice(("aws", "api"))
        yield Cycle(number=number, first=point, second=second, door=door)


async def play(world: World, cycle: Cycle) -> Seen:
    """Play it, and compare ledger, AWS's log and the answers."""
    found: list[str] = []
    if cycle.first.reconciler:
        return await _play_write_back(world, cycle)
    _expect(found, world.run(kill=cycle.first.name, **cycle.change), KILLED, "the process was to be killed")
    sent = _sent(world, cycle)
    if sent != int(cycle.first.sent):
        found.append(f"AWS carried out {sent} changes before the kill, and {int(cycle.first.sent)} was right")
    kills = 1
    world.wait()
    if cycle.second is not None:
        code = world.run(kill=cycle.second.name, settle=True, **cycle.change)
        _expect(found, code, KILLED, "the recovery was to be killed")
        kills += 1
        world.wait()
    _expect(found, world.run(settle=True, **cycle.change), 0, "the recovery was to end")
    if world.seen:
        found += _wrong_answer(world, cycle)
    return Seen(problems=_named(cycle, found), seconds=world.seen.get("recovered", 0.0), kills=kills)


async def _play_write_back(world: World, cycle: Cycle) -> Seen:
    found: list[str] = []
    _expect(found, world.run(**cycle.change), 0, "the change was to be made")
    kills = 1
    code = world.run(kill=cycle.first.name, write_back=True)
    _expect(found, code, KILLED, "the reconciler was to be killed")
    if cycle.second is not None:
        # It may have nothing more to do at that point, and then ends.
        kills += world.run(kill=cycle.second.name, write_back=True) == KILLED
    _expect(found, world.run(write_back=True), 0, "the reconciler was to end")
    found += await git_problems(world)
    return Seen(problems=_named(cycle, found), seconds=world.seen.get("recovered", 0.0), kills=kills)


def _wrong_answer(world: World, cycle: Cycle) -> list[str]:
    """What is wrong with the answer to the repeat, and with what AWS has carried out then."""
    answer, sent = world.seen["answer"], _sent(world, cycle)
    last = cycle.second or cycle.first
    held = last.held if cycle.second is not None and cycle.first.held is Held.NOTHING else cycle.first.held
    asked = cycle.first.sent or (cycle.second is not None and cycle.first.held is Held.NOTHING and last.sent)
    found = []
    match held:
        case Held.NOTHING:
            wanted, replayed, most = _OK, False, 1
        case Held.IN_FLIGHT:
            wanted, replayed, most = _CONFLICT, True, int(asked)
        case Held.APPLIED:
            wanted, replayed, most = _OK, True, 1
    if (answer["status"], answer["replayed"] or cycle.door == "api") != (wanted, replayed or cycle.door == "api"):
        found.append(f"the repeat was answered {answer['status']} (replayed: {answer['replayed']}): {answer['body']}")
    if sent != most:
        found.append(f"AWS carried out {sent} changes, and {most} was right")
    return found


def _sent(world: World, cycle: Cycle) -> int:
    value = cycle.change["value"]
    return sum(1 for each in carried_out(world.aws.log) if each.value == value)


def _expect(found: list[str], code: int, wanted: int, sentence: str) -> None:
    if code != wanted:
        found.append(f"{sentence}, and ended with {code}")


def _named(cycle: Cycle, found: list[str]) -> tuple[str, ...]:
    return tuple(f"cycle {cycle.number} ({cycle.name}, {cycle.door}): {problem}" for problem in found)


# The whole world ------------------------------------------------------------------------------------------------------


async def compare(world: World) -> list[str]:
    """What must not be, after everything was written back: of chain, tables, AWS's log, claims, git and Terraform's state."""
    carried = Counter(each.mutation for each in carried_out(world.aws.log))
    found = [f"AWS carried out {mutation} {times} times" for mutation, times in carried.items() if times > 1]
    async with open_sealed_ledger(world.settings) as ledger:
        await ledger.verify()
        decided = {each.mutation_id for each in await _all(ledger, Stage.DECIDED)}
        outcomes: dict[str, str] = {}
        for record in await _all(ledger, Stage.SETTLED):
            outcomes[record.mutation_id] = str(record.body.members["outcome"])
        applied = {mutation for mutation, outcome in outcomes.items() if outcome == "applied"}
        found += [f"{each} was carried out and is not in the ledger" for each in set(carried) - decided]
        found += [f"{each} was carried out, and is recorded as {outcomes.get(each)}" for each in set(carried) - applied]
        found += [f"{each} is recorded as applied, and AWS never had it" for each in applied - set(carried)]
        found += [f"{each.mutation_id} is still in doubt" for each in await ledger.in_doubt()]
        found += [f"{each} was decided and never settled" for each in decided - set(outcomes)]
        found += [
            f"a claim of {each.mutation_id} stands, which is recorded as {outcomes.get(each.mutation_id)}"
            for each in await ledger.claims()
            if each.mutation_id not in applied
        ]
        reconciled = Counter(each.mutation_id for each in await _all(ledger, Stage.RECONCILED))
    found += [f"{each} was written back {reconciled[each]} times" for each in applied if reconciled[each] != 1]
    found += await git_problems(world, applied)
    return found


async def git_problems(world: World, applied: set[str] | None = None) -> list[str]:
    """What is wrong with repository, worktree, remote, code and state after the reconciler has come to its end."""
    found = []
    tip = git(world.stack, "rev-parse", f"refs/heads/{BRANCH}")
    if git(world.remote, "rev-parse", f"refs/heads/{BRANCH}") != tip:
        found.append("the remote's branch is not ours")
    if dirty := git(world.directory / "data" / "worktree", "status", "--porcelain"):
        found.append(f"the worktree is not clean: {dirty}")
    trailers = Counter(git(world.stack, "log", "--format=%(trailers:key=Sentinel-Mutation,valueonly)", tip).split())
    found += [f"{each} has {times} commits" for each, times in trailers.items() if times > 1]
    if applied is not None:
        found += [f"{each} has no commit" for each in applied - set(trailers)]
        found += [f"{each} has a commit, and is not applied" for each in set(trailers) - applied]
    code = values_of(git(world.stack, "show", f"{tip}:main.tf"))
    last = {each.queue: each.value for each in carried_out(world.aws.log)}
    found += [
        f"{queue} is {value}, and the code says {code[queue]}" for queue, value in last.items() if code[queue] != value
    ]
    if git(world.stack, "status", "--porcelain") or (world.stack / "terraform.tfstate").read_text() != world.state:
        found.append("the user's checkout or Terraform's state was changed")
    return found


async def _all(ledger: SqlLedger, stage: Stage) -> list[Record]:
    found: list[Record] = []
    while page := await ledger.records(
        RecordQuery(stage=stage, after_seq=found[-1].seq if found else 0, limit=_PAGE, newest_first=False)
    ):
        found += page
    return found
