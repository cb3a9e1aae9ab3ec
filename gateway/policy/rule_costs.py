"""What each rule costs on an input, from opa's profiler: to find the slow one."""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.core.model.json import Json
from gateway.core.model.verdict import RuleText
from gateway.policy.opa_command import opa_output

OTHER: Final = "(no rule with an id)"
_ROUNDS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCost:
    """The cost of one rule."""

    rule: str
    source: str
    microseconds: float
    """Of one question, in the evaluation of opa itself; the compiled form is faster, and alike in proportion."""
    evaluations: int
    """How often its conditions were evaluated."""


def rule_costs(
    policies: Path, tool: Path, entrypoint: str, document: Json, texts: Mapping[str, RuleText]
) -> tuple[RuleCost, ...]:
    """The rules, the dearest first. A helper counts to the rule above it in its file. Raises `errors.PolicyInvalid`."""
    with tempfile.TemporaryDirectory(prefix="sentinel-profile-") as scratch:
        file = Path(scratch) / "input.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        query = f"data.{entrypoint.replace('/', '.')}"
        options = ("--profile", "--profile-limit", "0", "--format", "json", "--count", str(_ROUNDS))
        ignored = ("--ignore", "*_test.rego", "--ignore", "bundle")
        text = opa_output(tool, ["eval", *options, *ignored, "-d", ".", "-i", str(file), query], cwd=policies)
    found = json.loads(text)
    lines = found.get("aggregated_profile") or found.get("profile") or ()
    rules: dict[str, list[tuple[int, str]]] = {}
    for rule, known in texts.items():
        name, _, row = known.source.rpartition(":")
        rules.setdefault(name, []).append((int(row), rule))
    costs: dict[str, tuple[float, int]] = {}
    for line in lines:
        file_name, at = Path(line["location"]["file"]).as_posix(), int(line["location"]["row"])
        above = max((each for each in rules.get(file_name, ()) if each[0] <= at), default=(0, OTHER))
        stats = line.get("total_time_ns_stats") or {"mean": line.get("total_time_ns", 0)}
        spent, count = costs.get(above[1], (0.0, 0))
        costs[above[1]] = spent + float(stats["mean"]) / 1000, count + int(line.get("num_eval", 0))
    return tuple(
        RuleCost(
            rule=rule,
            source=texts[rule].source if rule in texts else "",
            microseconds=round(spent, 1),
            evaluations=count,
        )
        for rule, (spent, count) in sorted(costs.items(), key=lambda each: -each[1][0])
    )
