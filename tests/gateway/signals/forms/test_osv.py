"""Vulnerabilities in the forms in which OSV's own tools write them."""

from typing import Any

import pytest

from gateway.core.errors import Malformed
from gateway.signals.forms.osv import read

FOUND: dict[str, Any] = {
    "id": "GHSA-1234",
    "published": "2026-11-01T00:00:00Z",
    "modified": "2026-11-02T00:00:00Z",
    "aliases": ["CVE-2026-1"],
    "affected": [
        {"package": {"ecosystem": "npm", "name": "lodash"}},
        {"package": {"ecosystem": "npm", "name": "lodash"}},
        {"package": {"ecosystem": "PyPI", "name": "flask"}},
    ],
}
SCANNED = {"results": [{"packages": [{"vulnerabilities": [FOUND]}, {"package": {}}]}]}


@pytest.mark.parametrize("document", [FOUND, [FOUND], {"vulns": [FOUND]}, SCANNED])
def test_one_signal_for_each_affected_package(document: Any) -> None:
    first, second = read(document)
    assert (first.key, second.key) == ("GHSA-1234/npm/lodash", "GHSA-1234/PyPI/flask")
    assert (first.name, first.references, first.since.day) == ("GHSA-1234", ("GHSA-1234", "CVE-2026-1"), 1)
    assert first.labels == {"id": "GHSA-1234", "ecosystem": "npm", "package": "lodash"}


def test_a_withdrawn_one_is_none_and_one_without_package_stands_for_itself() -> None:
    assert list(read({**FOUND, "withdrawn": "2026-11-03T00:00:00Z"})) == []
    [bare] = read({"id": "CVE-2026-2", "modified": "2026-11-02T00:00:00Z"})
    assert (bare.key, bare.since.day) == ("CVE-2026-2", 2)


@pytest.mark.parametrize("document", ["x", [1], {"id": "X"}, {"vulns": {}}, {**FOUND, "affected": 1}])
def test_anything_else_is_refused(document: Any) -> None:
    with pytest.raises(Malformed):
        list(read(document))
