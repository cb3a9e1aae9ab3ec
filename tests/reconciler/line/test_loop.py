"""The line from record to commit, on a real Terraform and a simulated AWS."""

import subprocess
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.mutation import Call
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.core.times import SystemClock
from gateway.ledger.ledger import SqlLedger
from reconciler.changes.backlog import Backlog
from reconciler.line.loop import Line
from reconciler.proof.proved_edit import DeclaredCache
from reconciler.publish.branch import Branch, open_branch
from reconciler.terraform.cli import Terraform
from tests.kit.bodies import written_back
from tests.kit.growth import count_parses
from tests.kit.mutations import record_mutation

pytestmark = [pytest.mark.terraform, pytest.mark.allow_hosts(["127.0.0.1"])]

Apply = Callable[..., Awaitable[str]]
GROUP = "aws_autoscaling_group.web"
AGENT = Caller(actor="agent-scaler", kind=ActorKind.AGENT, key_id="SNTL0")


@pytest.fixture
def committed(calm: Any) -> Any:
    """The applied stack, committed in a repository whose subdirectory it is, with six machines live."""
    calm.client("autoscaling").set_desired_capacity(AutoScalingGroupName="web", DesiredCapacity=6)
    top = calm.path.parent.parent
    if (top / ".git").exists():
        return calm
    for argv in (
        ["init", "-q", "-b", "main"],
        ["add", "infra/fleet/*.tf", "infra/fleet/*.tfvars", "infra/fleet/modules"],
    ):
        subprocess.run(["git", *argv], cwd=top, check=True, capture_output=True)
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *identity, "commit", "-qm", "first"], cwd=top, check=True, capture_output=True)
    return calm


@pytest.fixture
def line(committed: Any, ledger: SqlLedger, tmp_path: Path) -> Line:
    return Line(
        stack="shop",
        source=committed.path,
        state=committed.state,
        branch=f"sentinel/{tmp_path.name}",
        worktree=tmp_path / "worktree",
        terraform=committed.terraform(),
        queries=ledger,
        commands=ledger,
        clock=SystemClock(),
        declared_cache=DeclaredCache(),
    )


async def _backlog(ledger: SqlLedger) -> Backlog:
    backlog = Backlog(stack="shop")
    await backlog.read(ledger)
    return backlog


def _log(line: Line, form: str = "%s") -> list[str]:
    done = subprocess.run(
        ["git", "log", f"--format={form}", f"main..{line.branch}"],
        cwd=line.source,
        capture_output=True,
        text=True,
        check=True,
    )
    return [row for row in done.stdout.splitlines() if row]


async def test_a_change_is_written_to_where_its_value_came_from_and_recorded(
    line: Line, committed: Any, ledger: SqlLedger, applied: Apply, monkeypatch: pytest.MonkeyPatch
) -> None:
    parses = count_parses(monkeypatch)
    checkout = (committed.path / "terraform.tfvars").read_bytes()
    mutation = await applied((GROUP, "desired_capacity", 2, 6))
    backlog = await _backlog(ledger)

    body = await line.reconcile(backlog.decided[mutation], backlog)

    assert body.members["files"] == ["terraform.tfvars"]
    assert parses[Path("main.tf")] == 2, "for the proof, and for what the diff may not tell"
    assert "-desired = 2\n+desired = 6" in str(body.members["diff"])
    proofs = body.members["proofs"]
    assert isinstance(proofs, list)
    assert {proof["name"] for proof in proofs if proof["held"]} >= {
        "parses",
        "untouched",
        "captured",
        "plan_clean",
        "nothing_else",
    }
    assert _log(line) == [f"{GROUP}: desired_capacity 2 → 6"]
    assert _log(line, "%(trailers:only)") == [
        f"Sentinel-Mutation: {mutation}",
        "Sentinel-Actor: agent-scaler",
        "Sentinel-Intent: availability",
        "Sentinel-Motivation: incident",
    ]
    assert (committed.path / "terraform.tfvars").read_bytes() == checkout
    (record,) = await ledger.records(RecordQuery(stage=Stage.RECONCILED))
    assert record.body.members["commit"] == body.members["commit"]
    assert not (await _backlog(ledger)).pending()


