"""The checks of the line, in the order in which their findings are shown."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from gateway import wiring
from gateway.checks.arbitration import ArbitrationCheck
from gateway.checks.call_class import CallClassCheck


def test_arbitration_comes_last_since_it_decides_which_claims_end(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr(wiring, "CheckChain", lambda checks, **_: seen.extend(checks))
    wiring.checks(cast("Any", SimpleNamespace(packages=frozenset, rules=dict)))
    assert isinstance(seen[0], CallClassCheck)
    assert isinstance(seen[-1], ArbitrationCheck)
