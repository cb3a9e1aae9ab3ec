"""The location of the files shipped with Sentinel."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from gateway.cli.demo import stack
from gateway.cli.demo.stack import apply_stack, at_work, example, init_stack, prepare_stack
from gateway.cli.demo.workspace import CannotStart, Workspace
from gateway.core.errors import SettingsInvalid
from gateway.core.model.caller import ActorKind
from gateway.core.ports import Key
from gateway.core.settings import ReconcileSettings, Settings


def test_in_a_checkout_the_example_is_the_one_beside_the_package() -> None:
    assert (stack.example() / "kafka.sentinel.hcl").is_file()


def test_in_a_wheel_it_is_the_one_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = tmp_path / "_assets" / "example"
    packed.mkdir(parents=True)
    monkeypatch.setattr(stack, "_PACKAGE", tmp_path)
    assert stack.example() == packed


def workspace_for(root: Path, own: Path | None = None) -> Workspace:
    root.mkdir(exist_ok=True)
    return Workspace(root=root, port=1, simulated_port=2, own_stack=own)


def git(directory: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@t")
    return subprocess.run(
        ["git", *identity, *arguments], cwd=directory, check=True, capture_output=True, text=True
    ).stdout


async def test_the_example_becomes_a_repository_with_one_commit(tmp_path: Path) -> None:
    workspace = workspace_for(tmp_path / "a home")
    await prepare_stack(workspace, example())
    assert git(workspace.stack, "log", "--format=%an %s").splitlines() == ["Sentinel The stack as it was declared"]
    assert git(workspace.stack, "branch", "--show-current") == "main\n"
    assert git(workspace.stack, "status", "--porcelain") == ""
    assert (workspace.stack / "kafka.sentinel.hcl").is_file()


async def test_an_existing_copy_is_not_changed(tmp_path: Path) -> None:
    workspace = workspace_for(tmp_path / "home")
    await prepare_stack(workspace, example())
    (workspace.stack / "terraform.tfvars").write_text("consumers = 6\n")
    await prepare_stack(workspace, example())
    assert (workspace.stack / "terraform.tfvars").read_text() == "consumers = 6\n"


async def test_an_incomplete_copy_is_replaced(tmp_path: Path) -> None:
    workspace = workspace_for(tmp_path / "home")
    partial = workspace.root / "stack.partial"
    partial.mkdir()
    (partial / "stale.tf").write_text("resource")
    await prepare_stack(workspace, example())
    assert not partial.exists()
    assert not (workspace.stack / "stale.tf").exists()


async def test_a_copy_that_lost_its_repository_is_an_error_also_inside_another(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "outer")
    workspace = workspace_for(tmp_path / "home")
    workspace.stack.mkdir()
    (workspace.stack / "main.tf").touch()
    with pytest.raises(CannotStart, match=r"not in a git repository .* Start over with --fresh"):
        await prepare_stack(workspace, example())


async def test_an_empty_stack_directory_is_an_error(tmp_path: Path) -> None:
    workspace = workspace_for(tmp_path / "home")
    workspace.stack.mkdir()
    with pytest.raises(CannotStart, match=r"no Terraform code .* Start over with --fresh"):
        await prepare_stack(workspace, example())


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A stack of the user's own, in a folder of a repository."""
    directory = tmp_path / "infra" / "prod"
    directory.mkdir(parents=True)
    (directory / "main.tf").write_text("# nothing yet\n")
    git(tmp_path / "infra", "init", "--quiet")
    git(tmp_path / "infra", "add", "--all")
    git(tmp_path / "infra", "commit", "--quiet", "-m", "mine")
    return directory


async def test_the_users_own_stack_is_only_read(own: Path, tmp_path: Path) -> None:
    before = git(own, "log", "--format=%H")
    workspace = workspace_for(tmp_path / "home", own)
    await prepare_stack(workspace, example())
    assert workspace.stack == own
    assert (git(own, "log", "--format=%H"), git(own, "status", "--porcelain")) == (before, "")
    assert not (workspace.root / "stack").exists()


