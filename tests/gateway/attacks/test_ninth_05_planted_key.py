"""A backup with a master key of somebody else was refused, and its key stayed: the next gateway there made a ledger under a key that others know.

`sentinel restore` put the key into the data directory before it had looked at the backup. So did a directory with nothing but a key, and a
link to any file. What must hold: a restore that is refused leaves nothing; a key comes with a backup that it signed, or not at all.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from typer.testing import CliRunner

from gateway.__main__ import app
from gateway.identity.master_key import FILE_NAME


@pytest.fixture(autouse=True, scope="module")
def log() -> Iterator[None]:
    """Commands log to the standard error that they are run with, which is closed afterwards."""
    yield
    structlog.reset_defaults()


def _run(*argv: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, [*argv])
    return done.exit_code, " ".join(done.output.split())


def _place(directory: Path) -> str:
    """The settings of a place."""
    directory.mkdir()
    file = directory / "sentinel.toml"
    file.write_text(f"data = {json.dumps(str(directory / 'data'))}\n")
    return str(file)


def _backup(directory: Path, actor: str) -> Path:
    """A backup of a new ledger, with its master key."""
    config = _place(directory)
    assert _run("key", "create", actor, "--kind", "human", "--config", config)[0] == 0
    code, said = _run("backup", str(directory / "backups"), "--with-master-key", "--config", config)
    assert code == 0, said
    [made] = (directory / "backups").iterdir()
    return made


@pytest.fixture(scope="module")
def backups(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Ours, and that of an attacker."""
    top = tmp_path_factory.mktemp("backups")
    return _backup(top / "ours", "ana"), _backup(top / "theirs", "mallory")


@pytest.mark.parametrize("planted", ["among ours", "alone", "a link", "too short"])
def test_a_restore_that_is_refused_leaves_no_key(backups: tuple[Path, Path], tmp_path: Path, planted: str) -> None:
    ours, theirs = backups
    bad = tmp_path / "bad"
    if planted == "among ours":
        shutil.copytree(ours, bad)
        shutil.copy(theirs / FILE_NAME, bad / FILE_NAME)
    else:
        bad.mkdir()
        secret = tmp_path / "of_the_system"
        secret.write_text("x" * (60 if planted == "a link" else 2))
        if planted == "a link":
            (bad / FILE_NAME).symlink_to(secret)
        else:
            shutil.copy(theirs / FILE_NAME if planted == "alone" else secret, bad / FILE_NAME)
    config = _place(tmp_path / "new")
    code, said = _run("restore", str(bad), "--config", config)
    assert code == 1
    assert planted == "too short" or "Nothing was changed." in said
    data = tmp_path / "new" / "data"
    assert not data.exists() or list(data.iterdir()) == []
    code, said = _run("restore", str(ours), "--config", config)
    assert code == 0, said
    assert "The master key came with the backup" in said
    assert (data / FILE_NAME).read_text() == (ours / FILE_NAME).read_text()
    assert (data / FILE_NAME).stat().st_mode & 0o777 == 0o600
    assert _run("verify", "--config", config)[0] == 0


def test_a_backup_that_others_may_read_is_restored(backups: tuple[Path, Path], tmp_path: Path) -> None:
    """It came over the network: its files have other modes."""
    copied = tmp_path / "copied"
    shutil.copytree(backups[0], copied)
    (copied / FILE_NAME).chmod(0o644)
    config = _place(tmp_path / "new")
    code, said = _run("restore", str(copied), "--config", config)
    assert code == 0, said
    assert (tmp_path / "new" / "data" / FILE_NAME).stat().st_mode & 0o777 == 0o600
