"""Every attribute of the provider whose name suggests that it opens something was reviewed: it is in `exposure.json`, or is harmless.

A new version of the provider, or a wider pattern here, makes this test name what somebody has to review.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway.effects.schema import Schemas, TypeSchema, known_schemas

DATA = Path(__file__).parents[3] / "policies" / "data" / "exposure.json"
REVIEWED = Path(__file__).parent / "reviewed_exposures.json"
SUGGESTS = re.compile(
    r"public|internet|anonym|unauth|(^|_)open(_|$)|allow_(all|full|external|public)|cross_account|auth(orization|entication)?_type$"
    r"|authorizer_type$|^authorization$|^authentication$|external|world|everyone|expos|accessible|acls?$|^project_visibility$|guest"
    r"|http_tokens|password_required|^principals?$|shared_accounts|user_groups|launch_permission|restrict_"
)


@pytest.fixture(scope="module")
def schemas() -> Mapping[str, TypeSchema]:
    """All types of the provider."""
    return known_schemas(frozenset(Schemas()))


@pytest.fixture(scope="module")
def candidates(schemas: Mapping[str, TypeSchema]) -> Mapping[str, set[tuple[str, str]]]:
    """Name → the type and path of every attribute of that name, but for blocks."""
    found: dict[str, set[tuple[str, str]]] = {}
    for kind in schemas:
        for path, form in schemas[kind].kinds.items():
            name = path.rpartition(".")[2]
            if "block" not in form and SUGGESTS.search(name):
                found.setdefault(name, set()).add((kind, path))
    return found


def exposure() -> Mapping[str, Any]:
    """The data of the policies."""
    found: Mapping[str, Any] = json.loads(DATA.read_text())["exposure"]
    return found


@pytest.mark.slow
def test_every_candidate_was_reviewed(candidates: Mapping[str, set[tuple[str, str]]]) -> None:
    data, harmless = exposure(), json.loads(REVIEWED.read_text())
    by_type = {(kind, path) for kind, paths in data["of_types"].items() for path in paths}
    unknown = {
        name: sorted(places)[:3]
        for name, places in candidates.items()
        if name not in data["names"] and name not in harmless and not places & by_type
    }
    assert unknown == {}, "review these: do they open something, and with which value?"


def test_the_review_names_what_exists(
    candidates: Mapping[str, set[tuple[str, str]]], schemas: Mapping[str, TypeSchema]
) -> None:
    data, harmless = exposure(), json.loads(REVIEWED.read_text())
    assert not data["names"].keys() & harmless.keys()
    assert list(harmless) == sorted(harmless)
    unknown = harmless.keys() - candidates.keys() - {"authorizer_type"}
    assert not unknown
    for kind, paths in data["of_types"].items():
        assert paths.keys() <= _paths(schemas[kind]), kind
    every = {path.rpartition(".")[2] for kind in schemas for path in schemas[kind].kinds}
    assert data["names"].keys() <= every


def _paths(schema: TypeSchema) -> set[str]:
    maps = {path for path, form in schema.kinds.items() if form.startswith("map(")}
    return {*schema.kinds, *(f"{path}.account_ids" for path in maps)}


def test_every_switch_is_found_by_its_name_too() -> None:
    """A switch inside a block that a call sets as a whole has another path than the table."""
    data = exposure()
    for path, values in data["switches"].items():
        assert data["names"][path.rpartition(".")[2]] == values
