"""A gateway with telemetry: what its figures say after real calls, who may read them, and that what is off is not there."""

import base64
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from gateway.core.errors import LedgerUnavailable
from gateway.core.model.caller import ActorKind
from gateway.core.settings.notices import WebhookSettings
from gateway.core.settings.telemetry import TelemetrySettings
from gateway.line.pipeline import Pipeline
from gateway.telemetry.telemetry import Telemetry
from tests.kit.gate import ASG, Gate

OPS = WebhookSettings.model_validate(
    {"name": "ops", "url": "https://ops.example/", "secret": "whsec_" + base64.b64encode(b"s" * 32).decode()}
)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway with metrics, and a receiver of webhooks."""
    settings = TelemetrySettings(metrics=True)
    with Gate(directory=tmp_path_factory.mktemp("watched"), telemetry=settings, webhooks=(OPS,)) as running:
        yield running


def _figures(gate: Gate) -> str:
    key = gate.run(_scraper(gate))
    found = httpx.get(f"{gate.url}/metrics", headers={"authorization": f"Bearer {key.id}.{key.secret}"})
    assert found.status_code == 200, found.text
    return found.text


async def _scraper(gate: Gate) -> Any:
    return await gate.ring.issue(actor="prometheus", kind=ActorKind.SERVICE, roles=("metrics",))


@pytest.mark.enable_socket
def test_calls_are_counted_by_door_class_and_outcome(watched: Gate) -> None:
    client = watched.client("autoscaling")
    client.describe_auto_scaling_groups()
    client.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6)
    with pytest.raises(ClientError):
        client.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=60_000)
    assert httpx.get(f"{watched.url}/v1/claims").status_code == 401
    lines = _figures(watched).splitlines()
    for line in (
        'sentinel_requests_total{class="read",door="aws",outcome="admitted"} 1.0',
        'sentinel_requests_total{class="mutation",door="aws",outcome="applied"} 1.0',
        'sentinel_requests_total{class="mutation",door="aws",outcome="denied"} 1.0',
        'sentinel_requests_total{class="unknown",door="api",outcome="not_authenticated"} 1.0',
        'sentinel_decisions_total{intent="availability",kind="agent",mode="enforce",verdict="allow"} 1.0',
        'sentinel_decisions_total{intent="availability",kind="agent",mode="enforce",verdict="deny"} 1.0',
        "sentinel_decision_duration_seconds_count 2.0",
        'sentinel_upstream_duration_seconds_count{service="autoscaling"} 1.0',
        "sentinel_ledger_commit_duration_seconds_count 3.0",
        "sentinel_claims_open 1.0",
        "sentinel_ledger_readable 1.0",
        'sentinel_deliveries_total{outcome="given_up",receiver="ops"} 0.0',
    ):
        assert line in lines, line
    text = "\n".join(lines)
    assert ASG not in text
    assert "agent-" not in text


@pytest.mark.enable_socket
def test_only_a_key_with_the_role_reads_them(watched: Gate) -> None:
    url = f"{watched.url}/metrics"
    assert httpx.get(url).status_code == 401
    human = watched.keys["human"]
    refused = httpx.get(url, headers={"authorization": f"Bearer {human.id}.{human.secret}"})
    assert (refused.status_code, refused.json()["code"]) == (403, "not_allowed")
    assert "role `metrics`" in refused.json()["detail"]
    assert httpx.post(url).status_code == 405
    assert httpx.get(f"{url}/more").status_code == 404


@pytest.mark.enable_socket
def test_off_there_is_no_such_path(gate: Gate) -> None:
    """It is then what any path outside the API is: an AWS request, here without a signature."""
    assert httpx.get(f"{gate.url}/metrics").headers["content-type"] != "text/plain"


@pytest.mark.slow
def test_what_is_off_is_not_imported() -> None:
    code = "import sys, gateway.app.running; print([m for m in sys.modules if m.startswith(('prometheus_client', 'opentelemetry.sdk'))])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


async def test_off_the_line_is_the_plain_one(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[dict[str, Any]] = []
    monkeypatch.setattr(Pipeline, "__init__", lambda _self, **given: made.append(given))
    ledger, cloud = object(), object()
    off = Telemetry()
    assert type(off.pipeline(ledger=ledger, cloud=cloud)) is Pipeline  # not used
    assert made == [{"ledger": ledger, "cloud": cloud}]
    assert await off.scrape("", ledger, cloud) == (b"", "text/plain")  # type: ignore[arg-type]  # not used
    await off.close()


class _Ledger:
    """A ledger that stops answering, and counts how often it is asked."""

    asked = 0

    async def query(self, _: object) -> None:
        self.asked += 1
        raise LedgerUnavailable("It is gone.")


class _Engine:
    revision = "r1"


async def test_a_ledger_that_does_not_answer_is_a_figure_and_is_not_asked_at_each_scrape() -> None:
    telemetry, ledger = Telemetry(TelemetrySettings(metrics=True)), _Ledger()
    for _ in range(3):
        text, _kind = await telemetry.scrape("", ledger, _Engine())  # type: ignore[arg-type]  # what is used of them
        assert b"sentinel_ledger_readable 0.0" in text
    assert ledger.asked == 1
