"""Bundles: whole or refused, and equal sources give equal bytes."""

import json
import re
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.core.errors import PolicyInvalid
from gateway.policy import bundle as chooser
from gateway.policy.bundle import (
    DRIFT,
    ENTRYPOINTS,
    PRIORITIES,
    SHIPPED,
    Bundle,
    build,
    read_bundle,
    rule_texts,
    select_bundle,
    write_bundle,
)
from gateway.policy.sources import read_sources, shipped


def test_the_shipped_bundle_is_of_the_shipped_sources(shipped_bundle: Bundle) -> None:
    assert shipped_bundle.built_from(read_sources(shipped()))
    assert shipped_bundle.packages >= {
        "network",
        "identity",
        "data_loss",
        "motive",
        "execution",
        "comprehension",
        "exposure",
    }


def test_the_flip_window_is_the_one_of_the_data(shipped_bundle: Bundle) -> None:
    assert shipped_bundle.flip_window == timedelta(days=1)
    data = json.loads(shipped_bundle.data)
    data["data"]["priorities"]["oscillation"]["window_seconds"] = 60
    assert replace(shipped_bundle, data=json.dumps(data).encode()).flip_window == timedelta(minutes=1)


@pytest.mark.opa
def test_building_again_gives_the_same_bytes(shipped_bundle: Bundle, opa_tool: Path, policies: Path) -> None:
    built = build(read_sources(policies), opa_tool)
    assert (built.wasm, built.data, built.manifest_bytes) == (
        shipped_bundle.wasm,
        shipped_bundle.data,
        (shipped() / SHIPPED / "manifest.json").read_bytes(),
    )


def test_a_written_bundle_is_read_again(shipped_bundle: Bundle, tmp_path: Path) -> None:
    write_bundle(shipped_bundle, tmp_path / "cache")
    assert read_bundle(tmp_path / "cache") == shipped_bundle
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == ["data.json", "manifest.json", "policy.wasm"]


@pytest.mark.parametrize("name", ["policy.wasm", "data.json", "manifest.json"])
@pytest.mark.parametrize("change", ["missing", "longer", "empty"])
def test_an_incomplete_or_altered_bundle_is_refused(policies: Path, name: str, change: str) -> None:
    path = policies / SHIPPED / name
    if change == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes() + b"x" if change == "longer" else b"")
    with pytest.raises(PolicyInvalid):
        read_bundle(policies / SHIPPED)


@pytest.mark.opa
def test_mistakes_are_shown_with_file_and_line(policies: Path, opa_tool: Path) -> None:
    (policies / "guardrails" / "broken.rego").write_text(
        "package sentinel.rules.broken\n\nevaluated := true\n\nfindings contains x if y\n"
    )
    with pytest.raises(PolicyInvalid, match=r"guardrails/broken\.rego:5"):
        build(read_sources(policies), opa_tool)


@pytest.mark.opa
def test_a_package_that_nobody_would_ask_is_refused(policies: Path, opa_tool: Path) -> None:
    (policies / "guardrails" / "deep.rego").write_text("package sentinel.rules.network.deep\n\nevaluated := true\n")
    with pytest.raises(PolicyInvalid, match=r"network\.deep"):
        build(read_sources(policies), opa_tool)


@pytest.mark.opa
def test_data_out_of_order_is_refused(policies: Path, opa_tool: Path) -> None:
    path = policies / "data" / "priorities.json"
    data = json.loads(path.read_text())
    data["priorities"]["intents"]["cost"] = 5000
    path.write_text(json.dumps(data))
    with pytest.raises(PolicyInvalid, match=r"priorities\.json: intents\.cost"):
        build(read_sources(policies), opa_tool)


@pytest.mark.opa
def test_policies_need_not_answer_about_drift_approvers_and_explanations(opa_tool: Path, policies: Path) -> None:
    assert DRIFT in read_bundle(policies / SHIPPED).manifest.entrypoints
    for optional in ("drift", "approvals", "fairness"):
        shutil.rmtree(policies / optional)
    (policies / "arbitration" / "explanation.rego").unlink()
    built = build(read_sources(policies), opa_tool)
    assert built.manifest.entrypoints == tuple(sorted((*ENTRYPOINTS, PRIORITIES)))


def test_every_shipped_rule_is_in_the_manifest_with_its_line(shipped_bundle: Bundle) -> None:
    files = read_sources(shipped()).files
    texts = shipped_bundle.manifest.rules
    text = b"\n".join(files.values()).decode()
    assert {"SEN-A001", "SEN-N001", "SEN-C001"} <= set(texts) == set(re.findall(r"^#   id: (\S+)$", text, re.MULTILINE))
    for found in texts.values():
        file, line = found.source.split(":")
        assert found.title
        assert re.match("findings contains", files[file].decode().splitlines()[int(line) - 1])


def test_rules_of_your_own_are_read_too(tmp_path: Path, opa_tool: Path) -> None:
    rule = '# METADATA\n# title: Mine\n# custom:\n#   id: ACME-1\nfindings contains "x" if input.flips.a\n'
    (tmp_path / "mine.rego").write_text(f"package sentinel.rules.mine\n\n{rule}\nother := 1\n")
    found = rule_texts(tmp_path, opa_tool)
    assert {name: (text.title, text.source) for name, text in found.items()} == {"ACME-1": ("Mine", "mine.rego:7")}