async def test_git_is_not_misled_by_the_environment(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    await prepare_stack(workspace_for(tmp_path / "home", own), example())


async def test_the_users_own_stack_must_be_terraform_code_in_git(own: Path, tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="no Terraform code"):
        await prepare_stack(workspace_for(tmp_path / "home", own.parent), example())
    loose = tmp_path / "loose"
    loose.mkdir()
    (loose / "main.tf").touch()
    with pytest.raises(CannotStart, match=r"not in a git repository with a commit, .* with --stack, committed to git"):
        await prepare_stack(workspace_for(tmp_path / "home", loose), example())
    git(loose, "init", "--quiet")
    with pytest.raises(CannotStart, match="with a commit"):
        await prepare_stack(workspace_for(tmp_path / "home", loose), example())


async def test_without_git_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotStart, match="git is not on PATH"):
        await prepare_stack(workspace_for(tmp_path / "home"), example())


KEY = Key(id="SNTLAAAAAAAAAAAAAAAA", secret="a-secret", actor="terraform", kind=ActorKind.PIPELINE)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = Workspace(root=tmp_path / "a home", port=8484, simulated_port=8485)
    workspace.stack.mkdir(parents=True)
    return workspace


def double(tmp_path: Path, body: str) -> Settings:
    """Settings with a terraform that notes how it is called, and then does this."""
    path = tmp_path / "terraform"
    note = (
        "import json, os, sys, time, signal\n"
        f"with open({str(tmp_path / 'calls')!r}, 'a') as file:\n"
        "    print(json.dumps({'argv': sys.argv[1:], 'cwd': os.getcwd(), 'env': dict(os.environ)}), file=file)\n"
    )
    path.write_text(f"#!{sys.executable}\n{note}{body}\n")
    path.chmod(0o755)
    return Settings(reconcile=ReconcileSettings(terraform=str(path)))


def calls(tmp_path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (tmp_path / "calls").read_text().splitlines()]


async def test_init_and_apply_with_the_pipelines_key(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "prod")
    monkeypatch.setenv("TF_WORKSPACE", "other")
    settings = double(tmp_path, "")
    await init_stack(workspace, settings, KEY)
    assert not workspace.applied.exists()
    await apply_stack(workspace, settings, KEY)
    init, apply = calls(tmp_path)
    assert (init["argv"], apply["argv"]) == (["init", "-no-color"], ["apply", "-auto-approve", "-no-color"])
    assert apply["cwd"] == str(workspace.stack)
    environment = apply["env"]
    assert isinstance(environment, dict)
    assert (environment["AWS_ENDPOINT_URL"], environment["AWS_ACCESS_KEY_ID"]) == (workspace.url, KEY.id)
    assert "AWS_PROFILE" not in environment
    assert "TF_WORKSPACE" not in environment
    assert workspace.applied.exists()


