"""Rate limit on TURNED_AWAY records, so that unauthenticated traffic cannot fill the disk."""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gateway.model.json import Json
from gateway.model.refusal import Refusal

RATE: Final = 10.0
"""Records a second for each pair of error code and peer."""
BURST: Final = 50.0
TOTAL_RATE: Final = 100.0
"""Records a second for all peers together."""
TOTAL_BURST: Final = 500.0

_MOST_PEERS: Final = 10_000
_MOST_TEXT: Final = 500


@dataclass(slots=True)
class _Bucket:
    """A token bucket: `rate` tokens a second, at most `burst` of them."""

    rate: float
    burst: float
    tokens: float
    at: datetime

    def take(self, now: datetime) -> bool:
        passed = max(0.0, (now - self.at).total_seconds())
        self.tokens = min(self.burst, self.tokens + passed * self.rate)
        self.at = max(self.at, now)
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


class RefusalRateLimit:
    """Decides which refusals to record, and counts the others."""

    def __init__(self) -> None:
        self._buckets: OrderedDict[tuple[str, str], _Bucket] = OrderedDict()
        self._total: _Bucket | None = None
        self.suppressed = 0
        """Refusals dropped since the last record; the next record states the number."""

    def admit(self, *, code: str, peer: str, now: datetime) -> bool:
        """Whether to record this refusal. If not, it is counted."""
        bucket = self._buckets.pop((code, peer), None) or _Bucket(RATE, BURST, BURST, now)
        self._buckets[code, peer] = bucket
        if len(self._buckets) > _MOST_PEERS:
            self._buckets.popitem(last=False)
        self._total = self._total or _Bucket(TOTAL_RATE, TOTAL_BURST, TOTAL_BURST, now)
        if bucket.take(now) and self._total.take(now):
            return True
        self.suppressed += 1
        return False

    def take_suppressed(self) -> int:
        """The number of dropped refusals, which is reset to 0."""
        count, self.suppressed = self.suppressed, 0
        return count


def refusal_body(refusal: Refusal, *, suppressed: int) -> Mapping[str, Json]:
    """The record's body. Text from the request is truncated. Of the key id of an unauthenticated caller only the last four
    characters and a digest are stored: people send real AWS keys by mistake.
    """
    return {
        "code": _text(refusal.code),
        "reason": _text(refusal.reason),
        "peer": _text(refusal.peer),
        "about": _text(refusal.about),
        "key_id": _text(refusal.key_id) if refusal.actor else _masked(refusal.key_id),
        "suppressed": suppressed,
    }


def _masked(key_id: str) -> str:
    if not key_id:
        return ""
    # A key id has 80 random bits, so its plain digest cannot be reversed, yet two ids can be compared.
    digest = hashlib.sha256(b"sentinel stranger\0" + key_id.encode("utf-8", "replace")).hexdigest()
    return f"…{_text(key_id)[-4:]} sha256:{digest}"


def _text(value: str) -> str:
    return value[:_MOST_TEXT].encode("utf-8", "replace").decode()
