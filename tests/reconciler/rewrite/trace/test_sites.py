"""A cursor collects its steps, and every site it makes has them."""

import inspect
from collections.abc import Callable
from pathlib import Path

from gateway.core.model.path import AttributePath
from gateway.terraform.config.module import load_module
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.grammar import read_attribute
from reconciler.rewrite.trace import functions, lists
from reconciler.rewrite.trace.sites import Cursor, Follow, ObjectEntry, source_of

CODE = """resource "r" "a" {{
  list = [
    1,
  ]
  long = {long}
  map  = {{ k = 1 }}
}}
"""


def test_a_cursor_collects_its_steps_and_makes_places_and_refusals(tmp_path: Path) -> None:
    code = CODE.format(long=" + ".join(["1"] * 60))
    module = load_module(tmp_path, {Path("main.tf"): code.encode()})
    (instance,) = module.instances()
    document = instance.document
    items, long, table = (
        read_attribute(document, document.attributes(instance.block)[name]) for name in ("list", "long", "map")
    )
    assert isinstance(items, e.Tuple)
    assert isinstance(table, e.Object)
    (element,) = table.elements
    assert isinstance(element.value, e.LiteralValue)
    entry = ObjectEntry(element, table)
    cursor = Cursor(document=document, scope=module.scope, module=module, entry=entry).step("first").step("second")

    assert source_of(document, items) == "[ 1, ]"
    assert source_of(document, long).endswith("...")
    literal, listed = cursor.literal(element.value), cursor.list_items(items)
    assert (literal.node, literal.entry, literal.convert(5)) == (element.value, entry, 5)
    assert (listed.node, listed.entry) == (items, entry)
    assert (cursor.new_entry(table, "x").node, cursor.new_entry(table, "x").key) == (table, "x")
    assert cursor.new_attribute(instance.block, "tags.owner").path == AttributePath("tags.owner")
    assert cursor.new_argument(instance.block, "size", "5").name == "size"
    assert literal.chain == cursor.new_argument(instance.block, "size", "5").chain == ("first", "second")
    assert cursor.refuse("No.", items).reason == "main.tf:2: No."
    assert (cursor.refuse("No.").reason, cursor.refuse("No.").chain) == ("No.", ("first", "second"))


def test_every_tracer_takes_the_function_that_follows() -> None:
    tracers: list[Callable[..., object]] = [tracer for _, tracer in lists.TRACERS.values()]
    tracers += [functions.call, functions.arithmetic, functions.template, functions.condition]
    for tracer in tracers:
        assert inspect.signature(tracer).parameters["follow"].annotation == Follow
