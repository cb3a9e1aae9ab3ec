"""A state file is read into attributes by address."""

import json
from pathlib import Path

import pytest

from tests.bench.drift.state import identities, read_state, type_of


def test_instances_have_their_addresses(tmp_path: Path) -> None:
    def resource(**more: object) -> dict[str, object]:
        return {"mode": "managed", "type": "aws_x", "name": "n", **more}

    def instance(number: str, **more: object) -> dict[str, object]:
        return {"attributes": {"id": number}, **more}

    document = {
        "resources": [
            resource(instances=[instance("1")]),
            resource(module='module.m["a.b"]', instances=[instance("2", index_key=0), instance("3", index_key="k")]),
            {**resource(instances=[instance("4")]), "mode": "data"},
        ]
    }
    path = tmp_path / "terraform.tfstate"
    path.write_text(json.dumps(document))
    state = read_state(path)
    assert state == {
        "aws_x.n": {"id": "1"},
        'module.m["a.b"].aws_x.n[0]': {"id": "2"},
        'module.m["a.b"].aws_x.n["k"]': {"id": "3"},
    }
    assert identities(state) == {("aws_x", "1"), ("aws_x", "2"), ("aws_x", "3")}
    assert read_state(tmp_path / "none") == {}


@pytest.mark.parametrize(
    "address", ["aws_x.n", 'aws_x.n["a.b"]', 'module.m["a.b[0]"].aws_x.n[0]', "module.a.module.b.aws_x.n"]
)
def test_the_type_in_an_address(address: str) -> None:
    assert type_of(address) == "aws_x"