def test_two_rules_with_one_id_are_refused(tmp_path: Path, opa_tool: Path) -> None:
    """Nobody could tell their findings apart, and only the first had a title."""
    rule = '# METADATA\n# title: {}\n# custom:\n#   id: ACME-1\nfindings contains "x" if input.flips.a\n'
    text = f"package sentinel.rules.mine\n\n{rule.format('One')}\n{rule.format('Two')}"
    (tmp_path / "mine.rego").write_text(text)
    with pytest.raises(PolicyInvalid, match=r"mine.rego:13: The rule at mine.rego:7 has the id ACME-1 already"):
        rule_texts(tmp_path, opa_tool)


@pytest.mark.opa
def test_a_red_test_keeps_the_bundle_out(policies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _edit(policies)
    for path in policies.rglob("*_test.rego"):
        path.unlink()
    red = policies / "guardrails" / "red_test.rego"
    red.write_text("package sentinel.red_test\n\ntest_red if 1 == 2\n")
    cache = tmp_path / "cache"
    with pytest.raises(PolicyInvalid, match="tests fail"):
        select_bundle(policies, cache, tested=True)
    assert not cache.exists()

    red.write_text("package sentinel.red_test\n\ntest_green if 1 == 1\n")
    assert select_bundle(policies, cache, tested=True).built_from(read_sources(policies))


def _edit(policies: Path) -> None:
    path = policies / "guardrails" / "motive.rego"
    path.write_text(path.read_text().replace("and this call has none", "and this call does not"))


def test_unchanged_sources_run_the_shipped_bundle(policies: Path, tmp_path: Path, shipped_bundle: Bundle) -> None:
    assert select_bundle(policies, tmp_path / "cache") == shipped_bundle
    assert not (tmp_path / "cache").exists()


def test_changed_sources_without_opa_are_refused(
    policies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chooser, "find_opa", lambda: None)
    _edit(policies)
    with pytest.raises(PolicyInvalid, match=r"policies/guardrails/motive\.rego changed.*no `opa` on PATH"):
        select_bundle(policies, tmp_path / "cache")


def _change_number(policies: Path, people: int = 3) -> None:
    path = policies / "data" / "approvals.json"
    data = json.loads(path.read_text())
    data["approvals"]["people_for_stores"] = people
    path.write_text(json.dumps(data, indent=4))


def test_a_changed_number_needs_no_opa(
    policies: Path, tmp_path: Path, shipped_bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chooser, "find_opa", lambda: None)
    _change_number(policies)
    taken = select_bundle(policies, tmp_path / "cache")
    assert json.loads(taken.data)["data"]["approvals"]["people_for_stores"] == 3
    assert taken.wasm == shipped_bundle.wasm
    assert taken.revision != shipped_bundle.revision
    assert taken.built_from(read_sources(policies))
    assert read_bundle(tmp_path / "cache") == taken
    _change_number(policies, 4)
    assert json.loads(select_bundle(policies, tmp_path / "cache").data)["data"]["approvals"]["people_for_stores"] == 4


def test_a_changed_number_whose_tests_must_pass_needs_opa_to_run_them(
    policies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chooser, "find_opa", lambda: None)
    _change_number(policies)
    with pytest.raises(PolicyInvalid, match=r"no `opa` on PATH to run them\. `make opa`.*Or set `green_tests = false`"):
        select_bundle(policies, tmp_path / "cache", tested=True)
    assert not (tmp_path / "cache").exists()


@pytest.mark.opa
def test_data_that_are_taken_give_the_bundle_that_opa_would_build(
    policies: Path, tmp_path: Path, opa_tool: Path
) -> None:
    _change_number(policies)
    taken, built = select_bundle(policies, tmp_path / "cache"), build(read_sources(policies), opa_tool)
    assert (taken.data, taken.manifest_bytes) == (built.data, built.manifest_bytes)


@pytest.mark.parametrize("text", ['{"approvals": {"people": 0}}', "{", '{"budgets": {}}'])
def test_bad_data_are_refused_whether_there_is_an_opa_or_not(
    policies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(chooser, "find_opa", lambda: None)
    (policies / "data" / "approvals.json").write_text(text)
    with pytest.raises(PolicyInvalid):
        select_bundle(policies, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_a_changed_rule_beside_a_changed_number_needs_opa_and_says_how_to_get_it(
    policies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chooser, "find_opa", lambda: None)
    _change_number(policies)
    _edit(policies)
    with pytest.raises(PolicyInvalid, match=r"no `opa` on PATH.*`make opa`"):
        select_bundle(policies, tmp_path / "cache")


def test_a_missing_bundle_without_opa_is_refused(
    policies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chooser, "find_opa", lambda: None)
    (policies / "bundle" / "policy.wasm").unlink()
    with pytest.raises(PolicyInvalid, match="no `opa` on PATH"):
        select_bundle(policies, tmp_path / "cache")


@pytest.mark.opa
def test_changed_sources_are_built_once_and_kept(
    policies: Path, tmp_path: Path, shipped_bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    _edit(policies)
    shipped_before = {path.name: path.read_bytes() for path in (policies / "bundle").iterdir()}
    built = select_bundle(policies, tmp_path / "cache")
    assert built.revision != shipped_bundle.revision
    assert {path.name: path.read_bytes() for path in (policies / "bundle").iterdir()} == shipped_before
    monkeypatch.setattr(chooser, "find_opa", lambda: None)
    assert select_bundle(policies, tmp_path / "cache") == built
