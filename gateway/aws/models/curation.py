"""Reads the reviewed lists, `curated_classes.toml` and `reviewed_members.toml`, which people keep and the generators judge AWS's models by."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from gateway.core.model.mutation import CallClass

CLASSES: Final = "curated_classes.toml"
REVIEWS: Final = "reviewed_members.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Curation:
    """The reviewed decisions about AWS's operations that no rule can derive."""

    classes: Mapping[CallClass, frozenset[tuple[str, str]]]
    """Class → the (service, operation) that it has whatever the rules derive."""
    iam_prefix: Mapping[str, str]
    """Service → the prefix of its actions in IAM, where no rule finds it."""
    outputs: Mapping[str, frozenset[str]]
    """Service → the members of replies of changes that look like secrets and were reviewed."""
    statements: Mapping[str, frozenset[str]]
    """Service, or service and operation → the members of requests that look like statements and were reviewed."""


@lru_cache(maxsize=1)
def curation() -> Curation:
    """The lists that ship. Raises KeyError or ValueError if a file has another form."""
    classes, reviews = _data(CLASSES), _data(REVIEWS)["reviewed"]
    named = [(CallClass(each["name"]), each["operations"]) for each in classes["class"]]
    return Curation(
        classes={
            kind: frozenset(
                (service, operation)
                for name, lists in named
                if name is kind
                for service, operations in lists.items()
                for operation in operations
            )
            for kind in CallClass
        },
        iam_prefix=classes["iam_prefix"],
        outputs=_members(reviews, "output"),
        statements=_members(reviews, "statement"),
    )


def _members(reviews: list[dict[str, Any]], part: str) -> dict[str, frozenset[str]]:
    return {key: frozenset(names) for each in reviews if each["part"] == part for key, names in each["members"].items()}


def _data(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / name).read_text(encoding="utf-8"))
