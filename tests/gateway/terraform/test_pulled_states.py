"""States in other backends are read by Terraform, kept, read again beside the requests, and what goes wrong is a sentence."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import cast

import pytest

from gateway.aws.client.states import BucketStates, States
from gateway.core.errors import CodeInvalid
from gateway.core.model.verdict import Mode
from gateway.core.times import SystemClock
from gateway.terraform.config.backend import StateBackend
from gateway.terraform.pulled_states import PulledStates
from gateway.terraform.stacks import Stacks
from tests.kit.stacks import Source
from tests.kit.stores import Cluster, running_cluster

_END = 300


@dataclass
class Backend:
    """A server that keeps one state, as Terraform's backend `http` wants it."""

    content: bytes = b""
    status: int = 200
    asked: int = 0
    passwords: list[str] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    url: str = ""


@pytest.fixture
def backend() -> Iterator[Backend]:
    state = Backend()
    state.released.set()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked += 1
            state.passwords.append(self.headers.get("Authorization", ""))
            state.released.wait(_END)
            self.send_response(state.status if state.content else 404)
            self.end_headers()
            self.wfile.write(state.content if state.status == 200 else b"")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}/state"
    yield state
    state.released.set()
    server.shutdown()
    server.server_close()
    thread.join()


def _state(name: str) -> bytes:
    resource = {
        "mode": "managed",
        "type": "aws_sqs_queue",
        "name": "jobs",
        "provider": 'provider["registry.terraform.io/hashicorp/aws"]',
        "instances": [{"schema_version": 0, "attributes": {"name": name}}],
    }
    whole = {"version": 4, "terraform_version": "1.5.0", "serial": 1, "lineage": "x", "outputs": {}}
    return json.dumps({**whole, "resources": [resource]}).encode()


@dataclass
class Clock:
    at: float = 0.0

    def __call__(self) -> float:
        return self.at


def _pulled(directory: Path, clock: Clock | None = None, **environ: str) -> PulledStates:
    return PulledStates(
        directory=directory / "states",
        executable="terraform",
        allowed=frozenset({"backend.http", "backend.pg"}),
        clock=SystemClock(),
        environ={"PATH": os.environ["PATH"], **environ},
        now=clock or Clock(),
    )


def _http(backend: Backend) -> StateBackend:
    code = f'backend "http" {{\n  address   = "{backend.url}"\n  retry_max = 0\n}}'
    return StateBackend(stack="shop", kind="http", source="main.tf:2", code=code, given={})


def _name(content: bytes) -> str:
    return str(json.loads(content)["resources"][0]["instances"][0]["attributes"]["name"])


def _until_idle(states: PulledStates) -> None:
    for thread in list(states._running.values()):
        thread.join(_END)
        assert not thread.is_alive()


@pytest.mark.terraform
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_a_state_is_pulled_kept_and_pulled_again_beside_the_requests(backend: Backend, tmp_path: Path) -> None:
    clock = Clock()
    states = _pulled(tmp_path, clock)
    backend.content = _state("one")
    content, tag = states.read(_http(backend))
    assert _name(content) == "one"
    asked = backend.asked
    assert states.read(_http(backend)) == (content, tag)
    assert backend.asked == asked, "it is taken as current"
    backend.content = _state("two")
    backend.released.clear()
    clock.at = states.ask_again
    assert states.read(_http(backend)) == (content, tag), "nobody waits for the new one"
    backend.released.set()
    _until_idle(states)
    newer, other = states.read(_http(backend))
    assert (_name(newer), other != tag) == ("two", True)


@pytest.mark.terraform
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_a_failure_is_said_with_the_age_of_what_stays(backend: Backend, tmp_path: Path) -> None:
    clock = Clock()
    states = _pulled(tmp_path, clock)
    backend.content, backend.status = _state("one"), 500
    with pytest.raises(
        CodeInvalid, match=r'^main\.tf:2: The state in backend "http" of the stack shop cannot be read: .*terraform'
    ) as failed:
        states.read(_http(backend))
    assert "stays in force" not in str(failed.value)
    with pytest.raises(CodeInvalid):
        states.read(_http(backend))
    backend.status, clock.at = 200, states.ask_again
    with pytest.raises(CodeInvalid):
        states.read(_http(backend))
    _until_idle(states)
    assert _name(states.read(_http(backend))[0]) == "one"
    backend.status, clock.at = 500, 2 * states.ask_again
    states.read(_http(backend))
    _until_idle(states)
    with pytest.raises(CodeInvalid, match=r"The state as it was at \d{4}-\d\d-\d\dT[\d:]+Z stays in force"):
        states.read(_http(backend))


