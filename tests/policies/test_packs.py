"""Each guardrail's rule belongs to one pack, and each pack says in its README which rules it has, which controls they serve and at which stage."""

import json
import re
from pathlib import Path

import pytest

from gateway.policy.bundle import SHIPPED, read_bundle
from gateway.policy.data_schema import PacksData
from gateway.policy.sources import shipped

PACKS = PacksData.model_validate(json.loads((shipped() / "data" / "packs.json").read_bytes())["packs"]).by_name
RULES = {
    rule: text
    for rule, text in read_bundle(shipped() / SHIPPED).manifest.rules.items()
    if text.source.startswith("guardrails")
}
NAMES = {"network", "identity", "data_loss", "exposure", "cost", "regions", "tags", "time_windows", "instance_families"}


def test_every_rule_is_in_one_pack() -> None:
    listed = sorted(rule for pack in PACKS.values() for rule in pack.controls)
    assert listed == sorted(RULES)
    assert set(PACKS) >= NAMES


@pytest.mark.parametrize("name", sorted(PACKS))
def test_the_readme_of_a_pack_lists_its_rules_with_their_controls(name: str) -> None:
    text = (shipped() / "packs" / name / "README.md").read_text()
    rows = dict(re.findall(r"^\| (\S+) \| .* \| (.*) \|$", text, re.MULTILINE))
    assert {rule: set(rows[rule].split(", ")) - {"–"} for rule in rows if rule != "Rule"} == {
        rule: set(controls) for rule, controls in PACKS[name].controls.items()
    }
    assert f"Stage: `{PACKS[name].stage}`" in text
    assert PACKS[name].about in text


@pytest.mark.parametrize("name", sorted(PACKS))
def test_each_rule_of_a_pack_has_a_test_that_expects_it(name: str) -> None:
    tests = "".join(path.read_text() for path in shipped().rglob("*_test.rego"))
    assert [rule for rule in PACKS[name].controls if rule not in tests] == []


def test_controls_are_named_by_their_catalogue() -> None:
    named = {control for pack in PACKS.values() for controls in pack.controls.values() for control in controls}
    assert named
    assert all(re.fullmatch(r"(?:CIS AWS \d+(?:\.\d+)+|FSBP [A-Za-z0-9]+\.\d+)", control) for control in named)


def test_no_pack_without_a_folder() -> None:
    assert {path.name for path in Path(shipped() / "packs").iterdir()} == set(PACKS)
