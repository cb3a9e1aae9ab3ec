"""`python -m tests.tools.attribute_classes [--write]`: what nobody classified of the provider's attributes, with a proposal for each.

With `--write` the proposals go into `gateway/effects/attribute_classes.json`, to be read and corrected as a change of the review. A proposal
is a guess by the name alone. What is in the file is never changed by it, and nothing at run time guesses. `doubts` says of harmless names
that could be doubted why they pass.
"""

import json
import re
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gateway.effects import attribute_classes
from gateway.effects.attribute_classes import AttributeClass, judged_paths
from gateway.effects.schema import Schemas, TypeSchema, known_schemas

FILE = Path(attribute_classes.__file__).with_name(attribute_classes.FILE)
_WIDTH = 150

PROPOSALS: Sequence[tuple[AttributeClass, re.Pattern[str]]] = [
    (AttributeClass(name), re.compile(pattern))
    for name, pattern in (
        ("label", r"^tags|_tags$|description$|^comments?$|display_name$|^labels?$|^notes$|title$|^reason$|statement_id"),
        ("environment", r"(^|_)environment_(variables|secrets)$|^(variables|environment)$|stage_variable"),
        ("policy", r"^(access_|resource_|repository_|session_|inline_|assume_role_|permission_)?polic(y|y_document|y_body)$"),
        ("hands_role", r"(^|_)role(s|_arns?|_name)?$|_role_arn(_|$)|instance_profile(_arn|_name)?$|credentials(_arn)?$"),
        ("reach", r"security_group|subnet|(^|_)vpc|cidr|(^|_)ports?(_|$)|private_ip|public_ip|network_acl"),
        ("runs_code", r"image|(^|_)ami|command|entry_?point|script|user_data|layer|source_code|_jar|template|definition|plugin"),
        ("grants", r"principal|key_pair|public_key|password|secret|token|grant|trust|allowed_|authoriz|account|user|organization"),
        ("sends_to", r"destination|ur[il]|endpoint|host|email|topic|queue|redirect|forward|target|route|domain_name|address"),
        ("owned_elsewhere", r"_arns?$|kms|_id$|bucket|snapshot|source_|certificate|repository"),
    )
]  # fmt: skip


def proposed(name: str) -> AttributeClass:
    """The class that the name suggests."""
    return next((found for found, pattern in PROPOSALS if pattern.search(name)), AttributeClass.HARMLESS)


def unclassified(schemas: Mapping[str, TypeSchema]) -> Mapping[str, Sequence[str]]:
    """Name of an attribute → `type:path` of up to three that nobody classified; of a new type every attribute."""
    found: dict[str, list[str]] = {}
    for kind, schema in sorted(schemas.items()):
        for path in judged_paths(schema):
            if attribute_classes.class_of(kind, path) is None:
                found.setdefault(path.rpartition(".")[2], []).append(f"{kind}:{path}")
    return {name: places[:3] for name, places in sorted(found.items())}


def main(arguments: Sequence[str]) -> int:
    """Print the proposals, or write them. Returns 1 if something is unclassified."""
    schemas = known_schemas(frozenset(Schemas()))
    review = json.loads(FILE.read_bytes())
    new_types = sorted(schemas.keys() - {kind for lines in review["types"].values() for kind in _words(lines)})
    found = unclassified(schemas)
    known = {name for lines in review["names"].values() for name in _words(lines)}
    for kind in new_types:
        print(f"new type {kind}")
    for name, places in found.items():
        if name not in known:
            print(f"{proposed(name):16} {name}   {', '.join(places)}")
    if "--write" in arguments:
        for name in found.keys() - known:
            review["names"][proposed(name)].append(name)
        for kind in new_types:
            exposed = attribute_classes.EXPOSING & {class_of_name(review, name) for name in schemas[kind].steps}
            review["types"]["with_role_or_network" if exposed else "others"].append(kind)
        maps = {
            f"{kind}:{path}"
            for kind, schema in schemas.items()
            for path, form in schema.kinds.items()
            if form.startswith("map(") and not attribute_classes.is_map(kind, path)
        }
        review["maps"] = [*review["maps"], *maps]
        FILE.write_text(text_of(review))
    return 1 if found else 0


def text_of(review: Mapping[str, Any]) -> str:
    """The file's text: names, places, types, maps and doubts sorted, in lines of one width."""
    found = {
        "names": {name: _filled(lines) for name, lines in sorted(review["names"].items())},
        "places": {name: sorted(places) for name, places in sorted(review["places"].items())},
        "types": {name: _filled(lines) for name, lines in review["types"].items()},
        "maps": _filled(review["maps"]),
        "doubts": dict(sorted(review["doubts"].items())),
    }
    return json.dumps(found, indent=1) + "\n"


def class_of_name(review: Mapping[str, Any], name: str) -> str | None:
    """The class that the review gives to a name."""
    return next((found for found, lines in review["names"].items() if name in _words(lines)), None)


def _filled(lines: Sequence[str]) -> list[str]:
    words = " ".join(sorted(set(_words(lines))))
    return textwrap.wrap(words, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _words(lines: Sequence[str]) -> list[str]:
    return [word for line in lines for word in line.split()]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
