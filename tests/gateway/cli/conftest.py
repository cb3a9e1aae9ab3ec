"""Fixtures to run commands: in process with Typer's runner, in an empty directory, as any actor."""

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import structlog
from typer.testing import CliRunner, Result

from gateway.__main__ import app

if TYPE_CHECKING:
    from tests.kit.gate import Gate  # most tests of commands need none, and it takes a second to import

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands look for settings and credentials in the current directory: an empty one."""
    here = tmp_path_factory.mktemp("here")
    monkeypatch.chdir(here)
    return here


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Silences the log of the gateway under test, which runs in this process and would mix with a command's output."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield
    structlog.reset_defaults()


@pytest.fixture
def sentinel() -> Run:
    """Run a command; whatever happens, it ends with an exit code and never with a traceback."""

    def run(*arguments: str) -> Result:
        done = CliRunner().invoke(app, list(arguments))
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        assert "Traceback" not in done.output
        return done

    return run


@pytest.fixture
def document(sentinel: Run) -> Callable[..., tuple[int, Any]]:
    """Run a command with `--json`: its exit code, and the one JSON document that is all of its standard output."""

    def run(*arguments: str) -> tuple[int, Any]:
        done = sentinel(*arguments, "--json")
        return done.exit_code, json.loads(done.stdout)

    return run


@pytest.fixture
def speak_as(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Give the commands the identity of one of a gate's actors."""

    def speak(gate: "Gate", actor: str) -> None:
        monkeypatch.setenv("SENTINEL_URL", gate.url)
        monkeypatch.setenv("SENTINEL_TOKEN", gate.bearer(actor)["Authorization"].removeprefix("Bearer "))

    return speak


@pytest.fixture
def propose() -> Sequence[str]:
    """A change that the gate's contract allows, for an incident."""
    parameters = json.dumps({"AutoScalingGroupName": "kafka-consumer-processor-asg", "DesiredCapacity": 6})
    motive = ("--intent", "availability", "--motivation", "incident", "--evidence", "ALERT-1")
    return ("propose", "autoscaling", "SetDesiredCapacity", parameters, *motive)
