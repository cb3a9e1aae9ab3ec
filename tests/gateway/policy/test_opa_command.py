"""The opa tool is found, run without our environment, and quoted when it complains."""

from pathlib import Path

import pytest

from gateway.core.errors import PolicyInvalid
from gateway.policy import opa_command


def _script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_the_one_on_path_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = _script(tmp_path / "opa", "true")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert opa_command.find_opa() == tool


def test_its_complaint_is_passed_on(tmp_path: Path) -> None:
    tool = _script(tmp_path / "opa", "echo 'x.rego:3: no' >&2; exit 1")
    with pytest.raises(PolicyInvalid, match=r"x\.rego:3: no"):
        opa_command.opa_output(tool, ["check"], cwd=tmp_path)


def test_it_sees_no_secret_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_MASTER_KEY", "s3cret")
    assert "s3cret" not in opa_command.opa_output(_script(tmp_path / "opa", "env"), [], cwd=tmp_path)


@pytest.mark.parametrize("text", ["echo nothing", "exit 3"])
def test_a_tool_without_version_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(PolicyInvalid):
        opa_command.opa_version(_script(tmp_path / "opa", text))


def test_its_version_is_read(tmp_path: Path) -> None:
    assert opa_command.opa_version(_script(tmp_path / "opa", "echo 'Version: 1.2.3'; echo 'Platform: x'")) == "1.2.3"


def test_a_tool_that_cannot_be_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyInvalid, match="could not be run"):
        opa_command.run_opa(tmp_path / "missing", [], cwd=tmp_path)
