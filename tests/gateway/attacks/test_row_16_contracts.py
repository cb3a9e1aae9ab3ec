"""Contracts were read from the working tree instead of a commit of the protected branch.

The attack: somebody with write access to the directory that the gateway guards, the reconciler or an agent on the same machine, edits a
contract there, or the code that a contract refers to, and a moment later the wider bound holds. What must hold: in a git checkout only
what is committed on the protected branch counts, be it contract, code, module or value of a variable; a new commit there is taken up live.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.core.errors import CodeInvalid
from gateway.core.model.verdict import Mode
from gateway.core.settings import StackSettings
from gateway.terraform.stacks import Stacks
from tests.kit.gate import ASG, STACK, Gate
from tests.kit.git import clone, commit, git, repository

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

CONTRACT = "kafka.sentinel.hcl"
URL = "https://sqs.us-east-1.amazonaws.com/123456789012"


@dataclass(frozen=True)
class Ask:
    """A call that the contracts of the protected branch refuse."""

    service: str
    operation: str
    parameters: dict[str, Any]


CAPACITY = Ask("autoscaling", "SetDesiredCapacity", {"AutoScalingGroupName": ASG, "DesiredCapacity": 9})
SKELETON = Ask("autoscaling", "UpdateAutoScalingGroup", {"AutoScalingGroupName": ASG, "MinSize": 1})
PURGE = Ask("sqs", "PurgeQueue", {"QueueUrl": f"{URL}/kafka-shard-0"})
HIDE = Ask(
    "sqs", "SetQueueAttributes", {"QueueUrl": f"{URL}/kafka-shard-0", "Attributes": {"VisibilityTimeout": "901"}}
)
HIDE_IN_MODULE = Ask("sqs", "SetQueueAttributes", {"QueueUrl": f"{URL}/kafka-retry", "Attributes": {"VisibilityTimeout": "121"}})  # fmt: skip
CREATE = Ask("sqs", "CreateQueue", {"QueueName": "evil"})


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository with the protected branch, which nobody attacks."""
    directory = tmp_path_factory.mktemp("source") / "kafka"
    shutil.copytree(STACK, directory)
    return repository(directory)


@pytest.fixture(scope="module")
def cloned(tmp_path_factory: pytest.TempPathFactory, source: Path) -> Iterator[Gate]:
    """A gateway that guards a clone, whose `main` follows `origin/main`."""
    gate = Gate(directory=tmp_path_factory.mktemp("cloned"))
    shutil.rmtree(gate.stack)
    clone(source, gate.stack)
    with gate:
        yield gate


