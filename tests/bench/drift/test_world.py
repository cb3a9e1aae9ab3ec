"""A copy of the simulated AWS has what was applied; what is done to it is seen by nobody else."""

from pathlib import Path

import pytest

from tests.bench.drift.made import client
from tests.bench.drift.world import simulated_aws
from tests.kit.up import free_port

pytestmark = [pytest.mark.slow, pytest.mark.allow_hosts(["127.0.0.1"])]


def test_a_copy_is_forgotten_at_its_end(tmp_path: Path) -> None:
    with simulated_aws(tmp_path / "log") as world:
        client("logs", world.endpoint).create_log_group(logGroupName="/kept")
        world.freeze()
        port, beside = free_port(), free_port()
        with world.fork(beside) as other:
            with world.fork(port) as endpoint:
                client("logs", endpoint).create_log_group(logGroupName="/lost")
                assert _groups(endpoint) == ["/kept", "/lost"]
                assert _groups(other) == ["/kept"]
            with world.fork(port) as endpoint:
                assert _groups(endpoint) == ["/kept"]


def _groups(endpoint: str) -> list[str]:
    return [group["logGroupName"] for group in client("logs", endpoint).describe_log_groups()["logGroups"]]
