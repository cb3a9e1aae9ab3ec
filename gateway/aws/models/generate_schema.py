"""Generates the tables of the provider's resource types from the output of `terraform providers schema -json`.

Run it from the project's root, with Terraform on PATH and the provider in a filesystem mirror:

    python -m gateway.aws.models.generate_schema MIRROR [VERSION]

The result is one gzipped line per resource type, `[type, {name: kind}]`, where a kind is a type (`number`, `set(string)`, …), with
`!` appended if the provider marks it as sensitive, or `[kind, {name: kind}]` for blocks and objects. Attributes that only the
provider computes are left out, because no call can set them. The same provider gives the same bytes.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gateway.core.gzip_bytes import gzipped

TARGET = Path("gateway/effects/schema_aws_5.json.gz")
NAMES = Path("gateway/terraform/contracts/attributes_aws_5.json.gz")
"""The names of all attributes and blocks of each type, also of those that only the provider computes: contracts may refer to them."""
BLOCKS = Path("gateway/terraform/json_syntax/blocks_aws_5.json.gz")
"""Which names are nested blocks: in JSON syntax the code does not say whether an object is a block or a value."""
SENSITIVE = Path("gateway/terraform/sensitive_attributes.json")
"""Resource type → the attributes that the provider marks as sensitive."""
_VERSION = "5.100.0"
_MIRROR = 'provider_installation {{\n  filesystem_mirror {{\n    path = "{path}"\n  }}\n}}\n'
_MAIN = (
    'terraform {{\n  required_providers {{\n    aws = {{\n      source  = "hashicorp/aws"\n'
    '      version = "{version}"\n    }}\n  }}\n}}\n'
)
_ONE = {"single", "group"}


def provider_schema(mirror: Path, version: str) -> dict[str, Any]:
    """The provider's schemas, as Terraform prints them. Raises CalledProcessError."""
    terraform = shutil.which("terraform") or "terraform"
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        (root / "cli.tfrc").write_text(_MIRROR.format(path=mirror.resolve()))
        (root / "main.tf").write_text(_MAIN.format(version=version))
        environment = {**os.environ, "TF_CLI_CONFIG_FILE": str(root / "cli.tfrc")}
        for arguments in (["init", "-no-color", "-input=false"], ["providers", "schema", "-json"]):
            done = subprocess.run([terraform, *arguments], cwd=root, env=environment, check=True, capture_output=True)
    (provider,) = json.loads(done.stdout)["provider_schemas"].values()
    return dict(provider)


def reduced(schemas: dict[str, Any]) -> bytes:
    """The reduced schema, uncompressed: one line per type, sorted by type."""
    lines = (
        json.dumps([resource_type, _block(schema["block"])], separators=(",", ":"), sort_keys=True)
        for resource_type, schema in sorted(schemas.items())
    )
    return "\n".join(lines).encode() + b"\n"


def attribute_names(schemas: dict[str, Any]) -> bytes:
    """One line per type, sorted by type: `[type, name, …]`, the names at the top of the type, uncompressed."""
    lines = (
        json.dumps([kind, *sorted({*schema["block"].get("attributes", {}), *schema["block"].get("block_types", {})})])
        for kind, schema in sorted(schemas.items())
    )
    return "\n".join(lines).encode() + b"\n"


def nested_blocks(provider: dict[str, Any]) -> bytes:
    """One line per type that has nested blocks, uncompressed: `[kind, type, {name: {name: …}}]`, the blocks by name at every depth."""
    schemas = {("provider", "aws"): provider["provider"]}
    for kind in ("resource", "data"):
        table = provider["resource_schemas" if kind == "resource" else "data_source_schemas"]
        schemas |= {(kind, name): schema for name, schema in table.items()}
    rows = ([*key, _names_of_blocks(schema["block"])] for key, schema in sorted(schemas.items()))
    return "".join(json.dumps(row, separators=(",", ":"), sort_keys=True) + "\n" for row in rows if row[2]).encode()


def sensitive_attributes(reduced_schemas: bytes) -> bytes:
    """Resource type → the sorted paths that a reduced schema marks with `!`, for types that have any."""
    types = (json.loads(line) for line in reduced_schemas.splitlines())
    marked = {name: sorted(_marked(members, "")) for name, members in types}
    return (json.dumps({name: paths for name, paths in marked.items() if paths}, indent=0) + "\n").encode()


def _marked(members: dict[str, Any], prefix: str) -> Iterator[str]:
    for name, kind in members.items():
        outer, inner = kind if isinstance(kind, list) else (kind, {})
        if outer.endswith("!"):
            yield prefix + name
        yield from _marked(inner, f"{prefix}{name}.")


def _names_of_blocks(block: dict[str, Any]) -> dict[str, Any]:
    return {name: _names_of_blocks(nested["block"]) for name, nested in block.get("block_types", {}).items()}


def _block(block: dict[str, Any]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, attribute in block.get("attributes", {}).items():
        if attribute.get("optional") or attribute.get("required"):
            members[name] = _kind(attribute["type"], "!" if attribute.get("sensitive") else "")
    for name, nested in block.get("block_types", {}).items():
        if name != "timeouts":
            single = nested["nesting_mode"] in _ONE or nested.get("max_items") == 1
            members[name] = ["block" if single else f"{nested['nesting_mode']}(block)", _block(nested["block"])]
    return members


def _kind(kind: Any, mark: str) -> Any:
    """The kind of one attribute; an object is written like a block."""
    if isinstance(kind, str):
        return kind + mark
    outer, inner = kind
    if outer == "object":
        return ["block" + mark, {name: _kind(member, "") for name, member in inner.items()}]
    if isinstance(inner, list) and inner[0] == "object":
        return [f"{outer}(block){mark}", {name: _kind(member, "") for name, member in inner[1].items()}]
    return f"{outer}({inner if isinstance(inner, str) else inner[0]}){mark}"


def main(arguments: list[str]) -> None:
    """Write the files and print how many types and bytes they hold."""
    version = arguments[1] if len(arguments) > 1 else _VERSION
    provider = provider_schema(Path(arguments[0]), version)
    schemas = provider["resource_schemas"]
    types = reduced(schemas)
    for target, content in ((TARGET, types), (NAMES, attribute_names(schemas)), (BLOCKS, nested_blocks(provider))):
        target.write_bytes(gzipped(content))
    SENSITIVE.write_bytes(sensitive_attributes(types))
    for target in (TARGET, NAMES, BLOCKS, SENSITIVE):
        sys.stdout.write(f"{target}: {len(schemas)} types of provider {version}, {target.stat().st_size} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1:])
