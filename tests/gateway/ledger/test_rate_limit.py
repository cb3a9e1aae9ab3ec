"""Refusals are recorded at a limited rate, and what unauthenticated callers sent is truncated and masked."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.ledger import rate_limit
from gateway.ledger.rate_limit import RefusalRateLimit, refusal_body
from gateway.model.refusal import Refusal

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def admitted(limit: RefusalRateLimit, count: int, peer: str = "p", at: datetime = NOW) -> int:
    return sum(limit.admit(code="c", peer=peer, now=at) for _ in range(count))


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


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "_MOST_PEERS", 10)
    limit = RefusalRateLimit()
    for number in range(100):
        limit.admit(code="c", peer=str(number), now=NOW)
    assert len(limit._buckets) == 10


def body(**members: str) -> dict[str, object]:
    given = {"reason": "r", "code": "c", "peer": "p", "about": "a", **members}
    return dict(refusal_body(Refusal(at=NOW, **given), suppressed=0))


def test_text_from_a_request_is_truncated_and_can_be_stored() -> None:
    assert len(str(body(about="x" * 10_000)["about"])) == 500
    assert body(about="\udce9")["about"] == "?"


def test_the_key_id_of_an_unauthenticated_caller_is_masked_and_can_be_compared() -> None:
    one, same, other = (body(key_id=key)["key_id"] for key in ("AKIAEXAMPLEAAAA", "AKIAEXAMPLEAAAA", "AKIBEXAMPLEAAAA"))
    assert "AKIAEXAMPLE" not in str(one)
    assert one == same != other


def test_a_known_key_id_is_kept() -> None:
    assert body(key_id="SNTLA", actor="agent")["key_id"] == "SNTLA"
