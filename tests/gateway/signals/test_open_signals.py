"""The book of open signals: what evidence may name, for which motivations, and what ends by itself."""

import json
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.signal import Signal, SignalEvent, SignalScope, SignalState
from gateway.core.ports import SignalQuery
from gateway.core.settings.signals import ConcernSettings, SignalForm, SignalSourceSettings
from gateway.signals import open_signals as book_module
from gateway.signals.files import SignalFiles
from gateway.signals.open_signals import OpenSignals
from tests.kit import history
from tests.kit.doubles import NOW, FixedClock


def signal(key: str) -> Signal:
    """An alert that opened just now."""
    return replace(history.signal(key), since=NOW)


SHOP = {"aws_sqs_queue.a": "shop"}


@dataclass
class Kept:
    """A ledger of signals."""

    signals_now: list[Signal] = field(default_factory=list)
    recorded: list[SignalEvent] = field(default_factory=list)
    read: int = 0
    version: int = 1

    async def signals_version(self) -> int:
        return self.version

    async def signals(self, query: SignalQuery) -> list[Signal]:
        assert query.state is SignalState.OPEN
        self.read += 1
        return self.signals_now

    async def record_signals(self, events: Any, at: datetime) -> int:
        self.recorded += events
        self.version += 1
        ended = {event.id for event in events}
        self.signals_now = [each for each in self.signals_now if each.id not in ended]
        return len(events)


def motive(*evidence: str, why: Motivation = Motivation.INCIDENT) -> Motive:
    return Motive(intent=Intent.AVAILABILITY, motivation=why, evidence=evidence)


def source(**more: Any) -> SignalSourceSettings:
    return SignalSourceSettings(**{"name": "alerts", "form": SignalForm.DATADOG, "secret_env": "X", **more})


async def book(*signals: Signal, sources: tuple[SignalSourceSettings, ...] = (source(),)) -> OpenSignals:
    made = OpenSignals(sources={each.name: each for each in sources}, ledger=Kept(list(signals)), clock=FixedClock())
    await made.refresh()
    return made


async def test_evidence_proves_what_the_signal_concerns() -> None:
    known = await book(signal("k"))
    proof = known.proof(motive("ALERTS:K"), {**SHOP, "aws_sqs_queue.b": "other", "aws_lb.a": "shop"})
    assert [bool(proof.by_address[each]) for each in ("aws_sqs_queue.a", "aws_sqs_queue.b", "aws_lb.a")] == [
        True,
        False,
        False,
    ]
    assert proof.signals == (signal("k"),)
    assert proof.proves(motive("x"), ["aws_sqs_queue.a"]) is True
    assert proof.proves(motive("x"), ["aws_sqs_queue.a", "aws_lb.a"]) is False
    assert proof.proves(motive("x"), []) is False


async def test_a_source_proves_the_motivations_of_its_settings_only() -> None:
    known = await book(signal("k"), sources=(source(proves=(Motivation.LAUNCH,)),))
    assert known.checked == {Motivation.LAUNCH}
    assert known.proof(motive("k", why=Motivation.LAUNCH), SHOP).signals
    assert known.proof(motive("k"), SHOP).proves(motive("k"), SHOP) is None
    # Signals of a source that is not in the settings any more prove nothing.
    other = await book(signal("k"), sources=(source(name="others"),))
    assert other.proof(motive("k"), SHOP).proves(motive("k"), SHOP) is False


async def test_without_sources_nothing_is_checked_and_the_ledger_not_asked() -> None:
    known = OpenSignals(sources={}, ledger=None, clock=FixedClock())  # type: ignore[arg-type]  # it must not be asked
    await known.refresh()
    assert known.proof(motive("k"), SHOP).proves(motive("k"), SHOP) is None


async def test_many_signals_and_many_resources_take_a_limited_number_of_comparisons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[str] = []

    def counted(_scopes: object, _stack: str, address: str) -> bool:
        calls.append(address)
        return True

    monkeypatch.setattr(book_module, "concerns", counted)
    one = [replace(signal(str(n)), references=("many",)) for n in range(1_000)]
    known = await book(*one)
    proof = known.proof(motive("many"), SHOP)
    assert (len(calls), len(proof.by_address["aws_sqs_queue.a"]), len(proof.signals)) == (1, 10, 10)
    different = [replace(each, scopes=(SignalScope(stack=str(n)),)) for n, each in enumerate(one)]
    calls.clear()
    (await book(*different)).proof(motive("many"), {f"aws_sqs_queue.q{n}": "shop" for n in range(1_000)})
    assert len(calls) == 20_000


async def test_the_ledger_is_read_again_only_when_a_signal_changed() -> None:
    known = await book(signal("k"))
    kept = known.ledger
    assert isinstance(kept, Kept)
    for version, read in ((1, 1), (1, 1), (2, 2), (2, 2)):
        kept.version = version
        await known.refresh()
        assert kept.read == read


async def test_a_signal_that_stays_open_for_too_long_is_closed() -> None:
    old = replace(signal("old"), since=NOW - timedelta(hours=168))
    young = replace(signal("young"), since=NOW - timedelta(hours=167))
    known = await book(old, young)
    assert isinstance(known.ledger, Kept)
    [event] = known.ledger.recorded
    assert (event.id, event.state, event.at) == (old.id, SignalState.CLOSED, NOW)
    assert [bool(known.proof(motive(name), SHOP).signals) for name in ("old", "young")] == [False, True]


async def test_a_file_proves_at_once_and_ends_what_it_no_longer_says(tmp_path: Path) -> None:
    path = tmp_path / "osv.json"
    path.write_text(json.dumps([{"id": "CVE-2026-1", "modified": "2026-11-01T00:00:00Z"}]))
    filed = source(name="osv", form=SignalForm.OSV, path=path, secret_env="", concerns=(ConcernSettings(stack="shop"),))
    gone = replace(signal("CVE-2026-9"), source="osv", scopes=(SignalScope(stack="shop"),))
    files = SignalFiles({"osv": filed})
    files.open_at_start(NOW)
    known = OpenSignals(sources={"osv": filed}, ledger=Kept([gone]), clock=FixedClock(), files=files)
    await known.refresh()
    assert isinstance(known.ledger, Kept)
    assert [(event.key, event.state) for event in known.ledger.recorded] == [("CVE-2026-9", SignalState.CLOSED)]
    found = known.proof(motive("cve-2026-1", why=Motivation.VULNERABILITY), SHOP)
    assert [(each.key, each.filed) for each in found.signals] == [("CVE-2026-1", True)]
    assert known.proof(motive("cve-2026-1"), SHOP).signals == ()


async def test_what_concerns_a_resource_comes_latest_first_and_only_some_of_it() -> None:
    here = [replace(signal(f"k{number}"), since=NOW + timedelta(seconds=number)) for number in range(20)]
    scopes = (SignalScope(stack="shop", addresses=("aws_sqs_queue.*",)),)
    known = await book(*(replace(each, scopes=scopes) for each in here))
    found = known.about("shop", "aws_sqs_queue.a")
    assert [each.key for each in found] == [f"k{number}" for number in range(19, 9, -1)]
    assert known.about("shop", "aws_lb.a") == known.about("other", "aws_sqs_queue.a") == []
