"""Rate limit on TURNED_AWAY records, so that refused requests cannot fill the disk.

The records stay for ever, because the chain must verify, so their number is limited instead: by second against bursts, and by day. A day's
records of unauthenticated callers take at most about 60 MB, by any number of peers. Refused requests of known actors are counted apart, so
that a flood of strangers hides nothing of theirs.
"""

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gateway.core.model.inbound import Refusal
from gateway.core.records.requests import TurnedAwayBody

RATE: Final = 10.0
"""Records a second for each pair of error code and peer, or actor."""
BURST: Final = 50.0
TOTAL_RATE: Final = 100.0
"""Records a second for all peers together, and for all actors together."""
TOTAL_BURST: Final = 500.0
STRANGERS_A_DAY: Final = 20_000
"""Records a day for all unauthenticated callers of one gateway process; each has at most about 3 kB, an index entry included."""
ACTOR_A_DAY: Final = 20_000
"""Records a day for each actor."""

_DAY: Final = 86_400.0
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
        self._buckets: dict[bool, OrderedDict[tuple[str, ...], _Bucket]] = {True: OrderedDict(), False: OrderedDict()}
        """Those of known actors and those of unauthenticated callers, so that many of these cannot push out one of those."""
        self._totals: dict[bool, _Bucket] = {}
        self._strangers: _Bucket | None = None
        self.suppressed = 0
        """Refusals dropped since the last record; the next record states the number."""

    def admit(self, refusal: Refusal) -> bool:
        """Whether to record this refusal. If not, it is counted."""
        now, known = refusal.at, bool(refusal.actor)
        who = refusal.actor or refusal.peer
        buckets = [
            self._bucket(known, (refusal.code, who), RATE, BURST, now),
            self._totals.setdefault(known, _Bucket(TOTAL_RATE, TOTAL_BURST, TOTAL_BURST, now)),
        ]
        if known:
            buckets.append(self._bucket(known, (who,), ACTOR_A_DAY / _DAY, ACTOR_A_DAY, now))
        else:
            self._strangers = self._strangers or _Bucket(STRANGERS_A_DAY / _DAY, STRANGERS_A_DAY, STRANGERS_A_DAY, now)
            buckets.append(self._strangers)
        if all(bucket.take(now) for bucket in buckets):
            return True
        self.suppressed += 1
        return False

    def _bucket(self, known: bool, key: tuple[str, ...], rate: float, burst: float, now: datetime) -> _Bucket:
        buckets = self._buckets[known]
        bucket = buckets.pop(key, None) or _Bucket(rate, burst, burst, now)
        buckets[key] = bucket
        if len(buckets) > _MOST_PEERS:
            buckets.popitem(last=False)
        return bucket

    def take_suppressed(self) -> int:
        """The number of dropped refusals, which is reset to 0."""
        count, self.suppressed = self.suppressed, 0
        return count


def refusal_body(refusal: Refusal, *, suppressed: int) -> TurnedAwayBody:
    """The record's body. Text from the request is truncated. Of the key id of an unauthenticated caller only the last four
    characters and a digest are stored: people send real AWS keys by mistake.
    """
    return TurnedAwayBody(
        code=_text(refusal.code),
        reason=_text(refusal.reason),
        peer=_text(refusal.peer),
        about=_text(refusal.about),
        key_id=_text(refusal.key_id) if refusal.actor else _masked(refusal.key_id),
        suppressed=suppressed,
    )


def _masked(key_id: str) -> str:
    if not key_id:
        return ""
    # A key id has 80 random bits, so its plain digest cannot be reversed, yet two ids can be compared.
    digest = hashlib.sha256(b"sentinel stranger\0" + key_id.encode("utf-8", "replace")).hexdigest()
    return f"…{_text(key_id)[-4:]} sha256:{digest}"


def _text(value: str) -> str:
    return value[:_MOST_TEXT].encode("utf-8", "replace").decode()
