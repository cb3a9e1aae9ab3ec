"""`sentinel config`, the settings of a command, and the origin of each."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from gateway.__main__ import app
from gateway.cli.client import UP_DIRECTORY
from gateway.cli.config import (
    SettingOrigin,
    config_file,
    environment_variable,
    flatten,
    origins,
    require_ledger,
    settings_or_exit,
)
from gateway.core.errors import NotFound
from gateway.core.settings import Settings, read_settings

Document = Callable[..., tuple[int, Any]]


@pytest.fixture
def file(elsewhere: Path) -> Path:
    path = elsewhere / "sentinel.toml"
    path.write_text('data = "there"\n[server]\nport = 9000\nhost = "::1"\n[[stacks]]\nname = "a"\npath = "a"\n')
    return path


def test_each_setting_says_where_it_comes_from(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_SERVER__PORT", "9001")
    monkeypatch.setenv("sentinel_policy__engine", "embedded")
    monkeypatch.setenv("SENTINEL_UPSTREAM", '{"connect_seconds": 2}')
    monkeypatch.setenv("SENTINEL_TOKEN", "no setting")
    settings = read_settings(file)
    where = origins(settings, file)
    assert (settings.server.port, where["server.port"]) == (9001, SettingOrigin.ENVIRONMENT)
    assert where["policy.engine"] is SettingOrigin.ENVIRONMENT
    assert where["upstream.connect_seconds"] is SettingOrigin.ENVIRONMENT
    assert where["upstream.reply_seconds"] is SettingOrigin.DEFAULT
    assert where["server.host"] is where["data"] is where["stacks"] is SettingOrigin.FILE
    assert where["mode"] is SettingOrigin.DEFAULT
    assert "token" not in where


def test_the_stacks_of_the_environment_replace_those_of_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_STACKS", '[{"name": "b", "path": "b"}]')
    assert origins(read_settings(file), file)["stacks"] is SettingOrigin.ENVIRONMENT


def test_without_a_file_nothing_comes_from_it() -> None:
    assert set(origins(Settings(), None).values()) == {SettingOrigin.DEFAULT}


@pytest.mark.parametrize("name", ["server.port", "data", "reconcile.provider_mirror"])
def test_the_variable_that_is_named_is_the_one_that_is_read(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(environment_variable(name), "7")
    assert str(flatten(Settings().model_dump(mode="json"))[name]) == "7"
    assert origins(Settings(), None)[name] is SettingOrigin.ENVIRONMENT


def test_the_file_is_the_given_one_then_ours_then_that_of_sentinel_up(elsewhere: Path) -> None:
    assert config_file(None) is None
    (elsewhere / UP_DIRECTORY).mkdir(parents=True)
    (elsewhere / UP_DIRECTORY / "sentinel.toml").touch()
    assert config_file(None) == UP_DIRECTORY / "sentinel.toml"
    (elsewhere / "sentinel.toml").touch()
    assert config_file(None) == Path("sentinel.toml")
    assert config_file(Path("other.toml")) == Path("other.toml")


def test_every_mistake_is_shown(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = elsewhere / "sentinel.toml"
    path.write_text('colour = "[red]"\n[server]\nport = 0\n')
    with pytest.raises(typer.Exit):
        settings_or_exit(path)
    reply = capsys.readouterr().err
    assert "2 mistake(s)" in reply
    assert "server.port" in reply
    assert "colour" in reply


def test_invalid_toml_is_one_document(document: Callable[..., Any], elsewhere: Path) -> None:
    (elsewhere / "sentinel.toml").write_text("port = = 1")
    code, reply = document("config")
    assert (code, reply["code"]) == (1, "settings_invalid")


def test_a_missing_ledger_is_not_created(elsewhere: Path) -> None:
    with pytest.raises(NotFound, match="There is no ledger at"):
        require_ledger(Settings())
    require_ledger(Settings(ledger="postgresql+psycopg://db/ledger"))
    assert list(elsewhere.iterdir()) == []


def test_flatten() -> None:
    assert flatten({"a": {"b": 1, "c": {}}, "d": [{"e": 1}]}) == {"a.b": 1, "a.c": {}, "d": [{"e": 1}]}
    assert flatten({}) == {}


def test_config_says_what_is_in_force_and_from_where(
    elsewhere: Path, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    (elsewhere / "sentinel.toml").write_text("[server]\nport = 9000\n")
    monkeypatch.setenv("SENTINEL_MODE", "observe")
    code, reply = document("config")
    assert (code, reply["file"]) == (0, "sentinel.toml")
    assert reply["settings"]["server.port"] == {"value": 9000, "from": "file", "variable": "SENTINEL_SERVER__PORT"}
    assert reply["settings"]["mode"] == {"value": "observe", "from": "environment", "variable": "SENTINEL_MODE"}
    assert reply["settings"]["account"]["from"] == "default"


def test_config_as_a_table(elsewhere: Path, sentinel: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_ACCOUNT", "[red]1[/red]")
    shown = sentinel("config").stdout
    assert shown.startswith("Settings file: none")
    line = next(line for line in shown.splitlines() if line.startswith("account"))
    assert line.split() == ["account", "[red]1[/red]", "environment"]


def test_the_table_fits_a_terminal(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = StringIO()
    shown = Console(file=screen, width=80, force_terminal=True, color_system=None, highlight=False)
    monkeypatch.setattr("gateway.cli.output.console", shown)
    assert CliRunner().invoke(app, ["config"]).exit_code == 0
    lines = screen.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    names = {line.split()[0] for line in lines if line.strip() and not line.startswith(" ")}
    assert {"server.port", "reconcile.put_back_patience_seconds"} <= names


def test_config_says_whether_evidence_is_checked(
    elsewhere: Path, sentinel: Callable[..., Any], document: Document
) -> None:
    assert document("config")[1]["evidence"].startswith("Evidence is not checked")
    assert "([[signals]])" in sentinel("config").stdout.replace("\n", "")
    (elsewhere / "sentinel.toml").write_text(
        '[[signals]]\nname = "pager"\nform = "pagerduty"\nsecret = "do-not-show-me-please"\n'
    )
    code, reply = document("config")
    assert (code, "checked for incident" in reply["evidence"]) == (0, True)
    assert "do-not-show-me" not in sentinel("config").stdout + str(reply)


SECRETS = {
    "SENTINEL_MASTER_KEY": "do-not-show-me-do-not-show-me-do-not",
    "SENTINEL_RECONCILE__KEY_SECRET": "do-not-show-me",
    "SENTINEL_LEDGER": "postgresql+psycopg://sentinel:do-not-show-me@db:5432/ledger",
    "SENTINEL_POLICY__OPA_URL": "https://u:do-not-show-me@opa.example/v1",
}


def test_config_shows_no_secret(
    sentinel: Callable[..., Any], document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    reply = document("config")[1]
    assert "do-not-show-me" not in sentinel("config").stdout + str(reply)
    assert reply["settings"]["ledger"]["value"] == "postgresql+psycopg://sentinel:***@db:5432/ledger"
    assert reply["settings"]["master_key"]["from"] == "environment"


def test_a_password_in_the_query_is_masked(document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "SENTINEL_LEDGER", "postgresql+psycopg://db/ledger?user=u&password=do-not-show-me&sslmode=require"
    )
    shown = document("config")[1]["settings"]["ledger"]["value"]
    assert shown == "postgresql+psycopg://db/ledger?user=u&password=***&sslmode=require"