@pytest.mark.terraform
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_the_backend_gets_its_own_variables_and_no_others(backend: Backend, tmp_path: Path) -> None:
    backend.content = _state("one")
    given = {"username": "ada"}
    states = _pulled(tmp_path, TF_HTTP_PASSWORD="x", AWS_SECRET_ACCESS_KEY="y", SENTINEL_MASTER_KEY="z")
    states.read(replace(_http(backend), given=given))
    assert set(backend.passwords) == {"Basic YWRhOng="}
    environment = states._environment(_http(backend), tmp_path)
    assert set(environment) == {
        "PATH",
        "TF_HTTP_PASSWORD",
        "HOME",
        "TF_DATA_DIR",
        "CHECKPOINT_DISABLE",
        "TF_CLI_CONFIG_FILE",
    }
    assert states._environment(replace(_http(backend), workspace="blue"), tmp_path)["TF_WORKSPACE"] == "blue"


@pytest.mark.terraform
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_an_empty_backend_has_an_empty_state(backend: Backend, tmp_path: Path) -> None:
    assert json.loads(_pulled(tmp_path).read(_http(backend))[0])["resources"] == []


@pytest.mark.terraform
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_what_it_keeps_on_disk_is_ours_alone(backend: Backend, tmp_path: Path) -> None:
    backend.content = _state("one")
    states = _pulled(tmp_path)
    states.read(_http(backend))
    (home,) = (tmp_path / "states").iterdir()
    assert home.stat().st_mode & 0o777 == 0o700
    assert {file.name for file in home.iterdir()} <= {"main.tf", "given.tfbackend", "terraform.tfrc", ".terraform"}
    assert (home / "main.tf").stat().st_mode & 0o777 == 0o600
    assert not (home / ".terraform" / "providers").exists()


@pytest.mark.parametrize(
    ("kind", "blocks", "missing"),
    [
        ("gcs", frozenset(), "`backend.gcs`"),
        ("cloud", frozenset({"workspaces"}), "`cloud`"),
        ("http", frozenset({"exec"}), "`backend.exec`"),
    ],
)
def test_a_backend_that_the_settings_do_not_list_is_not_reached(
    kind: str, blocks: frozenset[str], missing: str, tmp_path: Path
) -> None:
    wanted = StateBackend(stack="web", kind=kind, source="main.tf:3", code="", given={}, blocks=blocks)
    with pytest.raises(CodeInvalid) as refused:
        _pulled(tmp_path).read(wanted)
    assert f"list {missing} in `reconcile.allow.blocks`" in str(refused.value)
    assert "name that as `state` of the stack web" in str(refused.value)
    assert not (tmp_path / "states").exists()


def _script(directory: Path, text: str) -> str:
    file = directory / "terraform-double"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o700)
    return str(file)


@pytest.mark.parametrize(
    ("text", "seconds", "reason"),
    [
        (
            "echo 'cannot reach postgres://ada:secret@db/x' >&2; exit 1",
            300,
            r"`terraform init` says: cannot reach postgres://…@db/x",
        ),
        ("exec sleep 300", 1, "took longer than 1 seconds and was ended"),
    ],
)
def test_what_terraform_says_is_shown_without_credentials(text: str, seconds: int, reason: str, tmp_path: Path) -> None:
    states = replace(_pulled(tmp_path), executable=_script(tmp_path, text), seconds=seconds)
    wanted = StateBackend(stack="web", kind="pg", source="main.tf:3", code='backend "pg" {}', given={})
    with pytest.raises(CodeInvalid, match=reason) as failed:
        states.read(wanted)
    assert "secret" not in str(failed.value)
    with pytest.raises(CodeInvalid, match=r"Install it, or set `reconcile.terraform`"):
        replace(_pulled(tmp_path), executable=str(tmp_path / "none")).read(wanted)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with running_cluster() as cluster:
        yield cluster


@pytest.mark.terraform
@pytest.mark.postgres
def test_a_stack_with_its_state_in_postgres_is_loaded_and_followed(cluster: Cluster, tmp_path: Path) -> None:
    name = cluster.new_database().split("@/")[1].split("?")[0]
    root = tmp_path / "root"
    root.mkdir()
    code = 'terraform {\n  backend "pg" {}\n}\n\nresource "terraform_data" "a" {\n  input = VALUE\n}\n'
    (root / "main.tf").write_text(code.replace("VALUE", "1"))
    address = f"postgres://sentinel@/{name}?host={cluster.directory}&sslmode=disable"
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PG_CONN_STR": address}

    def apply() -> None:
        for argv in (["init"], ["apply", "-auto-approve"]):
            subprocess.run(["terraform", *argv], cwd=root, env=environment, check=True, capture_output=True)

    apply()
    clock, unused = Clock(), cast("BucketStates", None)
    states = _pulled(tmp_path, clock)
    source = Source(path=root, name="pg", backend_config={"conn_str": address})
    stacks = Stacks.load([source], default_mode=Mode.ENFORCE, objects=States(buckets=unused, backends=states))
    assert (stacks.recorded("terraform_data.a") or {})["input"] == {"type": "number", "value": 1}
    (root / "main.tf").write_text(code.replace("VALUE", "2"))
    apply()
    end = time.monotonic() + _END
    while (stacks.recorded("terraform_data.a") or {})["input"] != {"type": "number", "value": 2}:
        assert time.monotonic() < end
        clock.at += states.ask_again
        stacks.refresh()
        _until_idle(states)
    assert stacks.problems == ()
