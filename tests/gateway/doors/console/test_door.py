"""The console is loaded at the first visit, once."""

import subprocess
import sys

import pytest

from tests.kit.console import visitor
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


@pytest.mark.slow
def test_a_gateway_that_nobody_visits_loads_no_templates() -> None:
    code = "import sys, gateway.app.running; print([name for name in ('jinja2', 'jwt', 'gateway.doors.console.site') if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_the_first_visit_loads_it_and_paths_beside_it_are_others(gate: Gate) -> None:
    assert visitor(gate).get("/console/sign-in").status_code == 200
    assert visitor(gate).get("/consoles").status_code != 200