async def test_killed_after_the_commit_it_goes_on_with_the_same_commit(
    line: Line, ledger: SqlLedger, applied: Apply
) -> None:
    mutation = await applied((GROUP, "desired_capacity", 2, 6))
    backlog = await _backlog(ledger)
    proposal = await line.prove(backlog.decided[mutation], backlog)
    first = await line.publish(backlog.decided[mutation], backlog, proposal)
    (line.worktree / "infra/fleet/main.tf").write_text("half written")

    body = await line.reconcile(backlog.decided[mutation], backlog)
    again = await line.reconcile(backlog.decided[mutation], backlog)

    assert first.body.members["commit"] == body.members["commit"] == again.members["commit"]
    assert len(_log(line)) == 1
    assert len(await ledger.records(RecordQuery(stage=Stage.RECONCILED))) == 1


async def test_killed_before_the_commit_it_commits_once(
    line: Line, ledger: SqlLedger, applied: Apply, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutation = await applied((GROUP, "desired_capacity", 2, 6))
    backlog = await _backlog(ledger)
    proposal = await line.prove(backlog.decided[mutation], backlog)
    with monkeypatch.context() as patched:
        patched.setattr(Branch, "commit", _killed)
        with pytest.raises(KeyboardInterrupt):
            await line.publish(backlog.decided[mutation], backlog, proposal)

    body = (await line.publish(backlog.decided[mutation], backlog, proposal)).body

    assert body.members["commit"]
    assert len(_log(line)) == 1


async def test_what_the_code_says_already_needs_no_terraform(line: Line, ledger: SqlLedger, applied: Apply) -> None:
    mutation = await applied((GROUP, "desired_capacity", 6, 2))
    backlog = await _backlog(ledger)
    without = replace(line, terraform=replace(line.terraform, executable="no-terraform-here"))

    body = await without.reconcile(backlog.decided[mutation], backlog)

    assert body.members["nothing_to_do"] == "The code declares the value already."
    assert body.members["merged"] is True


async def test_a_value_wanted_for_a_time_stays_out_of_code(line: Line, ledger: SqlLedger, applied: Apply) -> None:
    mutation = await applied((GROUP, "desired_capacity", 2, 6), wanted_for=timedelta(hours=1))
    backlog = await _backlog(ledger)

    body = await line.reconcile(backlog.decided[mutation], backlog)

    assert "commit" not in body.members
    assert "3600 seconds only" in str(body.members["kept_out"])


async def test_one_value_for_two_resources_is_left_with_the_chain(
    line: Line, ledger: SqlLedger, applied: Apply
) -> None:
    """A text is no number, so not even a condition gives each resource its own: Terraform refuses it."""
    mutation = await applied(("aws_cloudwatch_log_group.pair[0]", "retention_in_days", 14, "many"))
    backlog = await _backlog(ledger)

    body: Any = await line.reconcile(backlog.decided[mutation], backlog)

    (left,) = body.members["left"]
    assert "Terraform refuses it" in left["reason"]
    assert "a number is required" in left["reason"]
    assert "main.tf:" in left["chain"][0]
    assert _log(line) == []


async def test_a_value_that_somebody_changed_since_is_left(line: Line, ledger: SqlLedger, applied: Apply) -> None:
    """Live is 6, and 4 was called for."""
    mutation = await applied((GROUP, "desired_capacity", 2, 4))
    backlog = await _backlog(ledger)

    body = await line.reconcile(backlog.decided[mutation], backlog)

    assert "Live is 6 and not 4 any more" in str(body.members["left"])
    assert _log(line) == []


async def test_another_mutation_that_is_not_in_code_does_not_stand_in_the_way(
    line: Line, ledger: SqlLedger, applied: Apply, committed: Any
) -> None:
    committed.client("logs").put_retention_policy(logGroupName="/shop/app", retentionInDays=90)
    first = await applied((GROUP, "desired_capacity", 2, 6))
    second = await applied(("aws_cloudwatch_log_group.app", "retention_in_days", 30, 90))
    backlog = await _backlog(ledger)

    one = await line.reconcile(backlog.decided[first], backlog)
    two = await line.reconcile(backlog.decided[second], backlog)

    assert f"belongs to {second}" in str(one.members["proofs"])
    assert "ends with 0" in str(two.members["proofs"])
    assert len(_log(line)) == 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupted(Terraform):
    """Terraform, beside which something happens each time when it begins to plan, once for each entry."""

    happens: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    async def plan(self, root: Path, *, state: Path | None = None, targets: Sequence[str] = ()) -> Path | None:
        if self.happens:
            await self.happens.pop(0)()
        return await Terraform.plan(self, root, state=state, targets=targets)


def _interrupted(committed: Any, *happens: Callable[[], Awaitable[None]]) -> Interrupted:
    return Interrupted(
        environment=committed.environment,
        workdir=committed.workdir,
        shared_data=committed.path / ".terraform",
        happens=list(happens),
    )


@pytest.mark.parametrize("settle", [True, pytest.param(False, marks=pytest.mark.long)])
async def test_a_change_of_another_resource_during_the_proof_is_known(
    line: Line, ledger: SqlLedger, applied: Apply, committed: Any, *, settle: bool
) -> None:
    """Whether the outcome of the second is recorded yet or not. Once it is, the second is written too."""
    later: list[str] = []

    async def second() -> None:
        committed.client("logs").put_retention_policy(logGroupName="/shop/app", retentionInDays=90)
        later.append(await applied(("aws_cloudwatch_log_group.app", "retention_in_days", 30, 90), settle=settle))

    line = replace(line, terraform=_interrupted(committed, second))
    first = await applied((GROUP, "desired_capacity", 2, 6))
    backlog = await _backlog(ledger)

    one = await line.reconcile(backlog.decided[first], backlog)

    assert f"belongs to {later[0]}" in str(one.members["proofs"])
    assert "left" not in one.members
    if settle:
        assert [waiting.id for waiting in backlog.pending()][-1] == later[0]
        assert (await line.reconcile(backlog.decided[later[0]], backlog)).commit
        assert _log(line) == [
            "aws_cloudwatch_log_group.app: retention_in_days 30 → 90",
            f"{GROUP}: desired_capacity 2 → 6",
        ]


async def test_a_change_of_the_same_value_during_the_proof_is_not_called_foreign(
    line: Line, ledger: SqlLedger, applied: Apply, committed: Any
) -> None:
    later: list[str] = []

    async def second() -> None:
        committed.client("autoscaling").set_desired_capacity(AutoScalingGroupName="web", DesiredCapacity=8)
        await ledger.release(first, caller=AGENT, at=SystemClock().now())
        later.append(await applied((GROUP, "desired_capacity", 6, 8)))

    line = replace(line, terraform=_interrupted(committed, second))
    first = await applied((GROUP, "desired_capacity", 2, 6))
    backlog = await _backlog(ledger)

    one = await line.reconcile(backlog.decided[first], backlog)
    two = await line.reconcile(backlog.decided[later[0]], backlog)

    assert "outside of Sentinel" not in str(one)
    assert "left" not in one.members
    assert f"belongs to {later[0]}" in str(one.members["proofs"])
    assert two.members["commit"]
    assert _log(line) == [f"{GROUP}: desired_capacity 6 → 8", f"{GROUP}: desired_capacity 2 → 6"]


async def test_a_superseded_change_names_the_one_that_superseded_it(
    line: Line, ledger: SqlLedger, applied: Apply, committed: Any
) -> None:
    committed.client("autoscaling").set_desired_capacity(AutoScalingGroupName="web", DesiredCapacity=8)
    first = await applied((GROUP, "desired_capacity", 2, 6))
    await ledger.release(first, caller=AGENT, at=SystemClock().now())
    second = await applied((GROUP, "desired_capacity", 6, 8))
    backlog = await _backlog(ledger)

    one = await line.reconcile(backlog.decided[first], backlog)
    two = await line.reconcile(backlog.decided[second], backlog)

    assert one.members["superseded_by"] == [second]
    assert one.members["nothing_to_do"] == f"It was superseded before it was written: {second} changed the same since."
    assert "(live was 6)" in "".join(_log(line, "%b"))
    assert _log(line) == [f"{GROUP}: desired_capacity 2 → 8"]
    assert two.members["commit"]


async def test_a_foreign_difference_is_noted_and_a_change_beside_it_is_written(
    line: Line, ledger: SqlLedger, applied: Apply, committed: Any
) -> None:
    """Also on the same resource. What the edit itself moves is still found, see `test_plan_difference.py`."""
    committed.client("logs").put_retention_policy(logGroupName="/team/red", retentionInDays=60)
    committed.client("autoscaling").update_auto_scaling_group(AutoScalingGroupName="web", MaxSize=11)
    mutation = await applied((GROUP, "desired_capacity", 2, 6))
    backlog = await _backlog(ledger)

    body: Any = await line.reconcile(backlog.decided[mutation], backlog)

    assert body.members["files"] == ["terraform.tfvars"]
    assert "left" not in body.members
    assert all(proof["held"] for proof in body.members["proofs"])
    assert any("max_size" in noted for noted in body.members["noted"])
    assert any('aws_cloudwatch_log_group.team["red"].retention_in_days' in noted for noted in body.members["noted"])
    assert _log(line) == [f"{GROUP}: desired_capacity 2 → 6"]


@pytest.mark.long
async def test_what_was_left_is_written_when_its_reason_is_gone_and_the_record_is_corrected(
    line: Line, ledger: SqlLedger, applied: Apply, committed: Any
) -> None:
    """Somebody else had set 8, and sets it back."""
    committed.client("autoscaling").set_desired_capacity(AutoScalingGroupName="web", DesiredCapacity=8)
    mutation = await applied((GROUP, "desired_capacity", 2, 6))
    backlog = await _backlog(ledger)
    wrong = (await line.reconcile(backlog.decided[mutation], backlog)).members
    assert "no recorded mutation set it since" in wrong["left"][0]["reason"]
    assert wrong["tried"]["others"] == []
    await backlog.read(ledger)
    (over,) = backlog.left_over()

    assert "left" in (await line.reconcile(over, backlog)).members
    assert len(await ledger.records(RecordQuery(stage=Stage.RECONCILED))) == 1
    committed.client("autoscaling").set_desired_capacity(AutoScalingGroupName="web", DesiredCapacity=6)
    body = await line.reconcile(over, backlog)
    again = await line.reconcile(over, backlog)

    assert body.members["commit"] == again.members["commit"]
    assert body.members["corrects"] == over.corrects
    assert f"Sentinel-Corrects: {over.corrects}" in _log(line, "%(trailers:only)")
    later, earlier = await ledger.records(RecordQuery(stage=Stage.RECONCILED))
    assert (later.body.members["corrects"], later.body.members["commit"]) == (earlier.seq, body.members["commit"])
    await backlog.read(ledger)
    assert not list(backlog.left_over())
    await ledger.verify()


async def test_live_values_are_read_with_the_protected_code_and_one_plan(line: Line, committed: Any) -> None:
    committed.client("logs").delete_log_group(logGroupName="/team/red")
    try:
        live = await line.read_live([GROUP, 'aws_cloudwatch_log_group.team["red"]', "aws_sqs_queue.nowhere"])
    finally:
        logs = committed.client("logs")
        logs.create_log_group(logGroupName="/team/red")
        logs.put_retention_policy(logGroupName="/team/red", retentionInDays=7)

    assert live.objects[GROUP]["desired_capacity"] == 6
    assert live.exists('aws_cloudwatch_log_group.team["red"]') is False
    assert live.exists("aws_sqs_queue.nowhere") is None
    assert live.exists("aws_cloudwatch_log_group.app") is None
    assert not list(line.terraform.workdir.glob("plan-*"))


async def test_a_branch_that_conflicts_with_the_protected_one_is_left_to_a_human(
    ledger: SqlLedger, applied: Apply, repository: Path, tmp_path: Path, git: Callable[..., str]
) -> None:
    line = _without_terraform(ledger, repository, tmp_path)
    branch = await open_branch(source=repository, worktree=line.worktree, name=line.branch)
    await branch.commit({Path("main.tf"): b"locals {\n  a = 2\n}\n"}, "theirs\n")
    (repository / "main.tf").write_text("locals {\n  a = 3\n}\n")
    git(repository, "commit", "-qam", "ours")
    mutation = await applied((GROUP, "desired_capacity", 2, 6))
    backlog = await _backlog(ledger)

    body = await line.reconcile(backlog.decided[mutation], backlog)

    assert "changed the same lines" in str(body.members["left"])
    assert "commit" not in body.members


async def test_what_the_protected_branch_took_in_is_recorded_once_and_ends_the_claim(
    ledger: SqlLedger, applied: Apply, repository: Path, tmp_path: Path, git: Callable[..., str]
) -> None:
    mutation = await applied((GROUP, "desired_capacity", 2, 6))
    await ledger.record_reconciliation(mutation, at=SystemClock().now(), body=written_back({"commit": "c0ffee"}))
    ours = _without_terraform(ledger, repository, tmp_path)
    backlog = await _backlog(ledger)
    await ours.record_merges(backlog)
    assert backlog.committed == {mutation: "c0ffee"}
    git(repository, "commit", "-q", "--allow-empty", "-m", f"Squashed\n\nSentinel-Mutation: {mutation}")

    await ours.record_merges(backlog)
    await backlog.read(ledger)
    await ours.record_merges(backlog)

    assert not backlog.committed
    assert not await ledger.claims()
    merged = (await ledger.records(RecordQuery(stage=Stage.RECONCILED)))[0].body
    assert (merged.members["merged"], merged.members["branch"], merged.members["commit"]) == (
        True,
        "sentinel/shop",
        "c0ffee",
    )
    assert "Terraform was not found" in str(merged.members["state_not_refreshed"])
    assert len(await ledger.records(RecordQuery(stage=Stage.RECONCILED))) == 2


def _without_terraform(ledger: SqlLedger, repository: Path, tmp_path: Path) -> Line:
    return Line(
        stack="shop",
        source=repository,
        state=None,
        branch="sentinel/shop",
        worktree=tmp_path / "worktree",
        terraform=Terraform(environment={}, workdir=tmp_path, executable="no-terraform-here"),
        queries=ledger,
        commands=ledger,
        clock=SystemClock(),
        declared_cache=DeclaredCache(),
    )


async def _killed(*_: object) -> str:
    raise KeyboardInterrupt


async def test_what_code_refers_to_is_known_from_the_state(line: Line, ledger: SqlLedger, applied: Apply) -> None:
    mutation = await applied((GROUP, "desired_capacity", 2, 6))
    backlog = await _backlog(ledger)
    branch: Any = SimpleNamespace(root=line.source)
    context = line._context(branch, backlog.decided[mutation], backlog)
    assert context.recorded is not None
    recorded = await context.recorded()
    assert recorded[GROUP]["min_size"] == 1
    assert recorded["module.day.aws_iam_role.this"]["max_session_duration"] == 7200


async def test_what_an_agent_creates_gets_a_block_and_its_import(
    line: Line, committed: Any, ledger: SqlLedger, created: Apply
) -> None:
    logs = committed.client("logs")
    committed.client("autoscaling").set_desired_capacity(AutoScalingGroupName="web", DesiredCapacity=2)
    logs.create_log_group(logGroupName="/shop/jobs")
    logs.put_retention_policy(logGroupName="/shop/jobs", retentionInDays=7)
    try:
        call = Call(service="logs", operation="CreateLogGroup", region="eu-west-1")
        mutation = await created("aws_cloudwatch_log_group", {"name": "/shop/jobs"}, call=call)
        backlog = await _backlog(ledger)
        body = await line.reconcile(backlog.decided[mutation], backlog)
        again = await line.reconcile(backlog.decided[mutation], backlog)
    finally:
        logs.delete_log_group(logGroupName="/shop/jobs")

    assert "left" not in body.members, body
    diff = [
        row[1:] for row in str(body.members["diff"]).splitlines() if row.startswith("+") and not row.startswith("+++")
    ]
    assert "\n".join(diff).strip() == (
        'resource "aws_cloudwatch_log_group" "jobs" {\n  name              = "/shop/jobs"\n  retention_in_days = 7\n}\n\n'
        'import {\n  to = aws_cloudwatch_log_group.jobs\n  id = "/shop/jobs"\n}'
    )
    assert _log(line)[0].startswith("aws_cloudwatch_log_group.jobs: added")
    assert again.members["commit"] == body.members["commit"]


async def test_what_is_created_beside_the_stack_is_left_to_a_human(
    line: Line, ledger: SqlLedger, created: Apply
) -> None:
    call = Call(service="kinesis", operation="CreateStream", region="eu-west-1")
    mutation = await created("aws_kinesis_stream", {"name": "elsewhere"}, call=call)
    backlog = await _backlog(ledger)
    body = await line.reconcile(backlog.decided[mutation], backlog)
    assert "commit" not in body.members
    assert "aws_kinesis_stream elsewhere was created by agent-builder (kinesis:CreateStream) and is not written" in str(
        body.members["left"]
    )


async def test_a_call_that_nobody_understood_is_written_as_what_differs_since(
    line: Line, committed: Any, ledger: SqlLedger
) -> None:
    """Six machines are live, and the code declares two."""
    call = Call(service="autoscaling", operation="ResizeOfTomorrow", parameters={"AutoScalingGroupName": "web"})
    mutation = (await record_mutation(ledger, [], call=call)).id
    backlog = await _backlog(ledger)
    assert line.without_code(backlog.decided[mutation], backlog) is None

    body = await line.reconcile(backlog.decided[mutation], backlog)

    assert body.members["files"] == ["terraform.tfvars"], body.members
    assert "-desired = 2\n+desired = 6" in str(body.members["diff"])


async def test_a_call_that_nobody_understood_and_that_shows_nothing_is_left_until_a_commit_names_it(
    line: Line, committed: Any, ledger: SqlLedger
) -> None:
    mutation = (await record_mutation(ledger, [], call=Call(service="braket", operation="CreateJob"))).id
    backlog = await _backlog(ledger)

    body = await line.reconcile(backlog.decided[mutation], backlog)

    assert [(each.address, each.attribute) for each in body.left] == [("braket:CreateJob", "*")]
    await backlog.read(ledger)
    [left] = backlog.left_over()
    _commit_nothing(committed.path, f"The job is declared elsewhere\n\nSentinel-Mutation: {mutation}")
    assert (await line.reconcile(left, backlog)).nothing_to_do == "A commit of the protected branch names it."
    await backlog.read(ledger)
    assert mutation not in backlog.decided


def _commit_nothing(path: Path, message: str) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *identity, "commit", "--allow-empty", "-qm", message], cwd=path, check=True)