@pytest.fixture(autouse=True)
def restored(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every attack finds the clone as it was made."""
    yield
    if "cloned" in request.fixturenames:
        stack = request.getfixturevalue("cloned").stack
        git(stack, "checkout", "--quiet", "--force", "-B", "main", "origin/main")
        git(stack, "clean", "-qfdx")


def _verdict(gate: Gate, ask: Ask, actor: str = "agent") -> str:
    body = {
        "service": ask.service,
        "operation": ask.operation,
        "parameters": ask.parameters,
        "dry_run": True,
        "motive": {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]},
    }
    told = httpx.post(f"{gate.url}/v1/mutations", json=body, headers=gate.bearer(actor)).json()
    return str(told["decision"]["verdict"])


def _ready(gate: Gate) -> dict[str, Any]:
    return dict(httpx.get(f"{gate.url}/readyz").json())


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.1)


def _merge(gate: Gate, source: Path) -> None:
    """Commit on the protected branch, and wait until the gateway has taken it up: then it has seen whatever was done before."""
    before = _ready(gate)["code"]
    with (source / "main.tf").open("a") as file:
        file.write("# merged\n")
    commit(source)
    git(gate.stack, "fetch", "--quiet", "origin")
    _until(lambda: bool(_ready(gate)["code"] != before))


def _edited(name: str, *pairs: tuple[str, str]) -> Callable[[Path], None]:
    def edit(stack: Path) -> None:
        text = (stack / name).read_text()
        for old, new in pairs:
            assert old in text
            text = text.replace(old, new)
        (stack / name).write_text(text)

    return edit


def _written(name: str, text: str) -> Callable[[Path], None]:
    def write(stack: Path) -> None:
        (stack / name).write_text(text)

    return write


def _gone(name: str) -> Callable[[Path], None]:
    return lambda stack: (stack / name).unlink()


def _then(*steps: Callable[[Path], object]) -> Callable[[Path], None]:
    def run(stack: Path) -> None:
        for step in steps:
            step(stack)

    return run


def _git(*arguments: str) -> Callable[[Path], object]:
    return lambda stack: git(stack, *arguments)


WIDER = _edited(CONTRACT, ("max_step = 4", "max_step = 40"))
ATTACKS: dict[str, tuple[Callable[[Path], None], Ask]] = {
    "a contract edited": (WIDER, CAPACITY),
    "a contract edited and staged": (_then(WIDER, _git("add", "--all")), CAPACITY),
    "a contract committed on another branch": (_then(_git("checkout", "-q", "-B", "x"), WIDER, commit), CAPACITY),
    "a contract committed on the local main": (_then(WIDER, commit), CAPACITY),
    "a commit without a branch": (_then(_git("checkout", "-q", "--detach"), WIDER, commit), CAPACITY),
    "another upstream after the start": (
        _then(
            _git("checkout", "-q", "-B", "x"), WIDER, commit, _git("config", "branch.main.remote", "."),
            _git("config", "branch.main.merge", "refs/heads/x"), _git("checkout", "-q", "main"),
        ), CAPACITY,
    ),
    "a bound taken out": (_edited(CONTRACT, ("      max_step = 4\n", "")), CAPACITY),
    "an attribute made mutable": (_edited(CONTRACT, ('managed_by_agent = true\n\n    attribute "desired', 'managed_by_agent = true\n    mutable = ["min_size"]\n\n    attribute "desired')), SKELETON),
    "an invoke granted": (_edited(CONTRACT, ('mutable          = ["tags.owner"]', 'allow_invoke = ["PurgeQueue"]')), PURGE),
    "a local that a bound refers to": (_edited("variables.tf", ("15 * 60", "900 * 60")), HIDE),
    "a local replaced by a new file": (
        _then(_edited("variables.tf", ("  longest_visibility = 15 * 60\n", "")), _written("x.tf", "locals {\n  longest_visibility = 43200\n}\n")), HIDE,
    ),
    "a module's argument that its contract refers to": (_edited("main.tf", ("visibility = 60\n", "visibility = 6000\n")), HIDE_IN_MODULE),
    "a module's contract taken out": (_gone("modules/worker/worker.sentinel.hcl"), HIDE_IN_MODULE),
    "a module moved away from its contract": (
        _then(lambda stack: shutil.copytree(stack / "modules" / "worker", stack / "modules" / "free"), _gone("modules/free/worker.sentinel.hcl"), _edited("main.tf", ("./modules/worker", "./modules/free"))), HIDE_IN_MODULE,
    ),
    "a resource declared for the agent to create": (_written("evil.tf", 'resource "aws_sqs_queue" "evil" {\n  name = "evil"\n}\n'), CREATE),
    "a file of values that git ignores": (_then(_edited(CONTRACT, ("= 4", "= var.step")), _written("step.tf", 'variable "step" {\n  default = 4\n}\n'), _written("x.auto.tfvars", "step = 40\n")), CAPACITY),
}  # fmt: skip


@pytest.mark.parametrize(("attack", "ask"), ATTACKS.values(), ids=ATTACKS.keys())
def test_what_is_not_on_the_protected_branch_widens_nothing(
    cloned: Gate, source: Path, attack: Callable[[Path], None], ask: Ask
) -> None:
    attack(cloned.stack)
    _merge(cloned, source)
    assert _verdict(cloned, ask) == "deny"
    assert _ready(cloned)["status"] == "ready"


def test_values_in_no_commit_do_not_reach_a_bound_of_the_protected_branch(cloned: Gate, source: Path) -> None:
    text = (source / CONTRACT).read_text()
    (source / CONTRACT).write_text(text.replace("max_step = 4", "max_step = var.step"))
    (source / "step.tf").write_text('variable "step" {\n  default = 4\n}\n')
    (cloned.stack / "x.auto.tfvars").write_text("step = 40\n")
    _merge(cloned, source)
    denied = _verdict(cloned, CAPACITY)
    (source / CONTRACT).write_text(text)
    (source / "step.tf").unlink()
    _merge(cloned, source)
    assert denied == "deny"


def test_what_holds_for_humans_is_not_widened_either(cloned: Gate, source: Path) -> None:
    WIDER(cloned.stack)
    _merge(cloned, source)
    assert _verdict(cloned, CAPACITY, "human") == "deny"


def test_a_commit_of_the_protected_branch_is_taken_up_and_a_broken_one_is_not(cloned: Gate, source: Path) -> None:
    assert _verdict(cloned, CAPACITY) == "deny"
    WIDER(source)
    _merge(cloned, source)
    assert _verdict(cloned, CAPACITY) == "allow"
    _edited(CONTRACT, ("max_step = 40", "steps    = 40"))(source)
    commit(source)
    git(cloned.stack, "fetch", "--quiet", "origin")
    _until(lambda: bool(_ready(cloned)["status"] == "degraded"))
    assert f"{CONTRACT}:11" in str(_ready(cloned)["problems"])
    assert _verdict(cloned, CAPACITY) == "allow"
    _edited(CONTRACT, ("steps    = 40", "max_step = 4"))(source)
    _merge(cloned, source)
    assert (_ready(cloned)["status"], _verdict(cloned, CAPACITY)) == ("ready", "deny")


def test_it_is_shown_where_contracts_are_read(cloned: Gate, gate: Gate) -> None:
    assert _ready(cloned)["contracts"] == {"kafka": f"refs/remotes/origin/main of {cloned.stack.resolve()}"}
    assert _ready(gate)["contracts"] == {"kafka": f"the files in {gate.stack}"}


# At the start and without a gateway -------------------------------------------------------------------------------------


def _load(path: Path, protected_branch: str = "") -> Stacks:
    return Stacks.load([StackSettings(name="kafka", path=path, protected_branch=protected_branch)], default_mode=Mode.ENFORCE)  # fmt: skip


def _step(stacks: Stacks) -> int:
    contract = stacks.all[0].contract("aws_autoscaling_group.kafka_consumer")
    (step,) = [
        bound.limit for bound in contract.evaluate({"min_size": 2, "max_size": 16}, {}) if bound.name == "max_step"
    ]
    assert isinstance(step, int)
    return step


@pytest.fixture
def local(tmp_path: Path) -> Path:
    """A repository of its own, without a remote."""
    return repository(Path(shutil.copytree(STACK, tmp_path / "kafka")))


def test_a_restart_reads_the_protected_branch_again(local: Path) -> None:
    git(local, "checkout", "--quiet", "-b", "other")
    WIDER(local)
    commit(local)
    assert _step(_load(local)) == 4
    assert _step(_load(local, "other")) == 40


def test_a_repository_that_goes_away_leaves_the_last_good_version(local: Path) -> None:
    stacks = _load(local)
    WIDER(local)
    (local / ".git").rename(local / "git")
    assert stacks.refresh()
    assert not stacks.refresh()
    assert _step(stacks) == 4
    assert "cannot be read" in stacks.problems[0]
    (local / "git").rename(local / ".git")
    assert stacks.refresh()
    assert (_step(stacks), stacks.problems) == (4, ())


def test_with_a_protected_branch_set_the_start_without_git_is_refused(local: Path) -> None:
    shutil.rmtree(local / ".git")
    with pytest.raises(CodeInvalid, match="not in a git checkout"):
        _load(local, "main")
    assert "anyone who can write there can widen them" in _load(local).origin_warnings[0]


def test_nothing_new_on_the_branch_reads_no_code(local: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stacks = _load(local)
    WIDER(local)
    monkeypatch.setattr("gateway.terraform.origins.load_code", pytest.fail)
    assert not stacks.refresh()
