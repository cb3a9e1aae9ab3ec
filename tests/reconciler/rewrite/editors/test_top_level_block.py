"""A block goes with its comment and one empty line; a new one comes with an empty line."""

from pathlib import Path

import pytest

from gateway.terraform.lang.hcl import parse
from reconciler.rewrite.editors.top_level_block import append_block, remove_block

_A, _B = b'resource "a" "a" {\n  x = 1\n}\n', b'resource "b" "b" {\n}\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (_A, b""),
        (_A + b"\n" + _B, _B),
        (_B + b"\n# Why.\n// And more.\n" + _A, _B),
        (_B + b"\n# Why.\n" + _A + b"\n# Other.\n" + _B, _B + b"\n# Other.\n" + _B),
        (_B + b"# Not apart.\n" + _A + _B, _B + _B),
        (_B.replace(b"\n", b"\r\n") + b"\r\n" + _A.replace(b"\n", b"\r\n"), _B.replace(b"\n", b"\r\n")),
    ],
)
def test_what_remains(before: bytes, after: bytes) -> None:
    document = parse(Path("x.tf"), before)
    (own,) = document.blocks(document.root, "resource", "a")
    assert remove_block(document, own).apply(before) == after


def test_a_block_is_added_at_the_end_or_after_another() -> None:
    document = parse(Path("x.tf"), _A + b"\n" + _B)
    (own,) = document.blocks(document.root, "resource", "a")
    assert append_block(document, "x {}\n").apply(document.source) == _A + b"\n" + _B + b"\nx {}\n"
    assert append_block(document, "x {}\n", own).apply(document.source) == _A + b"\nx {}\n\n" + _B
    assert append_block(parse(Path("x.tf"), b""), "x {}").apply(b"") == b"x {}\n"
