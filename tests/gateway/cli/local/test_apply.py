"""Applying the stack: how terraform is called and its result reported. Real Terraform runs in tests/system."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from gateway.cli.local.apply import apply_stack, init_stack
from gateway.cli.local.workspace import CannotStart, Workspace
from gateway.errors import SettingsInvalid
from gateway.model.caller import ActorKind
from gateway.ports import Key
from gateway.settings import ReconcileSettings, Settings

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
    reported: list[str] = []

    def report(line: str) -> None:
        reported.append(line)
        goes_on.touch()

    await apply_stack(workspace, double(tmp_path, body), KEY, report=report)
    assert reported == ["aws_a.b: Creation complete after 1s [id=x]"]


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
