"""The directory of one `sentinel up`."""

import json
import socket
import stat
import tomllib
from pathlib import Path

import pytest

from gateway.cli.demo.workspace import (
    CannotStart,
    Workspace,
    WorkspaceOptions,
    open_workspace,
    write_config,
    write_private,
)
from gateway.core.model.caller import ActorKind
from gateway.core.model.verdict import Mode
from gateway.core.ports import Key
from gateway.core.settings import read_settings
from tests.kit.gate import Gate
from tests.kit.up import free_port

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


@pytest.fixture
def ports() -> dict[str, int]:
    return {"port": free_port(), "simulated_port": free_port()}


def opened(root: Path, **options: object) -> Workspace:
    with open_workspace(root, WorkspaceOptions(**options)) as workspace:  # type: ignore[arg-type]  # a table of cases
        return workspace


def test_it_remembers_its_ports(tmp_path: Path, ports: dict[str, int]) -> None:
    root = tmp_path / "a home with spaces"
    first = opened(root, **ports)
    assert (first.port, first.simulated_port) == (ports["port"], ports["simulated_port"])
    assert opened(root) == first
    other = free_port()
    assert opened(root, port=other).port == other


def test_paths_and_urls(tmp_path: Path) -> None:
    workspace = Workspace(root=tmp_path, port=1, simulated_port=2)
    assert (workspace.stack, workspace.stack_name, workspace.url) == (
        tmp_path / "stack",
        "example",
        "http://127.0.0.1:1",
    )
    assert workspace.simulated_url == "http://127.0.0.1:2"
    own = Workspace(root=tmp_path, port=1, simulated_port=0, own_stack=Path("/code/My Stack_1"))
    assert (own.stack, own.stack_name, own.simulated_url) == (Path("/code/My Stack_1"), "my-stack-1", "")
    assert Workspace(root=tmp_path, port=1, simulated_port=0, own_stack=Path("/")).stack_name == "example"


