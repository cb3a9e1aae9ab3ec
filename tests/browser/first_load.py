"""Measures in Chromium what a first visit of each page loads: `python -m tests.browser.first_load`, a line a page."""

import logging
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import structlog
from playwright.sync_api import Browser, Page, Response

from gateway.doors.console.rendering import static_files
from tests.browser.lively import lively_gate
from tests.browser.site import busy_gate, every_page
from tests.kit.chromium import a_browser, a_page
from tests.kit.gate import Gate

FIRST_LOAD: Final = 100 * 1024
"""Bytes that a first visit may load."""


def first_loads(gate: Gate, browser: Browser, pages: tuple[str, ...] | None = None) -> Mapping[str, Mapping[str, int]]:
    """What each page loads in a profile that has nothing yet, by address in bytes; every page if none are named."""
    found: dict[str, dict[str, int]] = {}
    with a_page(browser, gate, "ana") as signed_in:
        state = signed_in.context.storage_state()
        for path in every_page(gate) if pages is None else pages:
            context = browser.new_context(base_url=gate.url, storage_state=state)
            found[path] = _loaded(context.new_page(), path)
            context.close()
    icon = {f"{gate.url}/console/static/icon.svg": len(static_files()["icon.svg"].content)}
    return {path: {**icon, **loaded} for path, loaded in found.items()}


def _loaded(page: Page, path: str) -> dict[str, int]:
    """The bytes of each answer; a stream has no end, and without a window no browser asks for the icon."""
    answers: list[Response] = []

    def note(answer: Response) -> None:
        answers.append(answer)

    page.on("response", note)
    page.goto(f"/console/{path}".rstrip("/"), wait_until="load")
    return {each.url: len(each.body()) for each in answers if each.ok and "/stream" not in each.url}


def main() -> None:
    """Print the bytes of each page at a gateway with something on each, and of the changes and approvals of a lively night."""
    logging.disable()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    with tempfile.TemporaryDirectory() as scratch, a_browser() as browser:
        with busy_gate(Path(scratch) / "busy") as gate:
            loads = dict(first_loads(gate, browser))
        with lively_gate(Path(scratch) / "lively") as gate:
            lively = first_loads(gate, browser, ("", "changes", "feed", "approvals", "actors"))
        loads |= {f"{path} (lively)": loaded for path, loaded in lively.items()}
    for path, loaded in loads.items():
        print(f"{sum(loaded.values()) / 1024:6.1f} KB  /console/{path}")
    print(f"{max(sum(loaded.values()) for loaded in loads.values()) / 1024:6.1f} KB  the largest")


if __name__ == "__main__":
    main()
