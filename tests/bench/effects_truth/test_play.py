"""A sample of the truth run: one small service, played with real Terraform through a running gateway."""

from pathlib import Path

import pytest

from tests.bench.drift.world import simulated_aws
from tests.bench.effects_truth.judge import certain, judge
from tests.bench.effects_truth.play import play, staged
from tests.bench.effects_truth.seeds import read_seed

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow, pytest.mark.terraform]


@pytest.mark.long
def test_what_certain_rows_foresee_of_a_service_is_what_its_plans_say(tmp_path: Path) -> None:
    with simulated_aws(tmp_path / "aws.log", empty_reads=True) as world:
        world.freeze()
        with staged(read_seed("secretsmanager"), world, tmp_path / "work") as stage:
            phases = list(play(stage, most=1))
    assert [(phase.name, phase.error) for phase in phases] == [("create", ""), ("change 1", ""), ("destroy", "")]
    judged = [judge(phase.name, phase.planned, phase.calls) for phase in phases]
    assert [mistake for each in judged for mistake in certain(each.mistakes)] == []
    assert {"secretsmanager:CreateSecret", "secretsmanager:DeleteSecret"} <= {
        name for each in judged for name in each.scores
    }
    assert all(call.sender.startswith("aws_secretsmanager_") for phase in phases for call in phase.calls)
