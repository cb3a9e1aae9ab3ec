"""The checks of the line, in the order in which their findings are shown."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from gateway.app import checks
from gateway.line.checks.arbitration import ArbitrationCheck
from gateway.line.checks.call_class import CallClassCheck
from gateway.line.checks.ground_truth import GroundTruthCheck


def test_arbitration_comes_last_since_it_decides_which_claims_end(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr(checks, "CheckChain", lambda listed, **_: seen.extend(listed))
    checks.checks(cast("Any", SimpleNamespace(packages=frozenset, rules=dict)))
    assert isinstance(seen[0], GroundTruthCheck)
    assert isinstance(seen[1], CallClassCheck)
    assert isinstance(seen[-1], ArbitrationCheck)
