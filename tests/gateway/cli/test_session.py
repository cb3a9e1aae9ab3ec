"""`sentinel session`, in its own process because the command replaces it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

ROOT = Path(__file__).parents[3]
MOTIVE = ("--intent", "availability", "--motivation", "incident", "--evidence", "ALERT-7")
Speak = Callable[..., None]


@pytest.fixture(autouse=True)
def agent(gate: Gate, speak_as: Speak) -> None:
    speak_as(gate, "agent")


def session(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gateway", "session", *MOTIVE, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


SHOW = "import json, os; print(json.dumps(dict(os.environ)))"


def test_a_command_runs_with_the_sessions_environment_and_no_other(gate: Gate) -> None:
    done = session(
        "--", sys.executable, "-c", SHOW, AWS_PROFILE="prod", AWS_SESSION_TOKEN="old", AWS_REGION="eu-west-1"
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["AWS_ENDPOINT_URL"] == seen["SENTINEL_URL"] == gate.url
    assert seen["AWS_ACCESS_KEY_ID"].startswith("SNTS")
    assert seen["SENTINEL_TOKEN"] == f"{seen['AWS_ACCESS_KEY_ID']}.{seen['AWS_SECRET_ACCESS_KEY']}"
    assert (seen["AWS_REGION"], "AWS_PROFILE" in seen, "AWS_SESSION_TOKEN" in seen) == ("eu-west-1", False, False)


def test_an_unmodified_program_carries_the_motive(gate: Gate) -> None:
    program = f"import boto3; boto3.client('autoscaling').set_desired_capacity(AutoScalingGroupName='{ASG}', DesiredCapacity=6)"
    done = session("--", sys.executable, "-c", program, AWS_REGION="us-east-1")
    assert done.returncode == 0, done.stderr
    decided = [record for record in gate.records(actor="agent") if record.stage == "decided"][-1]
    motive = decided.body.members["motive"]
    assert isinstance(motive, dict)
    assert (motive["intent"], motive["motivation"], motive["evidence"]) == ("availability", "incident", ["ALERT-7"])


@pytest.mark.parametrize("code", [0, 3, 255])
def test_the_commands_exit_code_is_passed_through(code: int) -> None:
    assert session("--", sys.executable, "-c", f"raise SystemExit({code})").returncode == code


def test_the_commands_own_options_are_its_own() -> None:
    done = session("--", sys.executable, "-c", "import sys; print(sys.argv[1:])", "--json", "--for", "--", "-x")
    assert done.stdout == "['--json', '--for', '--', '-x']\n"
    done = session(sys.executable, "-c", "import sys; print(sys.argv[1:])", "--for", "x")
    assert done.stdout == "['--for', 'x']\n"


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    done = session("--", "no-such-[red]command")
    assert (done.returncode, done.stdout) == (127, "")
    assert "There is no command 'no-such-[red]command'" in done.stderr
    plain = tmp_path / "plain"
    plain.touch()
    done = session("--", str(plain))
    assert (done.returncode, "cannot run" in done.stderr) == (126, True)


def test_for_eval_it_prints_export_and_unset_lines_only() -> None:
    elsewhere = {"AWS_ENDPOINT_URL_SQS": "https://elsewhere.example"}
    done = session(**elsewhere)
    assert done.returncode == 0
    assert done.stderr == ""
    words = [line.split() for line in done.stdout.splitlines()]
    assert {word[0] for word in words} == {"export", "unset"}
    assert ["unset", "AWS_ENDPOINT_URL_SQS"] in words
    shell = subprocess.run(
        ["/bin/sh", "-c", done.stdout + 'echo "$AWS_ACCESS_KEY_ID ${AWS_PROFILE-gone}"'],
        env={"AWS_PROFILE": "prod", **elsewhere}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert shell.stdout.startswith("SNTS")
    assert shell.stdout.endswith(" gone\n")


def test_as_json(document: Callable[..., tuple[int, Any]], gate: Gate) -> None:
    code, reply = document("session", *MOTIVE, "--for", "5m")
    assert (code, reply["environment"]["AWS_ENDPOINT_URL"]) == (0, gate.url)
    assert reply["expires_at"]


BAD = {
    "a bad duration": ("--for", "soon"),
    "nothing": ("--for", "0s"),
    "wanted for ever": ("--wanted-for", "ever"),
    "words without end": ("--why", "x" * 1001),
}


@pytest.mark.parametrize("given", BAD.values(), ids=BAD)
def test_bad_input_is_an_error(given: tuple[str, ...], document: Callable[..., tuple[int, Any]]) -> None:
    code, reply = document("session", *MOTIVE, *given)
    assert (code, len(reply["detail"]) > 10) == (1, True)


def test_json_and_a_command_are_not_mixed(document: Callable[..., tuple[int, Any]]) -> None:
    from typer.testing import CliRunner  # noqa: PLC0415  `document` puts --json last, where it would be the command's

    from gateway.__main__ import app  # noqa: PLC0415

    done = CliRunner().invoke(app, ["session", *MOTIVE, "--json", "--", "true"])
    assert (done.exit_code, json.loads(done.stdout)["code"]) == (1, "malformed")
