"""Every planted bug still applies to the code as it is, and names tests that exist. `make mutants` plants them."""

import re
import subprocess

import pytest

from tests.mutants.__main__ import ROOT, Mutant, mutants

SEEDED = 30
"""Bugs in the specification."""


def test_there_is_a_patch_for_every_seeded_bug() -> None:
    assert [each.number for each in mutants()] == list(range(1, SEEDED + 1))


@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: mutant.path.stem)
def test_it_applies_and_names_tests_that_exist(mutant: Mutant) -> None:
    done = subprocess.run(
        ["git", "apply", "--check", str(mutant.path)], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert mutant.tests
    for named in mutant.tests:
        place, _, name = named.partition("::")
        assert (ROOT / place).exists(), named
        if name:
            assert re.search(rf"def {name.partition('[')[0]}\(", (ROOT / place).read_text()), named