@pytest.mark.parametrize(("taken", "option"), [("port", "--port"), ("simulated_port", "--aws-port")])
def test_a_port_in_use_is_an_error_and_changes_nothing(
    taken: str, option: str, tmp_path: Path, ports: dict[str, int]
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", ports[taken]))
        other.listen()
        with pytest.raises(
            CannotStart, match=rf"Port {ports[taken]} on 127.0.0.1 is in use. Choose another with {option}"
        ):
            opened(tmp_path / "home", **ports)
    assert not (tmp_path / "home").exists()


def test_a_port_in_use_by_the_same_sentinel_up_is_said(tmp_path: Path, ports: dict[str, int]) -> None:
    home = tmp_path / "home"
    with (
        open_workspace(home, WorkspaceOptions(port=ports["port"], simulated_port=ports["simulated_port"])),
        socket.socket() as gateway,
    ):
        gateway.bind(("127.0.0.1", ports["port"]))
        gateway.listen()
        with pytest.raises(CannotStart, match=f"Another `sentinel up` is running in {home}"):
            opened(home)


def test_a_port_in_use_by_another_sentinel_is_said(gate: Gate, tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match=r"is in use by another Sentinel\. Choose another with --port"):
        opened(tmp_path / "home", port=int(gate.url.rpartition(":")[2]), simulated_port=free_port())


def test_fresh_keeps_the_ports(tmp_path: Path, ports: dict[str, int]) -> None:
    opened(tmp_path / "home", **ports)
    for _ in range(2):
        fresh = opened(tmp_path / "home", fresh=True)
        assert (fresh.port, fresh.simulated_port) == (ports["port"], ports["simulated_port"])
    real = opened(tmp_path / "home", fresh=True, real=True)
    assert (real.port, real.simulated_port) == (ports["port"], 0)
    (tmp_path / "home" / "ports.json").write_text("{")
    assert opened(tmp_path / "home", fresh=True, **ports).port == ports["port"]


def test_a_directory_cannot_be_used_twice_at_once(tmp_path: Path, ports: dict[str, int]) -> None:
    with (
        open_workspace(tmp_path / "home", WorkspaceOptions(port=ports["port"], simulated_port=ports["simulated_port"])),
        pytest.raises(CannotStart, match="Another `sentinel up` is running in"),
        open_workspace(tmp_path / "home", WorkspaceOptions(port=free_port(), simulated_port=free_port(), fresh=True)),
    ):
        pytest.fail("not reached")
    opened(tmp_path / "home")


def test_one_port_cannot_serve_both(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="choose different ports"):
        opened(tmp_path, port=8000, simulated_port=8000)


@pytest.mark.parametrize("fresh", [False, True])
def test_a_directory_that_is_not_ours_is_left_alone(fresh: bool, tmp_path: Path, ports: dict[str, int]) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(CannotStart, match="was not made by `sentinel up`"):
        opened(tmp_path, fresh=fresh, **ports)
    with pytest.raises(CannotStart, match="was not made by `sentinel up`"):
        opened(tmp_path / "thesis.txt", fresh=fresh, **ports)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.txt"]


def test_fresh_forgets_everything_but_follows_no_link(tmp_path: Path, ports: dict[str, int]) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    root = tmp_path / "home"
    opened(root, **ports)
    (root / "stack").mkdir()
    (root / "stack" / "main.tf").touch()
    (root / "applied").touch()
    (root / "link").symlink_to(outside)
    workspace = opened(root, fresh=True, **ports)
    assert {entry.name for entry in root.iterdir()} == {"lock", "ports.json"}
    assert (outside / "kept").exists()
    assert not workspace.applied.exists()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "5", "{}", '{"port": "x", "simulated_port": 1}', '{"port": 1}', "\xff"]
)
def test_a_damaged_ports_file_is_an_error_and_fresh_repairs_it(
    text: str, tmp_path: Path, ports: dict[str, int]
) -> None:
    (tmp_path / "ports.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(CannotStart, match=r"ports.json is damaged .* Start over with --fresh"):
        opened(tmp_path, **ports)
    opened(tmp_path, fresh=True, **ports)
    assert json.loads((tmp_path / "ports.json").read_text()) == ports


def test_it_stays_with_its_aws(tmp_path: Path, ports: dict[str, int]) -> None:
    opened(tmp_path, **ports)
    with pytest.raises(CannotStart, match="belongs to the simulated AWS"):
        opened(tmp_path, real=True)
    assert opened(tmp_path, real=True, fresh=True, port=ports["port"]).simulated_port == 0
    with pytest.raises(CannotStart, match="belongs to the real AWS"):
        opened(tmp_path)


def test_it_stays_with_its_stack(tmp_path: Path, ports: dict[str, int]) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    root = tmp_path / "home"
    opened(root, stack=own, **ports)
    assert opened(root).own_stack == own
    assert opened(root, stack=own).own_stack == own
    with pytest.raises(CannotStart, match=f"belongs to the stack {own}"):
        opened(root, stack=other)
    assert opened(root, fresh=True, **ports).own_stack is None
    with pytest.raises(CannotStart, match="belongs to the example stack"):
        opened(root, stack=own)


@pytest.mark.parametrize("name", ["plain", "with spaces", 'with "quotes" and \\', "größer 🦭", "tab\there"])
def test_the_settings_file_is_read_back(name: str, tmp_path: Path) -> None:
    workspace = Workspace(root=tmp_path / name, port=9000, simulated_port=9001)
    workspace.root.mkdir()
    key = Key(id="SNTLAAAAAAAAAAAAAAAA", secret="s'\"\\", actor="reconciler", kind=ActorKind.SERVICE)
    write_config(workspace, reconciler=key, policies=Path("/rules and all"))
    settings = read_settings(workspace.config)
    assert settings.data == workspace.root / "data"
    assert settings.stacks[0].path == workspace.stack
    assert settings.policy.path == Path("/rules and all")
    assert (settings.server.port, settings.upstream.simulated) == (9000, "http://127.0.0.1:9001")
    assert settings.reconcile.key_secret.get_secret_value() == key.secret
    assert stat.S_IMODE(workspace.config.stat().st_mode) == 0o600


def test_without_the_reconcilers_key_it_is_valid_too(tmp_path: Path) -> None:
    workspace = Workspace(root=tmp_path, port=9000, simulated_port=0)
    write_config(workspace, reconciler=None, policies=None, observe=True)
    observing = read_settings(workspace.config)
    assert {observing.mode, *(stack.mode for stack in observing.stacks)} == {Mode.OBSERVE}
    write_config(workspace, reconciler=None, policies=None)
    assert "key_id" not in tomllib.loads(workspace.config.read_text())["reconcile"]


def test_a_private_file_was_never_readable_by_others(tmp_path: Path) -> None:
    (tmp_path / "secret.partial").touch(mode=0o644)
    (tmp_path / "secret").touch(mode=0o644)
    write_private(tmp_path / "secret", "hush")
    assert (tmp_path / "secret").read_text() == "hush"
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600
