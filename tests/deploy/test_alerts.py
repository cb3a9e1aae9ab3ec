"""The alerts, proved with Prometheus' own tool: each fires on its condition, and a gateway's figures are ones that Prometheus takes."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.telemetry.figures import Figures
from tests.deploy.install import debian

DEPLOY = Path(__file__).parent.parent.parent / "deploy"
RULES = DEPLOY / "prometheus" / "sentinel.rules.yml"
TESTS = DEPLOY / "prometheus" / "sentinel.test.yml"
ALERTS: list[str] = [rule["alert"] for rule in yaml.safe_load(RULES.read_text())["groups"][0]["rules"]]


def promtool(*arguments: str | Path, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run promtool."""
    argv = [debian("promtool"), *map(str, arguments)]
    return subprocess.run(argv, input=text, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_rules_are_valid_and_each_fires_on_its_condition() -> None:
    checked = promtool("check", "rules", RULES)
    assert checked.returncode == 0, checked.stderr
    assert f"{len(ALERTS)} rules found" in checked.stdout
    done = promtool("test", "rules", TESTS)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("alert", ALERTS)
def test_each_alert_is_shown_to_fire_and_to_be_silent(alert: str) -> None:
    cases = [case for test in yaml.safe_load(TESTS.read_text())["tests"] for case in test["alert_rule_test"]]
    own = [bool(case["exp_alerts"]) for case in cases if case["alertname"] == alert]
    assert True in own, "a test in which it fires"
    assert False in own, "a test of the condition beside it, in which it is silent"


@pytest.mark.slow
def test_rules_that_never_fire_would_be_noticed_each_by_its_name(tmp_path: Path) -> None:
    shutil.copy(TESTS, tmp_path)
    document: dict[str, Any] = yaml.safe_load(RULES.read_text())
    for rule in document["groups"][0]["rules"]:
        assert "ALERTS" not in rule["expr"], "It depends on no other alert, so all may be silent at once."
        rule["expr"] = f"({rule['expr']}) and vector(0) > 0"
    (tmp_path / RULES.name).write_text(yaml.safe_dump(document))
    done = promtool("test", "rules", tmp_path / TESTS.name)
    assert done.returncode != 0
    noticed = set(re.findall(r"alertname: (\w+)", done.stdout + done.stderr))
    assert noticed == set(ALERTS)


def test_a_gateway_s_figures_are_in_the_form_of_prometheus() -> None:
    figures = Figures()
    figures.requests.labels("aws", "mutation", "applied").inc()
    text, _ = figures.text("text/plain")
    done = promtool("check", "metrics", text=text.decode())
    # It also has opinions on names, which it prints and which end with 3; what it cannot read ends with 1.
    assert done.returncode in (0, 3), done.stderr
    assert "error" not in done.stderr.lower()


def test_every_query_of_the_dashboard_is_promql(tmp_path: Path) -> None:
    panels = json.loads((DEPLOY / "grafana" / "sentinel.json").read_text())["panels"]
    queries = [target["expr"] for panel in panels for target in panel["targets"]]
    assert len(queries) > 10
    # Grafana fills these in before Prometheus sees the query.
    plain = [re.sub(r"\$__\w+", "5m", query) for query in queries]
    rules = [{"record": f"panel_{number}", "expr": query} for number, query in enumerate(plain)]
    (tmp_path / "panels.yml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    done = promtool("check", "rules", tmp_path / "panels.yml")
    assert done.returncode == 0, done.stderr
    assert f"{len(rules)} rules found" in done.stdout
