"""Policies for engines under test: the shipped ones, copies of them, and additional rules."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.policy.bundle import SHIPPED, Bundle, build, read_bundle
from gateway.policy.opa_command import find_opa
from gateway.policy.sources import read_sources, shipped


@pytest.fixture
def opa_tool() -> Path:
    """The opa tool; a missing one is a failure."""
    tool = find_opa()
    assert tool is not None, "there is no opa on PATH or in .tools/bin; make opa builds it"
    return tool


@pytest.fixture
def shipped_bundle() -> Bundle:
    return read_bundle(shipped() / SHIPPED)


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    """A copy of the shipped policies, to be edited."""
    return Path(shutil.copytree(shipped(), tmp_path / "policies"))


@pytest.fixture
def with_rule(policies: Path, opa_tool: Path) -> Callable[[str], Bundle]:
    """A function that builds the shipped policies with an additional guardrail, `extra`, with the given body."""

    def built(body: str) -> Bundle:
        (policies / "guardrails" / "extra.rego").write_text(f"package sentinel.rules.extra\n\n{body}\n")
        return build(read_sources(policies), opa_tool)

    return built
