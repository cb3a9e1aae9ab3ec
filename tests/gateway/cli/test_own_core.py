"""A worker stays on one core with every thread: those that run already, and those that start later."""

import json
import os
import subprocess
import sys

import pytest

from gateway.cli.own_core import require_own_core
from gateway.core.errors import SettingsInvalid
from tests.kit.up import ROOT

_PROGRAM = """
import json, os, sys, threading
from gateway.cli.own_core import stay_on_own_core

found, go_on = {}, threading.Event()

def tell(name, wait=False):
    if wait:
        go_on.wait()
    found[name] = sorted(os.sched_getaffinity(0))

before = threading.Thread(target=tell, args=("before", True))
before.start()
stay_on_own_core(int(sys.argv[1]))
go_on.set()
after = threading.Thread(target=tell, args=("after",))
after.start()
before.join()
after.join()
tell("first")
print(json.dumps(found))
"""


def _cores(worker: int) -> dict[str, list[int]]:
    command = [sys.executable, "-c", _PROGRAM, str(worker)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found: dict[str, list[int]] = json.loads(told)
    return found


@pytest.mark.parametrize("worker", [0, 1, 2])
def test_workers_take_the_cores_in_turns(worker: int) -> None:
    every = sorted(os.sched_getaffinity(0))
    core = every[worker % len(every)]
    assert _cores(worker) == {"before": [core], "after": [core], "first": [core]}


def test_elsewhere_than_on_linux_the_setting_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    require_own_core()
    monkeypatch.delattr(os, "sched_setaffinity")
    with pytest.raises(SettingsInvalid, match=r"`own_core` in \[server\] needs Linux"):
        require_own_core()
