"""What tracing says about where it stands."""

from pathlib import Path

from gateway.terraform.config.module import load_module
from gateway.terraform.lang.grammar import read_attribute
from reconciler.rewrite.place import Cursor, source_of


def test_a_spot_gathers_its_way_and_names_its_place(tmp_path: Path) -> None:
    long = " + ".join(["1"] * 60)
    module = load_module(tmp_path, {Path("main.tf"): f"locals {{\n  a = [\n    1,\n  ]\n  b = {long}\n}}\n".encode()})
    document, attribute = module.source.locals["a"]
    expression = read_attribute(document, attribute)
    spot = Cursor(document=document, scope=module.scope, module=module).step("first").step("second")
    assert spot.chain == ("first", "second")
    assert source_of(document, expression) == "[ 1, ]"
    assert source_of(document, read_attribute(*module.source.locals["b"])).endswith("...")
    place = spot.place("list", expression)
    assert (place.kind, place.node, place.chain, place.refused) == ("list", expression, ("first", "second"), "")
    assert spot.refuse("No.", expression).refused == "main.tf:2: No."
    assert spot.refuse("No.").refused == "No."
