"""The files of the policies' data are checked before opa sees them."""

import json

import pytest

from gateway.errors import PolicyInvalid
from gateway.policy.data_files import check_data_files
from gateway.policy.sources import read_sources, shipped

SHIPPED = read_sources(shipped()).files


def test_the_shipped_data_is_valid() -> None:
    check_data_files(SHIPPED)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{\n  "budgets": {\n    "a": 1\n    "b": 2\n  }\n}\n', r"^data/budgets\.json:4:5: not JSON: Expecting ','"),
        (b"\xff\xfe\xff", r"^data/budgets\.json: not JSON: "),
        (b"[]", r"^data/budgets\.json:1: not a JSON object\.$"),
        (b'{"budgets": {"mutations": 7}}', r"  data/budgets\.json: mutations: "),
    ],
    ids=["a comma is missing", "not text", "not an object", "not what it must be"],
)
def test_a_mistake_has_its_place(text: bytes, message: str) -> None:
    with pytest.raises(PolicyInvalid, match=message):
        check_data_files({**SHIPPED, "data/budgets.json": text})


def test_mistakes_of_several_files_are_told_at_once() -> None:
    couplings = json.dumps({"couplings": {"pairs": [{"name": "x"}]}}).encode()
    with pytest.raises(PolicyInvalid) as raised:
        check_data_files({**SHIPPED, "data/budgets.json": b'{"budgets": {}}', "data/couplings.json": couplings})
    assert "data/budgets.json: mutations: " in str(raised.value)
    assert "data/couplings.json: pairs.0.other: " in str(raised.value)
