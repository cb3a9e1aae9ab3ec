"""Where lines begin and end, and what a change does."""

from pathlib import Path

from gateway.terraform.lang.hcl import parse
from reconciler.rewrite.editors.splice import Splice, alone_on_lines, indent_at, line_end, newline


def test_a_change_touches_its_span_only() -> None:
    assert Splice(1, 2, "é").apply(b"abc") == "aéc".encode()


def test_lines_and_their_endings() -> None:
    unix, windows = (parse(Path("x.tf"), text) for text in (b"b {\n  a = 1 # c\n}\n", b"b {\r\n\ta = 1\r\n}\r\n"))
    assert (newline(unix), newline(windows)) == ("\n", "\r\n")
    assert (line_end(unix, 6), line_end(windows, 6)) == (15, 11)
    assert (indent_at(unix, 10), indent_at(windows, 8)) == ("  ", "\t")
    assert line_end(unix, len(unix.source)) == len(unix.source)


def test_alone_means_nothing_but_a_comma_and_a_comment_beside() -> None:
    document = parse(Path("x.tf"), b"x = [\n  1, # c\n  2, 3\n]\n")
    one, two = document.source.index(b"1"), document.source.index(b"2")
    assert alone_on_lines(document, one, one + 1)
    assert not alone_on_lines(document, two, two + 1)
