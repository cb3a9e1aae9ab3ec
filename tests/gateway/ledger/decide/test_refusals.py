"""Refusals are recorded at a limited rate, and what unauthenticated callers sent is truncated and masked."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.core.model.inbound import Refusal
from gateway.core.records.codec import encode
from gateway.ledger.decide import refusals
from gateway.ledger.decide.refusals import ACTOR_A_DAY, STRANGERS_A_DAY, RefusalRateLimit, refusal_body

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def refusal(peer: str = "p", *, code: str = "c", at: datetime = NOW, actor: str = "") -> Refusal:
    return Refusal(at=at, code=code, peer=peer, actor=actor)


def admitted(limit: RefusalRateLimit, count: int, peer: str = "p", at: datetime = NOW, actor: str = "") -> int:
    return sum(limit.admit(refusal(peer, at=at, actor=actor)) for _ in range(count))


def test_a_burst_then_ten_a_second() -> None:
    limit = RefusalRateLimit()
    assert admitted(limit, 100) == 50
    assert admitted(limit, 100, at=NOW + timedelta(seconds=1)) == 10
    assert limit.take_suppressed() == 140
    assert limit.take_suppressed() == 0


def test_a_clock_that_goes_back_adds_no_tokens() -> None:
    limit = RefusalRateLimit()
    admitted(limit, 50)
    assert admitted(limit, 10, at=NOW - timedelta(hours=1)) == 0
    assert admitted(limit, 10, at=NOW) == 0


def test_all_peers_together_have_a_limit() -> None:
    limit = RefusalRateLimit()
    assert sum(admitted(limit, 1, peer=str(number)) for number in range(2_000)) == 500


def _flood(limit: RefusalRateLimit, days: int, actor: str = "") -> int:
    """How many refusals are recorded of a flood of ten a second from ever new peers."""
    kept = 0
    for second in range(0, days * 86_400, 10):
        at = NOW + timedelta(seconds=second)
        kept += sum(limit.admit(refusal(f"{second}.{number}", at=at, actor=actor)) for number in range(10))
    return kept


@pytest.mark.slow
def test_strangers_have_a_limit_by_day_however_many_peers_they_have() -> None:
    limit = RefusalRateLimit()
    first = _flood(limit, 1)
    assert first <= 2 * STRANGERS_A_DAY
    assert _flood(limit, 3) - first <= 3 * STRANGERS_A_DAY


def test_what_is_dropped_is_counted() -> None:
    limit = RefusalRateLimit()
    assert _flood(limit, 1) + limit.suppressed == 86_400


def test_a_flood_of_strangers_hides_no_refusal_of_a_known_actor() -> None:
    limit = RefusalRateLimit()
    _flood(limit, 1)
    assert admitted(limit, 10) == 0
    assert admitted(limit, 10, actor="agent") == 10


def test_an_actor_has_a_limit_by_day_and_hides_no_other() -> None:
    limit = RefusalRateLimit()
    assert _flood(limit, 1, actor="agent") <= 2 * ACTOR_A_DAY
    later = NOW + timedelta(days=1)
    assert admitted(limit, 10, actor="rival", at=later) == 10
    assert admitted(limit, 10, at=later) == 10


def test_an_actor_is_counted_at_whatever_address_it_is() -> None:
    limit = RefusalRateLimit()
    assert sum(admitted(limit, 1, peer=str(number), actor="agent") for number in range(200)) == 50


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "_MOST_PEERS", 10)
    limit = RefusalRateLimit()
    for number in range(100):
        limit.admit(refusal(str(number)))
    assert len(limit._buckets[False]) == 10


def test_the_record_of_a_stranger_has_a_limited_size() -> None:
    long = "é" * 100_000
    given = refusal_body(Refusal(at=NOW, code=long, reason=long, peer=long, about=long, key_id=long), suppressed=10**9)
    assert len(encode(given)) < 5_000


def body(**members: str) -> dict[str, object]:
    given = {"reason": "r", "code": "c", "peer": "p", "about": "a", **members}
    return refusal_body(Refusal(at=NOW, **given), suppressed=0).members


def test_text_from_a_request_is_truncated_and_can_be_stored() -> None:
    assert len(str(body(about="x" * 10_000)["about"])) == 500
    assert body(about="\udce9")["about"] == "?"


def test_the_key_id_of_an_unauthenticated_caller_is_masked_and_can_be_compared() -> None:
    one, same, other = (body(key_id=key)["key_id"] for key in ("AKIAEXAMPLEAAAA", "AKIAEXAMPLEAAAA", "AKIBEXAMPLEAAAA"))
    assert "AKIAEXAMPLE" not in str(one)
    assert one == same != other


def test_a_known_key_id_is_kept() -> None:
    assert body(key_id="SNTLA", actor="agent")["key_id"] == "SNTLA"
