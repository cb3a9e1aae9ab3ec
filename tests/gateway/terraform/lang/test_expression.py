"""Walking expressions."""

from pathlib import Path

from gateway.terraform.lang import expression as e
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import parse


def _read(text: str) -> Expression:
    document = parse(Path("main.tf"), f"x = {text}\n".encode())
    return read_attribute(document, document.attributes(document.root)["x"])


def test_walking_reaches_every_name() -> None:
    text = '[a, { (b) = c }, f(d), g[h].i, -j, k ? l : m, [for n in o : p if q], "${r}s${t}", (u), v[*].w, x + y]'
    names = [part.name for part in e.walk(_read(text)) if isinstance(part, e.Name)]
    assert names == ["a", "b", "c", "d", "g", "h", "j", "k", "l", "m", "o", "p", "q", "r", "t", "u", "v", "x", "y"]


def test_steps_of_a_traversal() -> None:
    found = e.steps_of(_read('var.a["b"].c'))
    assert found is not None
    root, steps = found
    assert root == "var"
    assert [step if isinstance(step, str) else type(step).__name__ for step in steps] == ["a", "LiteralValue", "c"]
    assert e.steps_of(_read("f(x).y")) is None
    assert e.steps_of(_read("a.b[*].c")) == ("a", ("b",))


def test_bare_takes_the_parentheses_off() -> None:
    assert isinstance(e.bare(_read('(("${a}"))')), e.Name)
