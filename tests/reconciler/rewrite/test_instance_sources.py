"""What decides how many instances there are is found through variables, locals and the calls of modules."""

from pathlib import Path

from gateway.terraform.config.module import load_module
from reconciler.rewrite.instance_sources import instance_sources


def test_it_is_found_where_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "main.tf").write_text(
        'module "m" {\n  source   = "./m"\n  for_each = local.all\n  names    = each.value\n}\n'
    )
    (tmp_path / "locals.tf").write_text('locals {\n  all = { x = ["one"] }\n}\n')
    (tmp_path / "m/main.tf").write_text(
        'variable "names" {}\n\nresource "a_b" "c" {\n  for_each = toset(var.names)\n}\n'
    )
    (child,) = load_module(tmp_path).children("m").values()
    found = instance_sources(child, *child.source.resources["a_b.c"])
    assert {(str(document.path), type(node).__name__) for document, node in found} >= {
        ("locals.tf", "Object"),
        ("locals.tf", "Tuple"),
    }


def test_a_cycle_ends(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(
        'locals {\n  a = local.b\n  b = local.a\n}\n\nresource "a_b" "c" {\n  for_each = local.a\n}\n'
    )
    module = load_module(tmp_path)
    assert instance_sources(module, *module.source.resources["a_b.c"]) == []
