"""Records what `terraform console` makes of the expressions in `tests/cases/functions`: `python -m tests.tools.record_functions`.

One process evaluates all of them. An expression that Terraform refuses is recorded as null, a value as its JSON text.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

MAY_BE_UNKNOWN = "? "
CASES = Path(__file__).parents[1] / "cases" / "functions"


def main() -> None:
    """Record."""
    recorded = dict(zip(expressions(), evaluated(expressions()), strict=True))
    (CASES / "console.json").write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n")


def expressions() -> list[str]:
    """The expressions, in order of the file."""
    lines = (CASES / "expressions.txt").read_text().splitlines()
    return [line.removeprefix(MAY_BE_UNKNOWN) for line in lines if line and not line.startswith("#")]


def uncertain() -> frozenset[str]:
    """The expressions that have a value for Terraform, or fail, and that we may call unknown: marked with `? `."""
    lines = (CASES / "expressions.txt").read_text().splitlines()
    return frozenset(line.removeprefix(MAY_BE_UNKNOWN) for line in lines if line.startswith(MAY_BE_UNKNOWN))


def recorded() -> dict[str, str | None]:
    """What Terraform made of each expression when it was last recorded."""
    found: dict[str, str | None] = json.loads((CASES / "console.json").read_text())
    return found


def evaluated(texts: Sequence[str]) -> list[str | None]:
    """What Terraform makes of each expression: JSON text, or None if it refuses it."""
    with tempfile.TemporaryDirectory() as directory:
        rows = (
            f"locals {{\n  x{n} = try(jsonencode({text}), {json.dumps('<refused>')})\n}}\n"
            for n, text in enumerate(texts)
        )
        (Path(directory) / "main.tf").write_text("".join(rows))
        every = ", ".join(f"local.x{n}" for n in range(len(texts)))
        console = subprocess.run(
            ["terraform", "console"],
            input=f"jsonencode([{every}])\n",
            cwd=directory,
            env={key: value for key, value in os.environ.items() if key != "TF_CLI_CONFIG_FILE"},
            capture_output=True,
            text=True,
            check=False,
        )
    if console.returncode != 0 or not console.stdout.startswith('"'):
        raise RuntimeError(console.stderr or console.stdout)
    found: list[str] = json.loads(json.loads(console.stdout))
    return [None if each == "<refused>" else each for each in found]


if __name__ == "__main__":
    main()
