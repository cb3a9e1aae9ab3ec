"""The commands are where `sentinel` looks for them, under names of their own."""

import asyncio
import json
import os
import signal
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import structlog
from typer.testing import CliRunner

from gateway.core.errors import SettingsInvalid
from reconciler.__main__ import app


def test_sentinel_gets_reconcile_and_nothing_else() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    (entry,) = project["project"]["entry-points"]["sentinel.commands"].values()
    commands = EntryPoint(name="reconcile", value=entry, group="sentinel.commands").load()
    assert [command.callback.__name__ for command in commands.registered_commands] == ["reconcile"]


@pytest.mark.parametrize(
    "argv", [[], ["reconcile"], ["reconcile", "no-such-directory"], ["reconcile", ".", "--events", "gone"]]
)
def test_a_wrong_command_line_exits_with_2(argv: list[str]) -> None:
    assert CliRunner().invoke(app, argv).exit_code == 2


def test_events_that_cannot_be_read_end_with_1(tmp_path: Path) -> None:
    (tmp_path / "events").write_text("no json")
    result = CliRunner().invoke(app, ["reconcile", str(tmp_path), "--events", str(tmp_path / "events"), "--json"])
    assert result.exit_code == 1
    assert '"events_invalid"' in result.stdout


def test_json_is_all_of_standard_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def logs(_run: object) -> None:
        structlog.get_logger().warning("state_has_no_lineage")
        print("a line of a library")
        raise SettingsInvalid("It cannot run.")

    monkeypatch.setattr("reconciler.working_copy.run.reconcile_working_copy", logs)
    result = CliRunner().invoke(app, ["reconcile", str(tmp_path), "--json"])
    assert json.loads(result.stdout) == {"code": "settings_invalid", "detail": "It cannot run."}
    assert "state_has_no_lineage" in result.stderr
    assert "a line of a library" in result.stderr


@pytest.fixture
def logging_put_back() -> Iterator[None]:
    """`serve` sets up logging for its whole process, which here is the tests' own."""
    yield
    structlog.reset_defaults()


@pytest.mark.usefixtures("logging_put_back")
def test_a_wrong_settings_file_ends_with_1(tmp_path: Path) -> None:
    (tmp_path / "sentinel.toml").write_text("[reconcile]\nno_such_knob = 1\n")
    result = CliRunner().invoke(app, ["serve", "--config", str(tmp_path / "sentinel.toml")])
    assert result.exit_code == 1


@pytest.mark.usefixtures("logging_put_back")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "There is no sentinel.toml in"),
        ('[[stacks]]\nname = "shop"\npath = "."\n', "The reconciler has no key to read live values"),
    ],
)
def test_serve_refuses_to_start_without_anything_to_do_or_a_key_to_do_it(
    text: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in [name for name in os.environ if name.startswith(("AWS_", "SENTINEL_"))]:
        monkeypatch.delenv(name)
    if text:
        (tmp_path / "sentinel.toml").write_text(text)
    result = CliRunner().invoke(app, ["serve"])
    assert result.exit_code == 1
    assert says in result.stderr.replace("\n", " ")


@pytest.mark.slow
async def test_serve_says_what_it_attends_and_ends_at_a_signal(tmp_path: Path) -> None:
    stack = tmp_path / "shop"
    stack.mkdir()
    (tmp_path / "sentinel.toml").write_text(
        f'data = "{tmp_path / "data"}"\n[reconcile]\nterraform = "no-terraform-here"\npoll_seconds = 0.1\nendpoint = "http://127.0.0.1:1"\n'
        f'[[stacks]]\nname = "shop"\npath = "{stack}"\n'
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-W",
        "error",
        "-m",
        "reconciler",
        "serve",
        "--config",
        str(tmp_path / "sentinel.toml"),
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    said = await asyncio.wait_for(process.stderr.readline(), 300)
    await asyncio.sleep(2)
    process.send_signal(signal.SIGTERM)
    out, err = await asyncio.wait_for(process.communicate(), 300)
    assert b"Terraform was not found" in said
    assert json.loads(said)["event"] == "cannot_write_back"
    assert (process.returncode, out, err) == (0, b"", b"")
