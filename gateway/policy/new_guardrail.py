"""Drafts a guardrail and its test, which pass as they are written: what is left is to say what the rule is about."""

import re
from pathlib import Path
from typing import Final

from gateway.core.errors import Malformed

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{1,40}")
_RULE: Final = """# METADATA
# title: {title}
# description: What this guardrail is for.
package sentinel.rules.{name}

# METADATA
# title: {title}
# description: What is refused or held, and why.
# custom:
#   id: {id}
#   severity: medium
findings contains {{
	"id": "{id}",
	"verdict": "hold",
	"message": "What happened, why it is held, and what to do: a person decides.",
	"address": effect.address,
	"attribute": effect.attribute,
}} if {{
	input.caller.kind == "agent"
	some effect in input.mutation.effects
	effect.changes
	effect.resource_type == "aws_replace_me"
}}

# The resources of which this package judges attributes that a call may change without showing them.
concerned contains effect.address if {{
	some effect in input.mutation.effects
	effect.resource_type == "aws_replace_me"
}}
"""
_TEST: Final = """package sentinel.rules.{name}_test

import data.sentinel.fixtures
import data.sentinel.rules.{name}

found(kind, type) := fixtures.verdicts(findings) if {{
	findings := {name}.findings with input as fixtures.document(kind, [fixtures.effect(type, "set", "name", "x")])
	fixtures.complete(findings)
}}

test_only_agents_are_held if {{
	found("agent", "aws_replace_me") == {{"{id} hold"}}
	found("human", "aws_replace_me") == set()
	found("agent", "aws_instance") == set()
}}

test_it_concerns_its_type_alone if {{
	effects := [fixtures.effect("aws_replace_me", "set", "name", "x"), fixtures.effect("aws_instance", "set", "name", "x")]
	{name}.concerned == {{"aws_replace_me.x"}} with input as fixtures.document("agent", effects)
}}
"""


def new_guardrail(policies: Path, name: str, rule: str) -> tuple[Path, Path]:
    """Write the rule and its test below `policies/guardrails`. Raises `errors.Malformed` for a bad name, and for files that exist."""
    if not _NAME.fullmatch(name) or name.endswith("_test"):
        raise Malformed(
            f"{name[:64]!r} cannot be the name of a guardrail: lower-case letters, digits and `_`, as in required_tags."
        )
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{1,60}", rule) or rule.startswith("never."):
        raise Malformed(
            f"{rule[:64]!r} cannot be the id of a rule that holds: letters, digits, `-`, `_` and `.`, as in ACME-TAGS-1."
        )
    folder = policies / "guardrails"
    files = folder / f"{name}.rego", folder / f"{name}_test.rego"
    for file in files:
        if file.exists():
            raise Malformed(f"{file} is there already. Nothing was written; choose another name.")
    folder.mkdir(parents=True, exist_ok=True)
    title = name.replace("_", " ").capitalize()
    for file, template in zip(files, (_RULE, _TEST), strict=True):
        file.write_text(template.format(name=name, id=rule, title=title), encoding="utf-8")
    return files
