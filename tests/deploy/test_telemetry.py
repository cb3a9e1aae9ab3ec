"""The dashboard and the alerts name only figures and labels that a gateway has."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.telemetry.figures import Figures

DEPLOY = Path(__file__).parent.parent.parent / "deploy"
DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "operators.md"
RULES: list[dict[str, Any]] = yaml.safe_load((DEPLOY / "prometheus" / "sentinel.rules.yml").read_text())["groups"][0][
    "rules"
]
DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana" / "sentinel.json").read_text())
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
EXPRESSIONS = [*QUERIES, *(rule["expr"] for rule in RULES)]
OF_PROMETHEUS = {"job", "instance", "le"}
"""Labels that every scraped series or bucket has."""


def known() -> dict[str, set[str]]:
    """The labels of each series that a gateway has, by its name."""
    figures, found = Figures(), {}
    suffixes = {"counter": ["_total"], "histogram": ["_bucket", "_count", "_sum"]}
    for collector in list(figures.registry._collector_to_names):
        for metric in collector.collect():
            labels = set(getattr(collector, "_labelnames", getattr(metric, "_labelnames", ())))
            for suffix in suffixes.get(metric.type, [""]):
                found[f"{metric.name}{suffix}"] = labels
    return found


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_figure_and_label_is_one_of_a_gateway(expression: str) -> None:
    series = known()
    named = set(re.findall(r"\b(?:sentinel|process)_\w+", expression))
    assert named, "an expression is about something"
    assert named <= set(series)
    labels = OF_PROMETHEUS.union(*(series[name] for name in named))
    grouped = {label.strip() for group in re.findall(r"by \(([^)]*)\)", expression) for label in group.split(",")}
    matched = set(re.findall(r"[{,]\s*(\w+)\s*[=!]~?", expression))
    assert grouped | matched <= labels
    assert all(expression.count(opening) == expression.count(closing) for opening, closing in ("()", "[]", "{}"))


def test_a_figure_that_does_not_exist_would_be_noticed() -> None:
    assert "sentinel_requests" not in known()
    assert known()["sentinel_requests_total"] == {"door", "class", "outcome"}
    assert "actor" not in set().union(*known().values())


def test_every_alert_says_what_is_wrong_and_what_to_do() -> None:
    names = [rule["alert"] for rule in RULES]
    assert len(names) == len(set(names)) > 5
    for rule in RULES:
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert rule["annotations"]["summary"].endswith(".")
        assert rule["annotations"]["description"].endswith(".")
        assert re.fullmatch(r"\d+[mh]", rule["for"])


def test_every_figure_is_documented_and_shown() -> None:
    ours = {name for name in known() if name.startswith("sentinel_")}
    documented = set(re.findall(r"`(sentinel_\w+)`", DOCUMENT.read_text()))
    bases = {re.sub(r"_(bucket|count|sum)$", "", name) if "duration" in name else name for name in ours}
    assert documented == bases
    shown = {
        re.sub(r"_(bucket|count|sum)$", "", name) for query in QUERIES for name in re.findall(r"\bsentinel_\w+", query)
    }
    assert shown == bases


def test_the_panels_do_not_lie_over_each_other() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken
        taken |= cells
        assert place["x"] + place["w"] <= 24
