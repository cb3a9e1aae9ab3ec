"""A running Prometheus reads a gateway of the tests: every figure of the dashboard arrives, and an alert fires once its condition is real."""

import contextlib
import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from botocore.exceptions import ClientError

from gateway.core.model.caller import ActorKind
from gateway.core.ports import Key
from gateway.core.settings.telemetry import TelemetrySettings
from tests.deploy.install import debian
from tests.kit.gate import ASG, Gate
from tests.kit.up import free_port

pytestmark = [pytest.mark.slow, pytest.mark.enable_socket]

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = DEPLOY / "prometheus" / "sentinel.rules.yml"
_MOST_SECONDS = 300


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Gate]:
    """A gateway with metrics."""
    with Gate(directory=tmp_path / "gate", telemetry=TelemetrySettings(metrics=True)) as gate:
        yield gate


@pytest.fixture
def prometheus(watched: Gate, tmp_path: Path) -> Iterator[str]:
    """The address of a Prometheus that scrapes the gateway every second with a key of its own, and has the alerts as shipped but for their patience."""
    rules = yaml.safe_load(RULES.read_text())
    for rule in rules["groups"][0]["rules"]:
        rule["for"] = "0s"  # a test does not wait half an hour: how long each waits is tested by promtool
    (tmp_path / "rules.yml").write_text(yaml.safe_dump(rules))
    key = watched.run(_scraper(watched))
    job = {
        "job_name": "sentinel",
        "authorization": {"credentials": f"{key.id}.{key.secret}"},
        "static_configs": [{"targets": [watched.url.removeprefix("http://")]}],
    }
    config = {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(tmp_path / "rules.yml")],
        "scrape_configs": [job],
    }
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
    port = free_port()
    argv = [
        debian("prometheus"),
        f"--config.file={tmp_path / 'prometheus.yml'}",
        f"--storage.tsdb.path={tmp_path / 'tsdb'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with (tmp_path / "prometheus.log").open("wb") as told:
        process = subprocess.Popen(argv, stdout=told, stderr=told)
    try:
        _until(lambda: _is_ready(f"http://127.0.0.1:{port}"), tmp_path / "prometheus.log")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


async def _scraper(gate: Gate) -> Key:
    return await gate.ring.issue(actor="prometheus", kind=ActorKind.SERVICE, roles=("metrics",))


def _is_ready(address: str) -> bool:
    with contextlib.suppress(httpx.TransportError):
        return httpx.get(f"{address}/-/ready", timeout=10).status_code == 200
    return False


def _until(holds: Callable[[], bool], log: Path | None = None) -> None:
    until = time.monotonic() + _MOST_SECONDS
    while not holds():
        assert time.monotonic() < until, log.read_text()[-2000:] if log is not None else "it did not come true in time"
        time.sleep(0.2)


def _found(address: str, query: str) -> list[Any]:
    answer = httpx.get(f"{address}/api/v1/query", params={"query": query}, timeout=30).json()
    assert answer["status"] == "success", answer
    return list(answer["data"]["result"])


def _firing(address: str) -> set[str]:
    alerts = httpx.get(f"{address}/api/v1/alerts", timeout=30).json()["data"]["alerts"]
    return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}


def test_an_alert_fires_once_an_outcome_is_unknown_and_ends_when_it_is_settled(watched: Gate, prometheus: str) -> None:
    _until(lambda: bool(_found(prometheus, "sentinel_ledger_readable == 1")))
    assert "SentinelOutcomeUnknown" not in _firing(prometheus)
    # AWS closes the connection before it answers: nobody knows what it did.
    watched.upstream.behaviour = "cut"
    with pytest.raises(ClientError):
        watched.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6)
    watched.upstream.behaviour = "ok"
    _until(lambda: "SentinelOutcomeUnknown" in _firing(prometheus))
    [doubt] = watched.run(watched.ledger.in_doubt())
    settled = httpx.post(
        f"{watched.url}/v1/mutations/{doubt.mutation_id}/settle",
        json={"outcome": "applied", "reason": "I looked."},
        headers=watched.bearer("human"),
        timeout=60,
    )
    assert settled.status_code == 200, settled.text
    _until(lambda: "SentinelOutcomeUnknown" not in _firing(prometheus))


def test_every_figure_of_the_dashboard_arrives(watched: Gate, prometheus: str) -> None:
    watched.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6)
    panels = json.loads((DEPLOY / "grafana" / "sentinel.json").read_text())["panels"]
    named = {
        name for panel in panels for each in panel["targets"] for name in re.findall(r"\bsentinel_\w+", each["expr"])
    }
    assert len(named) > 10
    declared = httpx.get(f"{watched.url}/metrics", headers=_bearer(watched), timeout=60).text
    # A figure with labels has no series before something was counted: what the gateway shows is what must arrive.
    shown = {name for name in named if re.search(rf"^{name}[ {{]", declared, re.MULTILINE)}
    assert len(shown) > 5
    _until(lambda: all(_found(prometheus, name) for name in shown))


def _bearer(gate: Gate) -> dict[str, str]:
    key = gate.run(_scraper(gate))
    return {"Authorization": f"Bearer {key.id}.{key.secret}"}
