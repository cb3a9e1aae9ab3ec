"""What counts as a source of the policies."""

from pathlib import Path

import pytest

from gateway.core.errors import PolicyInvalid
from gateway.policy.sources import read_sources, shipped


def test_tests_documents_bundle_and_hidden_files_are_not_sources(policies: Path) -> None:
    before = read_sources(policies).digests
    for name in ("guardrails/x_test.rego", "bundle/y.rego", ".git/z.rego", "README.txt", "other/d.json"):
        (policies / name).parent.mkdir(exist_ok=True)
        (policies / name).write_text("package x")
    assert read_sources(policies).digests == before
    assert {"guardrails.rego", "data/priorities.json"} <= set(before)


def test_every_other_file_counts(policies: Path) -> None:
    before = read_sources(policies).digests
    (policies / "data" / "mine.json").write_text("{}")
    (policies / "deep").mkdir()
    (policies / "deep" / "mine.rego").write_text("package mine")
    assert set(read_sources(policies).digests) - set(before) == {"data/mine.json", "deep/mine.rego"}


def test_no_policies_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(PolicyInvalid, match="without policies"):
        read_sources(tmp_path)
    with pytest.raises(PolicyInvalid):
        read_sources(tmp_path / "missing")


def test_the_shipped_ones_are_there() -> None:
    assert (shipped() / "guardrails.rego").is_file()
