"""The figures of healing follow from the records: time to repair, false positives, rollbacks."""

from datetime import UTC, datetime, timedelta

from gateway.core.model.json import Json
from gateway.core.records.record import Record, Stage
from gateway.drift.heal_report import heal_report
from tests.kit.bodies import sample_record

START = datetime(2026, 1, 2, tzinfo=UTC)


class History:
    """Records in their order."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def add(self, stage: Stage, drift: str, minutes: float, actor: str = "", **body: Json) -> None:
        """A record so many minutes after the start."""
        at = START + timedelta(minutes=minutes)
        self.records.append(
            sample_record(
                stage=stage, at=at, mutation_id=drift, actor=actor, stack="shop", body=body, seq=len(self.records) + 1
            )
        )

    def found(
        self, drift: str, minutes: float, attribute: str = "a", live: Json = 5, changed: float | None = None
    ) -> None:
        """A change that was found, and perhaps made before."""
        origin: Json = None if changed is None else {"at": (START + timedelta(minutes=changed)).isoformat()}
        self.add(Stage.DRIFTED, drift, minutes, address="x.y", attribute=attribute, live=live, origin=origin)


def test_nothing_gives_no_mean() -> None:
    report = heal_report([])
    assert (report.found, report.repaired, report.mean_seconds_to_repair) == (0, 0, None)
    assert report.to_json()["mean_seconds_to_repair_by_action"] == {}


def test_each_figure() -> None:
    history = History()
    history.found("fgn_1", 10, changed=0)
    history.add(Stage.DRIFT_DECIDED, "fgn_1", 11, action="revert")
    history.add(Stage.DRIFT_SETTLED, "fgn_1", 12, outcome="failed")
    history.add(Stage.DRIFT_SETTLED, "fgn_1", 20, outcome="reverted")
    history.found("fgn_2", 60)  # the same value again: it was wanted
    history.add(Stage.DRIFT_DECIDED, "fgn_2", 61, action="revert")
    history.add(Stage.DRIFT_DECIDED, "fgn_2", 62, "ann", action="codify")
    history.add(Stage.DRIFT_SETTLED, "fgn_2", 63, outcome="codified")
    history.add(Stage.DRIFT_SETTLED, "fgn_2", 100, outcome="gone")
    history.found("fgn_3", 100, attribute="b")
    history.add(Stage.DRIFT_DECIDED, "fgn_3", 101, action="human")
    history.add(Stage.DRIFT_SETTLED, "fgn_9", 101, outcome="gone")

    report = heal_report(reversed(history.records))

    assert (report.found, report.open, report.repaired, report.reverted, report.failed) == (3, 1, 2, 1, 1)
    assert report.mean_seconds_to_repair == (20 + 40) * 60 / 2
    assert report.mean_seconds_to_repair_by_action == {"revert": 1200, "codify": 2400}
    assert (report.false_positives, report.rollbacks) == (1, 1)
    assert report.by_action == {"revert": 1, "codify": 1, "human": 1}


def test_the_same_value_long_after_is_no_rollback() -> None:
    history = History()
    history.found("fgn_1", 0)
    history.add(Stage.DRIFT_DECIDED, "fgn_1", 1, action="revert")
    history.add(Stage.DRIFT_SETTLED, "fgn_1", 2, outcome="reverted")
    history.found("fgn_2", 3 * 24 * 60)
    history.found("fgn_3", 5, live=6)
    assert heal_report(history.records).rollbacks == 0
