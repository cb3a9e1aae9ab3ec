"""Which bundle runs: never one that other sources built."""

from pathlib import Path

import pytest

from gateway.core.errors import PolicyInvalid
from gateway.policy import bundle_selection as chooser
from gateway.policy.bundle import Bundle
from gateway.policy.bundle_selection import select_bundle


def _edit(policies: Path) -> None:
    path = policies / "guardrails" / "motive.rego"
    path.write_text(path.read_text().replace("and this call has none", "and this call does not"))


def test_unchanged_sources_run_the_shipped_bundle(policies: Path, tmp_path: Path, shipped_bundle: Bundle) -> None:
    assert select_bundle(policies, tmp_path / "cache") == shipped_bundle
    assert not (tmp_path / "cache").exists()


def test_changed_sources_without_opa_are_refused(
    policies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chooser, "find_opa", lambda: None)
    _edit(policies)
    with pytest.raises(PolicyInvalid, match=r"policies/guardrails/motive\.rego changed.*no `opa` on PATH"):
        select_bundle(policies, tmp_path / "cache")


def test_a_missing_bundle_without_opa_is_refused(
    policies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chooser, "find_opa", lambda: None)
    (policies / "bundle" / "policy.wasm").unlink()
    with pytest.raises(PolicyInvalid, match="no `opa` on PATH"):
        select_bundle(policies, tmp_path / "cache")


@pytest.mark.opa
def test_changed_sources_are_built_once_and_kept(
    policies: Path, tmp_path: Path, shipped_bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    _edit(policies)
    shipped_before = {path.name: path.read_bytes() for path in (policies / "bundle").iterdir()}
    built = select_bundle(policies, tmp_path / "cache")
    assert built.revision != shipped_bundle.revision
    assert {path.name: path.read_bytes() for path in (policies / "bundle").iterdir()} == shipped_before
    monkeypatch.setattr(chooser, "find_opa", lambda: None)
    assert select_bundle(policies, tmp_path / "cache") == built
