"""`sentinel policy numbers`: the numbers in force for a stack, each with the layer that it comes from."""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.cli.output import console, safe, show_table

_DEADLINE_MS, _MEMORY_MB = 1000, 64


async def numbers_in_force(path: Path | None, config: Path | None, stack: str) -> dict[str, Any]:
    """The stack, its layers, the revision that records show, the numbers, and by dotted name the layer of each.

    Raises a `SentinelError` if the policies or settings are invalid.
    """
    from gateway.checks.priorities import idle_layers, priorities_of
    from gateway.policy.embedded import Embedded
    from gateway.policy.layers import origins
    from gateway.policy.select_bundle import select_bundle
    from gateway.policy.sources import shipped
    from gateway.settings import read_settings

    settings = read_settings(config)
    with tempfile.TemporaryDirectory() as scratch:
        bundle = select_bundle(path or settings.policy.path or shipped(), Path(scratch))
        engine = Embedded(bundle, deadline_ms=_DEADLINE_MS, memory_mb=_MEMORY_MB)
    try:
        found = await priorities_of(engine, (stack,))
        stacks = [each.name for each in settings.stacks]
        warnings = await idle_layers(engine, stacks) if stacks else []
    finally:
        await engine.close()
    base = json.loads(bundle.data)["data"]["priorities"]
    return {
        "stack": stack,
        "layers": list(found.layers),
        "revision": found.revision,
        "numbers": found.numbers,
        "origins": {name: layer for name, (_, layer) in origins(base, found.layers).items()},
        "every_layer": found.every,
        "warnings": warnings,
    }


def show_numbers(shown: Mapping[str, Any]) -> None:
    """Print them as a table."""
    layers = ", ".join(shown["layers"])
    of = f"stack {shown['stack']}" if shown["stack"] else "a stack without layers"
    console.print(
        safe(f"Priorities of {of}: {f'base, {layers}' if layers else 'base'} (revision {shown['revision']}).")
    )
    for warning in shown["warnings"]:
        console.print(f"  {safe(warning)}")
    rows = [[name, json.dumps(_value(shown["numbers"], name)), layer] for name, layer in shown["origins"].items()]
    show_table("Numbers", ["number", "value", "from"], rows)


def _value(numbers: Any, name: str) -> Any:
    for part in name.split("."):
        numbers = numbers[part]
    return numbers
