"""Files tell of signals until they say otherwise; one that breaks says what it said last."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.core.errors import SettingsInvalid
from gateway.core.settings.signals import ConcernSettings, SignalForm, SignalSourceSettings
from gateway.signals import files
from gateway.signals.files import SignalFiles
from tests.gateway.signals.forms.test_calendar import calendar

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
EVERYWHERE = (ConcernSettings(stack="*"),)


def kept(form: SignalForm, path: Path) -> SignalFiles:
    source = SignalSourceSettings(name="f", form=form, path=path, concerns=EVERYWHERE)
    pushed = SignalSourceSettings(name="p", form=SignalForm.DATADOG, secret_env="X")
    return SignalFiles({"f": source, "p": pushed})


def write(path: Path, document: Any) -> None:
    """Write a file that looks changed, however quick the disk is."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(json.dumps(document))
    os.utime(path, ns=(before + 10**9, before + 10**9))


def ticket(**change: Any) -> dict[str, Any]:
    return {"id": "CHG-1", "state": "open", "since": "2026-11-22T11:00:00Z", "until": "2026-11-22T13:00:00Z", **change}


def test_a_ticket_is_open_in_its_time_and_until_the_file_says_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "tickets.json"
    write(path, [ticket()])
    found = kept(SignalForm.TICKETS, path)
    assert set(found.sources) == {"f"}
    found.open_at_start(NOW)
    [signal] = found.named("chg-1", NOW)
    assert (signal.filed, signal.scopes[0].stack, found.is_open(signal.id, NOW)) == (True, "*", True)
    assert [found.is_open(signal.id, NOW + shift) for shift in (-2 * HOUR, HOUR)] == [False, False]
    assert found.named("chg-1", NOW + HOUR) == []
    write(path, [ticket(state="closed")])
    found.refresh(NOW)
    assert not found.is_open(signal.id, NOW)


def test_vulnerabilities_may_be_in_a_directory(tmp_path: Path) -> None:
    write(tmp_path / "a.json", {"id": "CVE-2026-1", "modified": "2026-11-01T00:00:00Z"})
    write(tmp_path / "b.json", [{"id": "GHSA-2", "aliases": ["CVE-2026-2"], "modified": "2026-11-01T00:00:00Z"}])
    found = kept(SignalForm.OSV, tmp_path)
    found.open_at_start(NOW)
    assert [len(found.named(name, NOW)) for name in ("cve-2026-1", "cve-2026-2", "cve-2026-3")] == [1, 1, 0]
    (tmp_path / "b.json").unlink()
    found.refresh(NOW)
    assert found.named("cve-2026-2", NOW) == []


def test_a_calendar_is_read_again_before_its_occurrences_are_used_up(tmp_path: Path) -> None:
    path = tmp_path / "launches.ics"
    path.write_bytes(calendar("DTSTART:20260101T110000Z\nDTEND:20260101T130000Z\nRRULE:FREQ=DAILY\nSUMMARY:Launch"))
    found = kept(SignalForm.CALENDAR, path)
    found.open_at_start(NOW)
    for days in range(10):
        found.refresh(NOW + timedelta(days=days))
        assert len(found.named("launch", NOW + timedelta(days=days))) == 1
        assert found.named("launch", NOW + timedelta(days=days, hours=2)) == []


def test_what_a_broken_file_said_last_holds(tmp_path: Path) -> None:
    path = tmp_path / "tickets.json"
    write(path, [ticket()])
    found = kept(SignalForm.TICKETS, path)
    found.open_at_start(NOW)
    path.write_text("{")
    os.utime(path, ns=(10**18, 10**18))
    found.refresh(NOW)
    assert len(found.named("chg-1", NOW)) == 1
    assert "source f cannot be read" in found.problems[0]
    write(path, [])
    found.refresh(NOW)
    assert (found.named("chg-1", NOW), found.problems) == ([], ())


def test_it_does_not_start_without_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsInvalid, match="cannot be read"):
        kept(SignalForm.TICKETS, tmp_path / "none").open_at_start(NOW)
    write(tmp_path / "a.json", [ticket()])
    monkeypatch.setattr(files, "MOST_BYTES", 10)
    with pytest.raises(SettingsInvalid, match="larger than 10 bytes"):
        kept(SignalForm.TICKETS, tmp_path / "a.json").open_at_start(NOW)


def test_a_file_that_did_not_change_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tickets.json"
    write(path, [ticket()])
    found = kept(SignalForm.TICKETS, path)
    found.open_at_start(NOW)
    monkeypatch.setattr(Path, "read_bytes", lambda _: pytest.fail("it was read again"))
    found.refresh(NOW)
    assert found.problems == ()
