"""A gateway of an earlier version and one of this version on one ledger: the schema is migrated under the old one, both decide, and the old one ends.

The earlier versions are the last two tags, and as long as there are none the last commits with earlier schemas. Once the old one has ended, all that
this version stores is allowed, and it goes on.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from gateway.ledger.store.migrate import HEAD
from tests.chaos.aws import LoggingAws, carried_out
from tests.chaos.stack import write_stack
from tests.kit.forked import Forked, python_m, ran
from tests.kit.stores import Cluster
from tests.kit.up import free_port

pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.allow_hosts(["127.0.0.1"])]

ROOT: Final = Path(__file__).parents[2]
BEFORE_TAGS: Final = ("a5bc3b6322502954a4667e4f74b97431297ccef8", "82dee8f993d18b4ab783173c597ad28de6b53621")
"""The last commits with schema v0004 and v0007."""
_MOST_SECONDS: Final = 300


def _git(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=False)


def _earlier() -> list[str]:
    tags = _git("tag", "--list", "v*", "--sort=-v:refname").stdout.decode().split()
    return tags[:2] or list(BEFORE_TAGS)


@pytest.fixture(params=_earlier())
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The tree of an earlier version."""
    version = str(request.param)
    packed = _git("archive", version, "gateway", "reconciler", "policies")
    shallow = _git("rev-parse", "--is-shallow-repository").stdout.strip() != b"false"
    # A history that was rewritten or joined into one commit has no version before the first tag either. A tag is always there.
    if packed.returncode and (shallow or version in BEFORE_TAGS):
        pytest.skip(
            f"This clone has no history, so {version} is not there to be upgraded from: git fetch --unshallow --tags"
        )
    assert packed.returncode == 0, packed.stderr.decode()
    (tmp_path / "old").mkdir()
    subprocess.run(["tar", "-x", "-C", str(tmp_path / "old")], input=packed.stdout, check=True)
    return tmp_path / "old"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=[pytest.mark.postgres, pytest.mark.long])])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a ledger that nobody has made yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    cluster: Cluster = request.getfixturevalue("postgres")
    return cluster.new_database()


