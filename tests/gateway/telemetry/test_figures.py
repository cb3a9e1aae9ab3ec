"""The figures as text: documented names, no series of creation times, and no stale figure of a ledger that does not answer."""

from gateway.core.records.notice import DeliveryState
from gateway.ledger.ask.gauges import DeliveryFigures, LedgerGauges
from gateway.telemetry.figures import Figures

OPS = DeliveryFigures(waiting=2, totals=dict(zip(DeliveryState, (7, 1, 0), strict=True)))
GAUGES = LedgerGauges(
    seq=9, holds=2, claims=3, in_doubt=1, keys_ending=6, export_lag={"ocsf /x": 4}, deliveries={"ops": OPS}
)


def test_the_ledger_s_figures_are_shown() -> None:
    figures = Figures()
    figures.show_ledger(GAUGES)
    figures.show_policy("abc")
    text, kind = figures.text("")
    assert kind.startswith("text/plain")
    lines = text.decode().splitlines()
    for line in (
        "sentinel_holds_open 2.0",
        "sentinel_claims_open 3.0",
        "sentinel_in_doubt 1.0",
        "sentinel_ledger_seq 9.0",
        "sentinel_keys_ending 6.0",
        'sentinel_export_lag_records{sink="ocsf /x"} 4.0',
        'sentinel_policy_info{revision="abc"} 1.0',
        "sentinel_ledger_readable 1.0",
        'sentinel_deliveries_waiting{receiver="ops"} 2.0',
        'sentinel_deliveries_total{outcome="delivered",receiver="ops"} 7.0',
        'sentinel_deliveries_total{outcome="retrying",receiver="ops"} 1.0',
        'sentinel_deliveries_total{outcome="given_up",receiver="ops"} 0.0',
    ):
        assert line in lines
    figures.requests.labels("aws", "read", "admitted").inc()
    assert b"_created" not in figures.text("")[0]


def test_a_ledger_that_does_not_answer_has_no_old_figures() -> None:
    figures = Figures()
    figures.show_ledger(GAUGES)
    figures.show_ledger(None)
    lines = figures.text("")[0].decode().splitlines()
    assert "sentinel_holds_open NaN" in lines
    assert "sentinel_ledger_readable 0.0" in lines
    labelled = ("sentinel_export_lag_records{", "sentinel_deliveries_waiting{", "sentinel_deliveries_total{")
    assert not [line for line in lines if line.startswith(labelled)]


def test_only_the_policies_in_force_are_shown() -> None:
    figures = Figures()
    figures.show_policy("old")
    figures.show_policy("new")
    assert b'revision="old"' not in figures.text("")[0]


def test_openmetrics_is_given_to_who_asks_for_it() -> None:
    text, kind = Figures().text("application/openmetrics-text; version=1.0.0")
    assert kind.startswith("application/openmetrics-text")
    assert text.endswith(b"# EOF\n")


def test_a_version_that_is_none_gets_plain_text() -> None:
    text, kind = Figures().text("application/openmetrics-text; version=abc")
    assert text
    assert kind.startswith("text/plain")
