"""The titles of policy rules and where they are written, read from their METADATA when a bundle is built."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.model.rule_text import RuleText
from gateway.policy import opa_command


def rule_texts(policies: Path, tool: Path) -> dict[str, RuleText]:
    """Title and place of each rule whose METADATA has a `custom.id`, by that id. Of two rules with one id the first counts.

    Raises `errors.PolicyInvalid` if opa cannot read the policies.
    """
    output = opa_command.opa_output(tool, ["inspect", "--annotations", "--format", "json", "."], cwd=policies)
    found: dict[str, RuleText] = {}
    for each in sorted(json.loads(output).get("annotations", ()), key=_place):
        annotations: Mapping[str, Any] = each["annotations"]
        custom = annotations.get("custom")
        if isinstance(custom, Mapping) and isinstance(custom.get("id"), str):
            text = RuleText(title=str(annotations.get("title", "")), source=":".join(map(str, _place(each))))
            found.setdefault(custom["id"], text)
    return found


def _place(each: Mapping[str, Any]) -> tuple[str, int]:
    location = each["location"]
    return Path(location["file"]).as_posix(), location["row"]
