"""What `sentinel up` prints when it is ready."""

import sys
from pathlib import Path

import pytest

from gateway.cli.client import UP_DIRECTORY
from gateway.cli.demo.up import show_banner
from gateway.cli.demo.workspace import Workspace
from gateway.core.model.caller import ActorKind
from gateway.core.ports import Key

KEYS = {
    name: Key(id=f"SNTL{name.upper():A<16}", secret=f"{name}-secret", actor=f"the-{name}", kind=ActorKind.AGENT)
    for name in ("agent", "human", "pipeline", "reconciler")
}


def printed(capsys: pytest.CaptureFixture[str], workspace: Workspace, *, applied: bool = True) -> str:
    show_banner(workspace, KEYS, region="us-east-1", applied=applied)
    return capsys.readouterr().out


def test_endpoint_and_three_sets_of_credentials(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, Workspace(root=tmp_path, port=9000, simulated_port=9001))
    assert "Sentinel is ready.  AWS endpoint and API: http://127.0.0.1:9000" in text
    assert "http://127.0.0.1:9000/console" in text
    assert "http://127.0.0.1:9000/mcp" in text
    for name in ("agent", "human", "pipeline"):
        assert f"export AWS_SECRET_ACCESS_KEY={name}-secret" in text
        assert f"export SENTINEL_TOKEN={KEYS[name].id}.{name}-secret" in text
    assert "reconciler-secret" not in text
    assert "export AWS_ENDPOINT_URL=http://127.0.0.1:9000 AWS_REGION=us-east-1" in text
    assert "terraform -chdir" not in text


def test_commands_work_from_the_current_directory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = Workspace(root=tmp_path / "a [home]", port=9000, simulated_port=9001)
    assert f"sentinel tour --home '{tmp_path / 'a [home]'}'" in printed(capsys, elsewhere)
    here = Workspace(root=UP_DIRECTORY.resolve(), port=9000, simulated_port=9001)
    assert "sentinel tour  " in printed(capsys, here)
    Path("Makefile").touch()
    assert "make tour" in printed(capsys, here)


def test_an_unapplied_stack_shows_the_command_that_applies_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = Workspace(root=tmp_path, port=9000, simulated_port=0, own_stack=Path("/code/my stack"))
    text = printed(capsys, own, applied=False)
    assert "sentinel apply --chdir '/code/my stack'" in text
    assert "tour" not in text
    assert "kafka" not in text


@pytest.mark.parametrize("initialised", [False, True])
def test_a_stack_that_is_not_initialised_shows_terraform_init_first(
    initialised: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own" / (".terraform" if initialised else ".git")).mkdir(parents=True)
    own = Workspace(root=tmp_path, port=9000, simulated_port=0, own_stack=tmp_path / "own")
    text = printed(capsys, own, applied=False)
    init = f"terraform -chdir={tmp_path / 'own'} init\n"
    assert (init in text) is not initialised
    assert text.find(init) < text.index(f"sentinel apply --chdir {tmp_path / 'own'}")


@pytest.mark.parametrize("activated", [False, True])
def test_an_environment_that_is_not_activated_is_put_on_path(
    activated: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("python", "sentinel"):
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setattr(sys, "prefix", "/venv")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("VIRTUAL_ENV", "/venv" if activated else "/another")
    text = printed(capsys, Workspace(root=tmp_path, port=9000, simulated_port=9001))
    assert (f"export PATH={tmp_path}:$PATH" in text) is not activated
