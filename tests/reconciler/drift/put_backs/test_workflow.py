"""A put-back survives `kill -9` of reconciler and gateway: through a real gateway, to a simulated AWS, exactly once."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.time_box import TimeBoxState
from gateway.core.records.record import Record, Stage
from gateway.core.times import SystemClock
from tests.kit.fork_server import ForkServer
from tests.kit.gate import ASG
from tests.kit.gate_process import GateProcess
from tests.kit.moto import MotoUpstream
from tests.reconciler.drift.put_backs.put_back_child import POINTS

pytestmark = [pytest.mark.slow, pytest.mark.allow_hosts(["127.0.0.1"])]


@pytest.fixture(scope="module")
def reconciler() -> Iterator[ForkServer]:
    """ForkServer reconcilers."""
    with ForkServer("tests.reconciler.drift.put_backs.put_back_child") as forks:
        yield forks


@pytest.fixture(scope="module")
def moto() -> Iterator[MotoUpstream]:
    """A simulated AWS that has the group of the stack."""
    made = MotoUpstream()
    made.server.start()
    made.port = made.server.get_host_and_port()[1]
    groups = made.client("autoscaling")
    groups.create_launch_configuration(LaunchConfigurationName="l", ImageId="ami-12c6146b", InstanceType="t2.micro")
    groups.create_auto_scaling_group(
        AutoScalingGroupName=ASG,
        LaunchConfigurationName="l",
        MinSize=2,
        MaxSize=16,
        DesiredCapacity=4,
        AvailabilityZones=["us-east-1a"],
    )
    yield made
    made.server.stop()


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory, moto: MotoUpstream) -> Iterator[GateProcess]:
    """A gateway in front of it."""
    with GateProcess(data=tmp_path_factory.mktemp("timed") / "data", aws=moto.url) as running:
        yield running


class Scene:
    """One gateway, and reconcilers that share one database of workflows."""

    def __init__(self, gate: GateProcess, moto: MotoUpstream, reconciler: ForkServer, database: Path) -> None:
        self.gate = gate
        self.groups: Any = moto.client("autoscaling")
        self._moto = moto
        self._reconciler = reconciler
        self._database = f"sqlite:///{database}"

    def change(self, **capacity: int) -> str:
        """Change the group for a second, and wait for its end; the mutation."""
        client = self.gate.client("autoscaling", "human", "incident; evidence=A-1; for=1s")
        client.update_auto_scaling_group(AutoScalingGroupName=ASG, **capacity)
        mutation = self.gate.records(Stage.DECIDED)[-1].mutation_id
        end = time.time() + 300
        while not self._is_due(mutation):
            assert time.time() < end
            time.sleep(0.1)
        return mutation

    def reconcile(self, dies: str = "never", *, rounds: int = 1_000) -> int:
        """Run a reconciler; its exit code, or the signal that ended it as a negative number."""
        key = self.gate.keys["reconciler"]
        places = {
            "data": str(self.gate.data),
            "database": self._database,
            "gate": self.gate.url,
            "aws": self._moto.url,
        }
        return self._reconciler.run(places, (key.id, key.secret), dies, rounds)

    def live(self) -> tuple[int, int]:
        """Desired and largest size of the group."""
        [group] = self.groups.describe_auto_scaling_groups()["AutoScalingGroups"]
        return group["DesiredCapacity"], group["MaxSize"]

    def put_backs(self, mutation: str) -> list[Record]:
        """The decisions by which a change was put back and that were carried out."""
        found: list[Record] = []
        for record in self.gate.records(Stage.DECIDED):
            body: Any = record.body.members
            if body.get("puts_back", {}).get("mutation") == mutation and body["decision"]["carried_out"]:
                found.append(record)
        return found

    def states(self, mutation: str) -> set[TimeBoxState]:
        """What became of its attributes."""
        parts = self.gate.ledger(lambda ledger: ledger.time_boxes(mutation_id=mutation, ended=True))
        return {part.state for part in parts}

    def _is_due(self, mutation: str) -> bool:
        now = SystemClock().now()
        return bool(self.gate.ledger(lambda ledger: ledger.due_change(now, mutation)))


@pytest.fixture
def scene(gate: GateProcess, moto: MotoUpstream, reconciler: ForkServer, tmp_path: Path) -> Scene:
    """The group has four instances at the beginning of each test."""
    made = Scene(gate, moto, reconciler, tmp_path / "workflows.db")
    made.groups.update_auto_scaling_group(AutoScalingGroupName=ASG, MinSize=2, MaxSize=16, DesiredCapacity=4)
    return made


@pytest.mark.parametrize(
    "point", [*(pytest.param(each, marks=pytest.mark.long) for each in ("looking", "sending")), "sent"]
)
def test_a_reconciler_that_is_killed_puts_it_back_once_when_it_runs_again(scene: Scene, point: str) -> None:
    mutation = scene.change(DesiredCapacity=7)
    assert scene.live() == (7, 16)
    assert scene.reconcile(point) == -signal.SIGKILL
    assert scene.reconcile() == 0
    assert scene.live() == (4, 16)
    assert len(scene.put_backs(mutation)) == 1
    assert scene.states(mutation) == {TimeBoxState.PUT_BACK}


def test_killed_again_and_again_it_is_put_back_once(scene: Scene) -> None:
    mutation = scene.change(DesiredCapacity=7)
    for point in ("looking", "looking", "sending", "sending"):
        assert scene.reconcile(point) == -signal.SIGKILL
    assert scene.reconcile() == 0
    assert scene.live() == (4, 16)
    assert len(scene.put_backs(mutation)) == 1


def test_it_goes_back_once_the_gateway_is_there_again(scene: Scene) -> None:
    mutation = scene.change(DesiredCapacity=7)
    scene.gate.kill()
    assert scene.reconcile(rounds=5) == 0
    assert scene.states(mutation) == {TimeBoxState.STANDING}
    scene.gate.start()
    assert scene.reconcile() == 0
    assert scene.live() == (4, 16)
    assert len(scene.put_backs(mutation)) == 1


def test_what_was_changed_past_the_gate_is_left_to_a_human_and_the_rest_goes_back(scene: Scene) -> None:
    mutation = scene.change(DesiredCapacity=7, MaxSize=14)
    scene.groups.update_auto_scaling_group(AutoScalingGroupName=ASG, DesiredCapacity=9)
    assert scene.reconcile("leaving") == -signal.SIGKILL
    assert scene.reconcile(rounds=50) == 0
    assert scene.live() == (9, 16)
    assert scene.states(mutation) == {TimeBoxState.PUT_BACK, TimeBoxState.CHANGED_OUTSIDE}
    [left] = [record for record in scene.gate.records(Stage.NOT_PUT_BACK) if record.mutation_id == mutation]
    assert left.body.members["state"] == "changed_outside"
    assert "changed past Sentinel" in str(left.body.members["reason"])


def test_the_ledger_is_intact_after_all_of_it(gate: GateProcess) -> None:
    assert gate.ledger(lambda ledger: ledger.verify())


def test_every_step_is_a_point_to_die_at() -> None:
    assert set(POINTS) == {"looking", "leaving", "sending", "sent"}
