"""Drafts a guardrail or an approver rule with its test, which pass as they are written: what is left is to say what the rule is about."""

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


_APPROVER: Final = """# METADATA
# title: {title}
# description: Who must approve what, beyond `approvals.json`. It can demand more, never less.
package sentinel.approver_rules.{name}

# METADATA
# title: {title}
# description: Lists of roles. Who approves needs one role of each list.
roles contains ["replace-me"] if concerned

# METADATA
# title: {title}
# description: How many people must approve.
people contains 2 if concerned

concerned if {{
	some effect in input.mutation.effects
	effect.resource_type == "aws_replace_me"
}}
"""
_APPROVER_TEST: Final = """package sentinel.approver_rules.{name}_test

import data.sentinel.approver_rules.{name}
import data.sentinel.fixtures

asked(type) := fixtures.document("agent", [fixtures.effect(type, "set", "name", "x")])

test_its_type_needs_the_role_and_two_people if {{
	{name}.roles == {{["replace-me"]}} with input as asked("aws_replace_me")
	{name}.people == {{2}} with input as asked("aws_replace_me")
}}

test_it_demands_nothing_of_others if {{
	{name}.roles == set() with input as asked("aws_instance")
	{name}.people == set() with input as asked("aws_instance")
}}
"""


def new_guardrail(policies: Path, name: str, rule: str) -> tuple[Path, Path]:
    """Write the rule and its test below `policies/guardrails`. Raises `errors.Malformed` for a bad name, and for files that exist."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{1,60}", rule) or rule.startswith("never."):
        raise Malformed(
            f"{rule[:64]!r} cannot be the id of a rule that holds: letters, digits, `-`, `_` and `.`, as in ACME-TAGS-1."
        )
    return _write(policies / "guardrails", name, (_RULE, _TEST), id=rule)


def new_approver(policies: Path, name: str) -> tuple[Path, Path]:
    """Write an approver rule and its test below `policies/approvals`. Raises `errors.Malformed` as `new_guardrail`."""
    return _write(policies / "approvals", name, (_APPROVER, _APPROVER_TEST))


def _write(folder: Path, name: str, templates: tuple[str, str], **more: str) -> tuple[Path, Path]:
    if not _NAME.fullmatch(name) or name.endswith("_test"):
        raise Malformed(
            f"{name[:64]!r} cannot be the name of a rule's package: lower-case letters, digits and `_`, as in required_tags."
        )
    files = folder / f"{name}.rego", folder / f"{name}_test.rego"
    for file in files:
        if file.exists():
            raise Malformed(f"{file} is there already. Nothing was written; choose another name.")
    folder.mkdir(parents=True, exist_ok=True)
    title = name.replace("_", " ").capitalize()
    for file, template in zip(files, templates, strict=True):
        file.write_text(template.format(name=name, title=title, **more), encoding="utf-8")
    return files
