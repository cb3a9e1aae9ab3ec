"""The shipped policies pass the CI checks: tests, coverage, format, metadata, and a bundle that matches the sources."""

from pathlib import Path

import pytest

from gateway.policy import opa_command
from gateway.policy.ci import CHECKS
from gateway.policy.sources import shipped, source_paths


@pytest.mark.opa
@pytest.mark.long  # `make test` runs `make policy`, which is the same, beside the tests
@pytest.mark.parametrize("name", [name for name, _ in CHECKS])
def test_the_policies_pass(name: str) -> None:
    tool = opa_command.find_opa()
    assert tool is not None, "there is no opa on PATH or in .tools/bin; make opa builds it"
    assert dict(CHECKS)[name](shipped(), tool)


REGO = [path for path in source_paths(shipped()) if path.suffix == ".rego"]


@pytest.mark.parametrize("path", REGO, ids=lambda path: path.stem)
def test_every_policy_has_its_test_file(path: Path) -> None:
    assert path.with_name(f"{path.stem}_test.rego").is_file()
