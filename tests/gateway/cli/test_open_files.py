"""The connections that a process may have, by the files that the system lets it open."""

import resource
import subprocess
import sys

import pytest

from gateway.cli.open_files import RESERVE
from tests.kit.up import ROOT

_PROGRAM = """
import resource, sys
soft, hard, most = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
from gateway.cli.open_files import connections_within
print(connections_within(most), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize(
    ("soft", "hard", "connections", "files"),
    [
        (1024, 1024, (1024 - RESERVE) // 2, 1024),
        (300, 1024, (1024 - RESERVE) // 2, 1024),
        (256, 4000, 1000, 2000 + RESERVE),  # raised as far as they need, and no further
        (3000, 4000, 1000, 3000),
        (128, 128, 16, 128),
    ],
)
def test_as_many_connections_as_there_are_files_for(soft: int, hard: int, connections: int, files: int) -> None:
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < hard:
        pytest.fail(f"These tests need a hard limit of at least {hard} open files.")
    command = [sys.executable, "-c", _PROGRAM, str(soft), str(hard), "1000"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert tuple(map(int, told.split())) == (connections, files, hard)
