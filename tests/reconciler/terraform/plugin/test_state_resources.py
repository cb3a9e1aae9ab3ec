"""A state's resources are found by target, each with what its provider needs."""

import json
from pathlib import Path

import pytest

from reconciler.errors import PluginUnavailable
from reconciler.terraform.plugin.state_resources import read_stored

AWS = 'provider["registry.terraform.io/hashicorp/aws"]'


def _state(tmp_path: Path, **changes: object) -> Path:
    def block(name: str, *instances: dict[str, object], **more: object) -> dict[str, object]:
        return {"mode": "managed", "type": "aws_x", "name": name, "provider": AWS, "instances": instances, **more}

    resources = [
        block("one", {"schema_version": 2, "attributes": {"id": "i"}, "private": "cA=="}),
        block("many", {"index_key": "a", "attributes": {}}, {"index_key": 'b"', "attributes": {}}),
        block("many_more", {"attributes": {}}),
        block("in", {"index_key": 0, "attributes": {}}, module='module.m["k"]'),
        block("old", {"attributes": {}, "deposed": "1234"}),
        block("read", {"attributes": {}}, mode="data"),
    ]
    (path := tmp_path / "x.tfstate").write_text(json.dumps({"version": 4, "resources": resources, **changes}))
    return path


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("aws_x.one", ["aws_x.one"]),
        ("aws_x.many", ['aws_x.many["a"]', 'aws_x.many["b\\""]']),
        ('aws_x.many["a"]', ['aws_x.many["a"]']),
        ("module.m", ['module.m["k"].aws_x.in[0]']),
        ('module.m["k"]', ['module.m["k"].aws_x.in[0]']),
        ("aws_x.old", []),
        ("aws_x.read", []),
    ],
)
def test_targets_cover_what_is_below_them(tmp_path: Path, target: str, found: list[str]) -> None:
    assert [each.address for each in read_stored(_state(tmp_path), [target])] == found


def test_what_the_provider_needs(tmp_path: Path) -> None:
    (one,) = read_stored(_state(tmp_path), ["aws_x.one"])
    assert (one.resource_type, one.schema_version, one.attributes, one.private, one.provider) == (
        "aws_x",
        2,
        {"id": "i"},
        b"p",
        AWS,
    )


def test_another_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(PluginUnavailable, match="version 4"):
        read_stored(_state(tmp_path, version=3), ["a.b"])
    with pytest.raises(PluginUnavailable, match="can be read"):
        read_stored(tmp_path / "absent", ["a.b"])
