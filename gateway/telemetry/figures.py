"""The figures at `/metrics`, as prometheus-client keeps them. Imported only where they are switched on."""

import math
from collections.abc import Iterator, Mapping
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, disable_created_metrics
from prometheus_client.core import CounterMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from gateway.ledger.ask.gauges import DeliveryFigures, LedgerGauges

_DECISION: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
_COMMIT: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
_UPSTREAM: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0)


class Figures:
    """The figures of one gateway. No label is an actor, a resource or anything else that callers choose freely."""

    def __init__(self) -> None:
        # A series with the time of creation beside each one would double their number, and nothing reads it.
        disable_created_metrics()  # type: ignore[no-untyped-call]  # it has no annotations
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        here = self.registry
        self.requests = Counter(
            "sentinel_requests",
            "Requests by door, class of call and outcome. Calls that are streamed or passed on are admitted; what is turned away has a code.",
            ["door", "class", "outcome"],
            registry=here,
        )
        self.decisions = Counter(
            "sentinel_decisions", "Recorded decisions.", ["verdict", "mode", "kind", "intent"], registry=here
        )
        self.warned = Counter(
            "sentinel_policy_warned",
            "What rules that are only tried would have refused or held.",
            ["rule", "verdict", "kind"],
            registry=here,
        )
        self.decision_seconds = Histogram(
            "sentinel_decision_duration_seconds",
            "From the decoded call to its decision, before it is recorded.",
            buckets=_DECISION,
            registry=here,
        )
        self.upstream_seconds = Histogram(
            "sentinel_upstream_duration_seconds",
            "How long AWS takes to answer a mutation.",
            ["service"],
            buckets=_UPSTREAM,
            registry=here,
        )
        self.commit_seconds = Histogram(
            "sentinel_ledger_commit_duration_seconds",
            "How long a decision or an outcome waits until it is on disk.",
            buckets=_COMMIT,
            registry=here,
        )
        self._holds = Gauge("sentinel_holds_open", "Mutations that wait for a human.", registry=here)
        self._claims = Gauge("sentinel_claims_open", "Open claims.", registry=here)
        self._doubts = Gauge("sentinel_in_doubt", "Mutations whose outcome is not known.", registry=here)
        self._keys = Gauge(
            "sentinel_keys_ending", "Keys that end within 14 days and that nobody has renewed.", registry=here
        )
        self._seq = Gauge("sentinel_ledger_seq", "The number of the ledger's last record.", registry=here)
        self._readable = Gauge("sentinel_ledger_readable", "1 if the ledger answers, else 0.", registry=here)
        self._lag = Gauge("sentinel_export_lag_records", "Records not exported yet.", ["sink"], registry=here)
        self._waiting = Gauge(
            "sentinel_deliveries_waiting", "Notices that their receiver has not taken yet.", ["receiver"], registry=here
        )
        self._deliveries = DeliveryCounts()
        here.register(self._deliveries)
        self._policy = Gauge("sentinel_policy_info", "1 for the policies in force.", ["revision"], registry=here)

    def show_ledger(self, gauges: LedgerGauges | None) -> None:
        """Take up what the ledger holds; None if it does not answer: then its figures are not a number, rather than old."""
        self._readable.set(0 if gauges is None else 1)
        named = (
            (self._holds, "holds"),
            (self._claims, "claims"),
            (self._doubts, "in_doubt"),
            (self._keys, "keys_ending"),
            (self._seq, "seq"),
        )
        for gauge, name in named:
            gauge.set(math.nan if gauges is None else getattr(gauges, name))
        self._lag.clear()
        for sink, lag in (gauges.export_lag if gauges is not None else {}).items():
            self._lag.labels(sink).set(lag)
        deliveries = gauges.deliveries if gauges is not None else {}
        self._deliveries.of = deliveries
        self._waiting.clear()
        for receiver, figures in deliveries.items():
            self._waiting.labels(receiver).set(figures.waiting)

    def show_policy(self, revision: str) -> None:
        """Take up which policies are in force."""
        self._policy.clear()
        self._policy.labels(revision).set(1)

    def text(self, accept: str) -> tuple[bytes, str]:
        """Every figure in the form that a scraper accepts, and the type of that form."""
        try:
            encode, kind = choose_encoder(accept)
        except (TypeError, ValueError):  # the version in the header is not a number
            encode, kind = choose_encoder("")
        return encode(self.registry), kind


class DeliveryCounts(Collector):
    """Attempts to deliver notices. The ledger has their sums, so no restart sets them back; taken up whole, so no scrape meets half of them."""

    of: Mapping[str, DeliveryFigures]
    """By receiver; empty while the ledger does not answer, which is a gap rather than a nought."""

    def __init__(self) -> None:
        self.of = {}

    def collect(self) -> Iterator[CounterMetricFamily]:
        """The sums as they are now."""
        found = CounterMetricFamily(
            "sentinel_deliveries", "Attempts to deliver a notice, by what came of them.", labels=["receiver", "outcome"]
        )
        for receiver, figures in self.of.items():
            for state, count in figures.totals.items():
                found.add_metric([receiver, state.value], count)
        yield found
