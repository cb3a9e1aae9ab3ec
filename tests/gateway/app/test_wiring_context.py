"""The reader is built from the settings: live reads can be limited and switched off."""

from types import SimpleNamespace
from typing import Any

import pytest

from gateway.app.doors import context_reader
from gateway.core.settings import ReconcileSettings, Settings
from gateway.core.settings.agents import ContextSettings


@pytest.mark.parametrize("on", [True, False])
def test_the_settings_say_what_is_read(on: bool) -> None:
    settings = Settings(
        context=ContextSettings(live=on, live_reads_per_minute=3, live_seconds=2),
        reconcile=ReconcileSettings(drift_every=60 if on else 0),
        account="123456789012",
    )
    unused: Any = SimpleNamespace()
    ports: Any = SimpleNamespace(
        settings=settings,
        masker=unused,
        stacks=unused,
        ledger=unused,
        engine=unused,
        clock=unused,
        signals=SimpleNamespace(about=tuple),
    )
    made = context_reader(ports, unused, unused)
    assert (made.live.reads_per_minute, made.live.deadline_seconds, made.seeks_drift) == (3, 2, on)
    source: Any = made.live.source
    assert (source is not None) is on
    assert not on or source.account == "123456789012"
