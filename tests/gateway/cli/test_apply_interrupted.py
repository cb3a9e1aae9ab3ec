"""`sentinel apply` that is ended by a signal, and that waits for a person: with real Terraform, in a process of its own."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import httpx
import pytest
from moto.sns.models import SNSBackend

from gateway.core.model.caller import ActorKind
from gateway.core.records.record import Stage
from gateway.core.settings import StackSettings
from gateway.terraform.provider_mirror import terraform_environment
from tests.gateway.cli.test_apply import PLANS, ends, initialised, resources
from tests.kit.gate import Gate
from tests.kit.moto import MotoUpstream
from tests.kit.up import ROOT

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow, pytest.mark.terraform]
LONG = 300
"""Seconds that no step takes on the slowest machine."""
Command = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory, slim_terraform: Path) -> Path:
    """The stack, initialised."""
    return initialised(tmp_path_factory, PLANS / "interrupted", slim_terraform)


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory, code: Path) -> Iterator[Gate]:
    """A gateway in front of the simulated AWS, with the stack."""
    stack = StackSettings(name="interrupted", path=code)
    with Gate(directory=tmp_path_factory.mktemp("gate"), upstream=MotoUpstream(), more_stacks=(stack,)) as running:
        yield running


@pytest.fixture
def started(gate: Gate, code: Path, tmp_path: Path, slim_terraform: Path) -> Iterator[Command]:
    """Start `sentinel apply` as a pipeline does, in a group of processes like that of a terminal."""
    base = {**os.environ, "TF_CLI_CONFIG_FILE": str(slim_terraform)}
    environment: Mapping[str, str] = terraform_environment(mirror=None, workdir=tmp_path, base=base)
    token = gate.bearer("pipeline")["Authorization"].removeprefix("Bearer ")
    own = {"SENTINEL_URL": gate.url, "SENTINEL_TOKEN": token, "AWS_REGION": "us-east-1", "PYTHONPATH": str(ROOT)}
    running: list[subprocess.Popen[str]] = []

    def start(*options: str) -> "subprocess.Popen[str]":
        wanted = ["apply", "--stack", "interrupted", "--chdir", str(code), *options]
        process = subprocess.Popen(
            [sys.executable, "-m", "gateway", *wanted],
            cwd=tmp_path, env={**environment, **own, "AWS_EC2_METADATA_DISABLED": "true"}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        running.append(process)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def topic(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Event, threading.Event]]:
    """AWS makes a topic only when it may: set once it is asked for one, and to be set."""
    asked, may = threading.Event(), threading.Event()
    make = SNSBackend.create_topic

    def create_topic(self: SNSBackend, *given: Any, **named: Any) -> Any:
        asked.set()
        assert may.wait(LONG)
        return make(self, *given, **named)

    monkeypatch.setattr(SNSBackend, "create_topic", create_topic)
    yield asked, may
    may.set()


def read_until(output: IO[str], words: str) -> str:
    """What a process says, up to the line with these words."""
    said = ""
    for line in output:
        said += line
        if words in line:
            return said
    raise AssertionError(f"it never said {words!r}:\n{said}")


def settled(gate: Gate) -> list[tuple[str, str]]:
    """Operation and outcome of each call that was sent, oldest first."""
    names = {each.mutation_id: each.body.members["call"]["operation"] for each in gate.records(stage=Stage.DECIDED)}
    return [(names[each.mutation_id], each.body.members["outcome"]) for each in gate.records(stage=Stage.SETTLED)]


@pytest.mark.parametrize(
    "by_terminal",
    [pytest.param(True, id="interrupt", marks=pytest.mark.long), pytest.param(False, id="terminate")],
)
def test_a_signal_ends_the_apply_with_what_is_under_way_recorded(
    gate: Gate, code: Path, started: Command, topic: tuple[threading.Event, threading.Event], *, by_terminal: bool
) -> None:
    asked, may = topic
    before, calls = len(ends(gate)), len(settled(gate))
    process = started("--", "-no-color", "-input=false")
    assert process.stdout is not None
    assert asked.wait(LONG), "AWS was never asked"
    if by_terminal:  # Control-C, which reaches Terraform by itself
        os.killpg(process.pid, signal.SIGINT)
    else:  # a runner that ends its job
        process.send_signal(signal.SIGTERM)
    said = read_until(process.stdout, "Gracefully shutting down")
    may.set()
    rest, _ = process.communicate(timeout=LONG)

    assert process.returncode == 1, said + rest
    assert "Traceback" not in said + rest
    # What AWS had been asked for is done and recorded, though Terraform lets its provider hang up; the rest was not begun.
    assert set(resources(code)) <= {"aws_sns_topic.first"}
    assert ("CreateTopic", "applied") in settled(gate)[calls:]
    assert not [name for name, _ in settled(gate)[calls:] if name == "CreateRepository"]
    [end] = ends(gate)[before:]
    assert (end["end"], end["exit_code"], end["unused"]) == ("ended", 1, ["aws_ecr_repository.second"])
    _forget(gate, code)


def _forget(gate: Gate, code: Path) -> None:
    """Let the next test begin with nothing: the topic, and what the state says of it."""
    upstream: Any = gate.upstream
    sns = upstream.client("sns")
    for each in sns.list_topics()["Topics"]:
        sns.delete_topic(TopicArn=each["TopicArn"])
    (code / "terraform.tfstate").unlink(missing_ok=True)


@pytest.mark.long
def test_an_apply_that_waits_goes_on_once_a_person_approved_and_ends_with_an_interrupt(
    gate: Gate, code: Path, started: Command
) -> None:
    made = started("--wait", "--json", "--", "-no-color", "-input=false")
    out, _ = made.communicate(timeout=LONG)
    assert made.returncode == 0, out
    before = len(ends(gate))
    # To delete a repository destroys data: the plan waits, and an interrupt ends the waiting.
    waiting = started("--wait", "--", "-no-color", "-input=false", "-destroy")
    assert waiting.stdout is not None
    plan = _held(read_until(waiting.stdout, "Held as"))
    os.killpg(waiting.pid, signal.SIGINT)
    rest, _ = waiting.communicate(timeout=LONG)
    assert (waiting.returncode not in (0, -signal.SIGINT), "Traceback" in rest) == (True, False), rest
    assert (len(resources(code)), len(ends(gate))) == (2, before)
    # The same plan is held as the same; approved, it is applied by the command that still waits.
    waiting = started("--wait", "--", "-no-color", "-input=false", "-destroy")
    assert waiting.stdout is not None
    assert _held(read_until(waiting.stdout, "Held as")) == plan
    for person in ("human", gate.issue("another", kind=ActorKind.HUMAN, roles=("approver",))):
        url = f"{gate.url}/v1/mutations/{plan}/approve"
        assert httpx.post(url, headers=gate.bearer(person), json={}, timeout=LONG).status_code == 200
    rest, _ = waiting.communicate(timeout=LONG)
    assert waiting.returncode == 0, rest
    assert resources(code) == []
    [end] = ends(gate)[before:]
    assert (end["end"], end["exit_code"], end["unused"]) == ("ended", 0, [])
    assert gate.run(gate.ledger.verify())


def _held(said: str) -> str:
    """The plan that is held."""
    return said.partition("Held as ")[2].partition(":")[0]
