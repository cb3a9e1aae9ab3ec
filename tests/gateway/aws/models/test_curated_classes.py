"""The curated lists contain operation names, and the most important ones are present."""

import re

import pytest

from gateway.aws.models import curated_classes

LISTS = {
    "READ": curated_classes.READ,
    "CREDENTIAL": curated_classes.CREDENTIAL,
    "SECRET": curated_classes.SECRET,
    "EXECUTE": curated_classes.EXECUTE,
    "CRYPTO": curated_classes.CRYPTO,
    "NEVER_READ": curated_classes.NEVER_READ,
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_holds_operation_names_once_each(name: str) -> None:
    for operations in LISTS[name].values():
        names = operations.split()
        assert len(names) == len(set(names))
        assert all(re.fullmatch(r"[A-Z][A-Za-z0-9]+", each) for each in names)


def test_no_curated_read_has_a_writing_verb() -> None:
    verbs = re.compile(r"(Create|Delete|Put|Update|Modify|Set|Add|Remove|Attach|Detach|Send|Invoke|Execute)[A-Z]")
    assert not [name for names in curated_classes.READ.values() for name in names.split() if verbs.match(name)]
