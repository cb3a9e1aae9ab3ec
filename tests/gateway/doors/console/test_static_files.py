"""The files that pages load are the ones that were vendored, and small."""

import hashlib

from gateway.doors.console.static_files import HTMX_SHA256, static_files

FIRST_LOAD = 120 * 1024
"""Bytes that a first visit may load."""


def test_htmx_is_the_published_one() -> None:
    assert hashlib.sha256(static_files()["htmx.js"].content).hexdigest() == HTMX_SHA256


def test_files_have_their_content_in_their_address() -> None:
    assert len({file.version for file in static_files().values()}) == len(static_files())


def test_all_of_them_together_are_a_small_first_load() -> None:
    assert sum(len(file.content) for file in static_files().values()) < FIRST_LOAD / 2


def test_nothing_is_loaded_from_elsewhere() -> None:
    for name in ("console.css", "console.js"):
        text = static_files()[name].content
        assert b"//cdn" not in text
        assert b"http" not in text.replace(b"http://www.w3.org/2000/svg", b"")
