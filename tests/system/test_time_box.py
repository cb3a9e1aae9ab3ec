"""A change for a time in `sentinel up`: real gateway, reconciler, Terraform and provider, a simulated AWS; processes are killed.

`tests/reconciler/drift/put_backs/test_workflow.py` plays the same cases without Terraform, in `make test`.
"""

import json
import os
import signal
import time
from collections.abc import Callable
from typing import Any

import boto3
import pytest

from tests.kit.up import Up, sentinel
from tests.system.test_story import GROUP, git, json_of, live

pytestmark = [pytest.mark.system, pytest.mark.terraform, pytest.mark.slow, pytest.mark.allow_hosts(["127.0.0.1"])]

Make = Callable[..., Up]


@pytest.mark.long
def test_a_change_for_a_time_goes_back_by_itself(an_up: Make) -> None:
    up = an_up().ready()
    before = live(up)

    first = change(up, before + 1, "5s")
    assert live(up) == before + 1
    [box] = [each for each in json_of(up, "claims")["time_boxes"] if each["mutation_id"] == first]
    assert (box["goes_back_to"], box["state"]) == (before, "standing")
    wait_until(lambda: live(up) == before)
    wait_until(lambda: not json_of(up, "claims")["time_boxes"])
    wait_until(lambda: {first, put_backs(up, first)[0]["mutation_id"]} <= reconciled(up).keys())
    stays_out_of_code(up, first)

    second = change(up, before + 2, "1h")
    assert json_of(up, "extend", second, "--for", "2h", "--reason", "longer")["time_boxes"]
    assert json_of(up, "end", second, "--reason", "done")["time_boxes"]
    wait_until(lambda: live(up) == before)

    third = change(up, before + 1, "8s")
    os.kill(reconciler(up), signal.SIGKILL)
    assert up.ended() == 1
    up.ready()
    wait_until(lambda: live(up) == before)
    assert len(put_backs(up, third)) == 1

    fourth = change(up, before + 1, "8s")
    past_the_gate(up, before + 3)
    wait_until(lambda: json_of(up, "left")["left"])
    [left] = json_of(up, "left")["left"]
    assert (left["kind"], left["mutation_id"], live(up)) == ("not_put_back", fourth, before + 3)
    assert not put_backs(up, fourth)
    assert sentinel("verify", "--config", str(up.home / "sentinel.toml")).stdout.startswith("The ledger is intact: ")


def change(up: Up, capacity: int, lasts: str) -> str:
    """Change the group for a time; the mutation."""
    parameters = json.dumps({"AutoScalingGroupName": GROUP, "DesiredCapacity": capacity})
    motive = ("--intent", "availability", "--motivation", "incident", "--evidence", "A-1", "--for", lasts)
    done = json_of(up, "propose", "autoscaling", "SetDesiredCapacity", parameters, *motive)
    assert done["outcome"]["outcome"] == "applied", done
    return str(done["mutation"]["id"])


def put_backs(up: Up, mutation: str) -> list[Any]:
    """The decisions that put a change back."""
    records = json_of(up, "records", "--stage", "decided")["records"]
    return [each for each in records if each["body"].get("puts_back", {}).get("mutation") == mutation]


def stays_out_of_code(up: Up, mutation: str) -> None:
    """No commit names it, and its record says why."""
    assert mutation not in git(up, "log", "--all", "--format=%B")
    records = reconciled(up)
    assert "not written into code" in records[mutation]["kept_out"][0]["reason"]
    [back] = put_backs(up, mutation)
    assert mutation in records[back["mutation_id"]]["kept_out"][0]["reason"]


def reconciled(up: Up) -> dict[str, Any]:
    """What the reconciler recorded of each mutation; there are those of the first apply, too."""
    records = json_of(up, "records", "--stage", "reconciled")["records"]
    return {each["mutation_id"]: each["body"] for each in records}


def reconciler(up: Up) -> int:
    """The process id of the reconciler."""
    return next(pid for command, pid in up.children().items() if "-m reconciler serve" in command)


def past_the_gate(up: Up, capacity: int) -> None:
    """Change the group in the simulated AWS itself."""
    client = boto3.client(
        "autoscaling",
        endpoint_url=f"http://127.0.0.1:{up.aws_port}",
        region_name="us-east-1",
        aws_access_key_id="simulated",
        aws_secret_access_key="simulated",
    )
    client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=capacity)


def wait_until(true: Callable[[], object]) -> None:
    """Wait for a condition."""
    end = time.monotonic() + 300
    while not true():
        assert time.monotonic() < end
        time.sleep(0.5)
