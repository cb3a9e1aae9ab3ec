"""Lists the resource types without a seed, with the reason: `python -m tests.bench.effects_truth.simulated` writes `simulated.json`.

The reason is read from moto: whether it has the operations that create a type, as the traced rows name them. What was tried and failed says why
in `tried.json`, which is written by hand.
"""

import importlib
import json
import re
import sys
from collections import defaultdict
from functools import cache
from typing import Any

from botocore import xform_name

from gateway.core.derived_rows import DIRECTORY, Origin, derived_rows, services
from gateway.core.model.mutation import EffectAction
from gateway.effects.schema import Schemas
from tests.bench.effects_truth.seeds import SEEDS, read_seed, seed_names

NOT_WRITTEN = "moto knows what creates it; no seed is written yet"
NOT_TRACED = "no row says what creates it"


def main() -> int:
    """Write the file and print the counts."""
    seeded = {name for seed in seed_names() for name in read_seed(seed).types}
    tried: dict[str, str] = json.loads((SEEDS / "tried.json").read_text())
    creating = _creating()
    found = {
        name: tried.get(name) or _reason(creating.get(name, set())) for name in sorted(Schemas()) if name not in seeded
    }
    (SEEDS / "simulated.json").write_text(json.dumps(found, indent=1) + "\n")
    unknown = sum(reason.startswith("moto does not know") for reason in found.values())
    print(
        f"{len(seeded)} types with a seed, {len(tried)} tried without success, {unknown} that moto cannot create, of {len(found)} others"
    )
    return 0


def _creating() -> dict[str, set[tuple[str, str]]]:
    """(botocore service, operation) of what creates each type, by the traced rows."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for service in services():
        text = (DIRECTORY / f"{service}.json").read_text()
        for operation in set(re.findall(r'"operation": "(\w+)"', text)):
            for row in derived_rows(service, operation):
                if row.origin is Origin.TRACED and EffectAction.CREATE in row.actions:
                    found[row.resource_type].add((service, operation))
    return found


def _reason(creating: set[tuple[str, str]]) -> str:
    if not creating:
        return NOT_TRACED
    missing = sorted(f"{service}:{operation}" for service, operation in creating if not _knows(service, operation))
    return f"moto does not know {', '.join(missing)}" if missing else NOT_WRITTEN


def _knows(service: str, operation: str) -> bool:
    """Whether moto answers the operation: one of its response classes for the service has the method."""
    name = xform_name(operation)
    return any(hasattr(each, name) for each in _responses(service))


@cache
def _responses(service: str) -> tuple[Any, ...]:
    from moto.backend_index import backend_url_patterns  # noqa: PLC0415  only this command needs moto's index

    folders = {folder for folder, _ in backend_url_patterns}
    names = {"lambda": "awslambda", "stepfunctions": "stepfunctions", "logs": "logs"}
    folder = names.get(service, service.replace("-", ""))
    if folder not in folders:
        return ()
    try:
        module = importlib.import_module(f"moto.{folder}.responses")
    except ImportError:
        return ()
    return tuple(each for each in vars(module).values() if isinstance(each, type))


if __name__ == "__main__":
    sys.exit(main())