class Gateways:
    """Runs the command of one tree or another with the settings of one deployment."""

    def __init__(self, directory: Path, ledger: str, aws: int) -> None:
        self._directory = directory
        stack = write_stack(directory / "stack", directory / "remote.git", 2)
        self._common = (
            f'data = "{directory / "data"}"\nledger = "{ledger}"\n[upstream]\nsimulated = "http://127.0.0.1:{aws}"\n'
            f'[[stacks]]\nname = "queues"\npath = "{stack}"\n'
        )

    def command(self, tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        if tree == ROOT:
            return ran(*self._argv(*arguments, port=1), environment=_environment())
        return subprocess.run(
            [sys.executable, "-m", *self._argv(*arguments, port=1)],
            cwd=tree, env=_environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip

    @contextmanager
    def serving(self, tree: Path) -> Iterator[str]:
        """The address of a gateway of a tree, which settles what runs and ends by itself at the end."""
        port = free_port()
        log = self._directory / f"{port}.log"
        with log.open("wb") as told:
            argv = self._argv("serve", port=port)
            process: subprocess.Popen[bytes] | Forked
            if tree == ROOT:
                process = python_m(*argv, environment=_environment(), output=told, errors=told)
            else:
                command = [sys.executable, "-m", *argv]
                process = subprocess.Popen(command, cwd=tree, env=_environment(), stdout=told, stderr=told)
        try:
            _until_ready(f"http://127.0.0.1:{port}", process, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.send_signal(signal.SIGTERM)
            code = process.wait(_MOST_SECONDS)
        assert code in (0, -signal.SIGTERM), log.read_text()[-2000:]  # uvicorn ends by the signal, after its work

    def _argv(self, *arguments: str, port: int) -> list[str]:
        config = self._directory / f"sentinel-{port}.toml"
        config.write_text(self._common + f"[server]\nport = {port}\nlease_seconds = 2\n")
        return ["gateway", *arguments, "--config", str(config)]


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SENTINEL_")}
    return {**kept, "PYTHONPATH": ""}


def _until_ready(address: str, process: "subprocess.Popen[bytes] | Forked", log: Path) -> None:
    until = time.monotonic() + _MOST_SECONDS
    while True:
        assert process.poll() is None, log.read_text()[-2000:]
        assert time.monotonic() < until, log.read_text()[-2000:]
        try:
            if httpx.get(f"{address}/readyz", timeout=10).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)


def _ask(address: str, token: str, value: int, attempt: str, queue: int = 1) -> tuple[int, Any]:
    body = {
        "service": "sqs",
        "operation": "SetQueueAttributes",
        "parameters": {
            "QueueUrl": f"https://sqs.us-east-1.amazonaws.com/123456789012/queue-{queue}",
            "Attributes": {"VisibilityTimeout": str(value)},
        },
        "motive": {"intent": "availability", "motivation": "routine"},
    }
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": attempt}
    answer = httpx.post(f"{address}/v1/mutations", json=body, headers=headers, timeout=_MOST_SECONDS)
    return answer.status_code, answer.json()


def _told(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def _finished(deployment: Gateways) -> bool:
    """Finish the migration as soon as the lease of the old gateway has run out, which a signal ended."""
    until = time.monotonic() + _MOST_SECONDS
    while (done := deployment.command(ROOT, "migrate", "--finish", "--json")).returncode and time.monotonic() < until:
        assert "holds a lease of this ledger still" in done.stdout
        time.sleep(0.1)
    return bool(_told(done)["finished"])


def test_old_and_new_side_by_side(old: Path, empty_url: str, tmp_path: Path) -> None:
    with LoggingAws(tmp_path / "aws.log") as aws:
        deployment = Gateways(tmp_path, empty_url, aws.port)
        key = _told(deployment.command(old, "key", "create", "ann", "--kind", "human", "--json"))
        token = f"{key['access_key_id']}.{key['secret_access_key']}"
        with deployment.serving(old) as first:
            assert _ask(first, token, 1, "one")[0] == 200
            migrated = _told(deployment.command(ROOT, "migrate", "--json"))
            assert migrated["before"] < migrated["after"] == HEAD
            # The old one goes on with the new schema, before and beside a new one.
            assert _ask(first, token, 2, "two")[0] == 200
            with deployment.serving(ROOT) as second:
                assert _ask(second, token, 3, "three")[0] == 200
                assert _ask(first, token, 4, "four")[0] == 200
                # What is spent at one is spent at the other.
                (spent, told), (again, repeated) = _ask(first, token, 5, "five"), _ask(second, token, 5, "five")
                assert (spent, again, told["mutation"]["id"]) == (200, 200, repeated["mutation"]["id"])
                _told(deployment.command(ROOT, "key", "revoke", key["access_key_id"], "--json"))
                until = time.monotonic() + _MOST_SECONDS
                while (status := _ask(first, token, 6, "six")[0]) != 401 and time.monotonic() < until:
                    time.sleep(0.1)
                assert status == 401
        assert [each.value for each in carried_out(aws.log)][:5] == [1, 2, 3, 4, 5]
        assert _told(deployment.command(ROOT, "verify", "--json"))["verified"] > 10
        assert _finished(deployment)
        key = _told(deployment.command(ROOT, "key", "create", "ben", "--kind", "human", "--json"))
        token = f"{key['access_key_id']}.{key['secret_access_key']}"
        with deployment.serving(ROOT) as finished:
            # Another queue: what ann changed just before may hold what ben wants.
            told = [_ask(finished, token, value, f"after-{value}", queue=0) for value in (6, 7)]
            assert [status for status, _ in told] == [200, 200], told
            assert _ask(finished, token, 7, "after-7", queue=0)[1]["mutation"]["id"] == told[-1][1]["mutation"]["id"]
        assert _told(deployment.command(ROOT, "verify", "--json"))["verified"] > 14
        # The old one does not start again: its rows would lack what the new schema wants.
        refused = deployment.command(old, "migrate", "--json")
        assert refused.returncode == 1
        assert "run the version of Sentinel that migrated it, or a newer one" in refused.stdout
