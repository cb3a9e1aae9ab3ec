"""A provider's own schema says which objects in JSON code are blocks; without it they stay values."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.terraform.json_syntax import shapes
from gateway.terraform.json_syntax.view import learn_blocks
from reconciler.errors import TerraformFailed
from reconciler.model import Wanted
from reconciler.rewrite.edits import edit_code
from reconciler.rewrite.json_syntax.nested_blocks import learn_nested_blocks
from reconciler.terraform.cli import Terraform

DISK = "acme_instance.a"
MAIN = Path("main.tf.json")
CODE: dict[str, Any] = {
    "resource": [{"acme_instance": {"a": {"name": "x", "disk": {"size": 10, "at": {"zone": "b"}}}}}],
    "data": {"aws_ami": {"b": {}}},
}
SCHEMAS: dict[str, Any] = {
    "provider_schemas": {
        "registry.terraform.io/acme/acme": {
            "resource_schemas": {
                "acme_instance": {
                    "block": {
                        "block_types": {
                            "disk": {"nesting_mode": "list", "block": {"block_types": {"at": {"block": {}}}}},
                            "scratch": {"nesting_mode": "list", "block": {}},
                        }
                    }
                }
            }
        }
    }
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeSchemas(Terraform):
    """A terraform that knows the schema of one other provider, and counts how often it is asked."""

    asked: list[Path] = field(default_factory=list)
    broken: bool = False

    async def provider_schemas(self, root: Path) -> dict[str, Any]:
        self.asked.append(root)
        if self.broken:
            raise TerraformFailed.saying("providers schema", "no plug-ins")
        return SCHEMAS


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(shapes, "_LEARNED", {})
    (tmp_path / MAIN).write_text(json.dumps(CODE, indent=2) + "\n")
    learn_blocks({})
    yield tmp_path
    shapes._LEARNED.clear()
    learn_blocks({})


def _edited(root: Path, attribute: str, value: Json) -> Any:
    """The body of the resource after an edit; why there is none."""
    edited = edit_code(root, [Wanted(address=DISK, attribute=attribute, value=value)])
    if edited.left:
        return edited.left[0].reason
    return json.loads(edited.files[MAIN])["resource"][0]["acme_instance"]["a"]


async def test_blocks_of_other_providers_are_edited_as_blocks(root: Path) -> None:
    before = CODE["resource"][0]["acme_instance"]["a"]
    assert "scratch" in _edited(root, "scratch", [{"size": 3}]), (
        "nobody said that it is a block, so it is left, by its name"
    )
    terraform = FakeSchemas(environment={}, workdir=root / "w")
    await learn_nested_blocks(terraform, root)
    await learn_nested_blocks(terraform, root)
    assert terraform.asked == [root], "once"
    disk = {"size": 20, "at": {"zone": "b"}}
    assert _edited(root, "disk", [{"size": 20, "at": [{"zone": "b"}]}]) == {**before, "disk": disk}
    added = _edited(root, "scratch", [{"size": 3}])
    assert added["scratch"] in ({"size": 3}, [{"size": 3}])
    assert {name: added[name] for name in before} == before


async def test_without_a_schema_they_are_read_as_before(root: Path) -> None:
    terraform = FakeSchemas(environment={}, workdir=root / "w", broken=True)
    await learn_nested_blocks(terraform, root)
    assert "scratch" in _edited(root, "scratch", [{"size": 3}])
    assert _edited(root, "disk.size", 20)["disk"]["size"] == 20


async def test_code_without_such_types_asks_nobody(root: Path) -> None:
    (root / MAIN).write_text(json.dumps({"resource": {"aws_sqs_queue": {"a": {}}}}))
    (root / "broken.tf.json").write_text("{")
    terraform = FakeSchemas(environment={}, workdir=root / "w")
    await learn_nested_blocks(terraform, root)
    assert terraform.asked == []


async def test_a_new_kind_of_block_is_refused_by_its_name(root: Path) -> None:
    (root / "more.tf.json").write_text(json.dumps({"action": {"acme_invoke": {"x": {}}}}))
    with pytest.raises(Exception, match="'action' is no kind of block that Sentinel reads in JSON syntax"):
        edit_code(root, [Wanted(address=DISK, attribute="name", value="y")])
