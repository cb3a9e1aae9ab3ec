"""The curated lists are lists of names, and name what must never be missing."""

import re

import pytest

from gateway.doors.aws import curated

LISTS = {
    "READ": curated.READ,
    "CREDENTIAL": curated.CREDENTIAL,
    "SECRET": curated.SECRET,
    "EXECUTE": curated.EXECUTE,
    "CRYPTO": curated.CRYPTO,
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_holds_operation_names_once_each(name: str) -> None:
    for operations in LISTS[name].values():
        names = operations.split()
        assert len(names) == len(set(names))
        assert all(re.fullmatch(r"[A-Z][A-Za-z0-9]+", each) for each in names)


def test_no_curated_read_has_a_writing_verb() -> None:
    verbs = re.compile(r"(Create|Delete|Put|Update|Modify|Set|Add|Remove|Attach|Detach|Send|Invoke|Execute)[A-Z]")
    assert not [name for names in curated.READ.values() for name in names.split() if verbs.match(name)]