async def test_the_users_own_stack_is_applied_as_one_plan_that_may_wait_for_a_person(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its services may have calls that only the plan explains."""
    workspace = workspace_for(tmp_path / "home", own)
    goes_on = tmp_path / "goes on"
    waits = f"while not os.path.exists({str(goes_on)!r}): time.sleep(0.01)"
    settings = double(tmp_path, f"print('Held as mut_1: waits', flush=True)\n{waits}")
    monkeypatch.setattr("gateway.cli.demo.stack.sys.executable", settings.reconcile.terraform)
    heard = _Heard(goes_on)
    await apply_stack(workspace, settings, KEY, progress=heard)
    assert heard.lines == ["Held as mut_1: waits"]
    [apply] = calls(tmp_path)
    assert apply["argv"] == [
        *("-P", "-m", "gateway", "apply", "--yes", "--wait", "--terraform", settings.reconcile.terraform),
        *("--", "-no-color"),
    ]
    environment = apply["env"]
    assert isinstance(environment, dict)
    assert (environment["SENTINEL_URL"], environment["SENTINEL_TOKEN"]) == (workspace.url, f"{KEY.id}.{KEY.secret}")
    assert workspace.applied.exists()


async def test_a_failure_shows_the_end_of_the_output_and_marks_nothing(workspace: Workspace, tmp_path: Path) -> None:
    body = "print('\\n'.join(f'line {n}' for n in range(100)), flush=True); print('no [quota]', file=sys.stderr); sys.exit('apply' in sys.argv)"
    with pytest.raises(CannotStart) as failed:
        await apply_stack(workspace, double(tmp_path, body), KEY)
    message = str(failed.value)
    assert message.startswith("terraform apply failed in")
    assert message.endswith("no [quota]")
    assert "line 70\n" in message
    assert "line 1\n" not in message
    assert "line 1\n" in (workspace.root / "logs" / "terraform.log").read_text()
    assert not workspace.applied.exists()


async def test_each_resource_that_is_done_is_reported_once(workspace: Workspace, tmp_path: Path) -> None:
    goes_on = tmp_path / "goes on"
    body = (
        "print('aws_a.b: Creation complete after 1s [id=x]\\naws_c.d: Still creating...', flush=True)\n"
        f"while not os.path.exists({str(goes_on)!r}): time.sleep(0.01)\n"
    )
    heard = _Heard(goes_on)
    await apply_stack(workspace, double(tmp_path, body), KEY, progress=heard)
    assert heard.lines == ["aws_a.b: Creation complete after 1s [id=x]"]
    assert heard.addresses == {("aws_c.d",)}


class _Heard:
    """Progress that lets Terraform go on as soon as it has heard of what is done, and of what is at work."""

    def __init__(self, goes_on: Path) -> None:
        self.lines: list[str] = []
        self.addresses: set[tuple[str, ...]] = set()
        self._goes_on = goes_on

    def done(self, line: str) -> None:
        self.lines.append(line)

    def at_work(self, addresses: Sequence[str]) -> None:
        self.addresses.add(tuple(addresses))
        if self.lines:
            self._goes_on.touch()


def test_what_terraform_has_begun_and_not_finished_is_at_work() -> None:
    said = "a.b: Creating...\nc.d: Modifying... [id=x]\nc.d: Still modifying... [id=x, 10s elapsed]\na.b: Creation complete after 1s\nPlan: 1 to add"
    assert at_work(said.split("\n")) == ("c.d",)


async def test_a_terraform_that_goes_on_after_an_interrupt_is_ended_in_time(
    workspace: Workspace, tmp_path: Path
) -> None:
    ready = tmp_path / "ready"
    body = f"signal.signal(signal.SIGINT, signal.SIG_IGN); open({str(ready)!r}, 'w').close(); time.sleep(60)"
    work = asyncio.ensure_future(apply_stack(workspace, double(tmp_path, body), KEY))
    for _ in range(1000):
        if ready.exists():
            break
        await asyncio.sleep(0.02)
    work.cancel()
    async with asyncio.timeout(20):
        with pytest.raises(asyncio.CancelledError):
            await work


async def test_an_interrupt_reaches_terraform_once_and_lets_it_end(workspace: Workspace, tmp_path: Path) -> None:
    seen = tmp_path / "signals"
    body = (
        f"def stop(number, _): open({str(seen)!r}, 'a').write(f'{{number}} '); time.sleep(0.3); sys.exit(1)\n"
        "signal.signal(signal.SIGINT, stop); signal.signal(signal.SIGTERM, stop)\n"
        f"open({str(tmp_path / 'ready')!r}, 'w').close(); time.sleep(60)"
    )
    work = asyncio.ensure_future(apply_stack(workspace, double(tmp_path, body), KEY))
    for _ in range(1000):
        if (tmp_path / "ready").exists():
            break
        await asyncio.sleep(0.02)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert seen.read_text() == f"{int(signal.SIGINT)} "
    assert not workspace.applied.exists()


async def test_an_invalid_mirror_is_an_error(workspace: Workspace, tmp_path: Path) -> None:
    settings = Settings(reconcile=ReconcileSettings(terraform="true", provider_mirror=tmp_path))
    with pytest.raises(SettingsInvalid, match="holds no provider"):
        await apply_stack(workspace, settings, KEY)


async def test_the_environment_of_this_process_stays_as_it_was(workspace: Workspace, tmp_path: Path) -> None:
    before = dict(os.environ)
    await apply_stack(workspace, double(tmp_path, ""), KEY)
    assert dict(os.environ) == before
