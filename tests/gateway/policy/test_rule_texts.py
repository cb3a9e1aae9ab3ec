"""Every finding's rule has a title and a place in the manifest, and the place is the rule's line."""

import re
from pathlib import Path

from gateway.policy.bundle import Bundle
from gateway.policy.rule_texts import rule_texts
from gateway.policy.sources import read_sources, shipped


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
    rule = '# METADATA\n# title: Mine\n# custom:\n#   id: ACME-1\nfindings contains "x" if input.a\n'
    (tmp_path / "mine.rego").write_text(f"package sentinel.rules.mine\n\n{rule}\nother := 1\n")
    found = rule_texts(tmp_path, opa_tool)
    assert {name: (text.title, text.source) for name, text in found.items()} == {"ACME-1": ("Mine", "mine.rego:7")}
