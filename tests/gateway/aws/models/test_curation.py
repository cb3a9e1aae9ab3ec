"""The reviewed lists hold sorted names, each once, and no review takes the plain name of a key that AWS hands out for harmless."""

import re
import tomllib
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from gateway.aws.models import curation as module
from gateway.aws.models.curation import CLASSES, REVIEWS, curation
from gateway.core.model.mutation import CallClass


def _file(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(module.__file__).parent / name).read_text())


@pytest.mark.parametrize(("entry", "rows"), [(each, each["operations"]) for each in _file(CLASSES)["class"]])
def test_a_class_names_its_operations_once_each_and_says_why(entry: dict[str, Any], rows: dict[str, list[str]]) -> None:
    assert entry["reason"]
    assert list(rows) == sorted(rows)
    for names in rows.values():
        assert names == sorted(set(names))
        assert all(re.fullmatch(r"[A-Z][A-Za-z0-9]+", each) for each in names)


@pytest.mark.parametrize(("entry", "rows"), [(each, each["members"]) for each in _file(REVIEWS)["reviewed"]])
def test_a_review_names_members_once_each_and_says_why(entry: dict[str, Any], rows: dict[str, list[str]]) -> None:
    assert entry["reason"]
    assert list(rows) == sorted(rows)
    for names in rows.values():
        assert names == sorted(set(names))
        assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9]*|\*", name) for name in names)


def test_no_curated_read_has_a_writing_verb() -> None:
    verbs = re.compile(r"(Create|Delete|Put|Update|Modify|Set|Add|Remove|Attach|Detach|Send|Invoke|Execute)[A-Z]")
    assert not [name for _, name in curation().classes[CallClass.READ] if verbs.match(name)]


def test_no_credential_was_reviewed_as_harmless() -> None:
    plain = {
        "SecretAccessKey", "SessionToken", "SecretString", "SecretBinary", "ClientSecretValue", "streamKey", "StreamKey", "environmentVariables",
    }  # fmt: skip
    assert not plain & set(chain(*curation().outputs.values()))
