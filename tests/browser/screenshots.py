"""Takes pictures of every page at three widths, light and dark: `python -m tests.browser.screenshots --to DIRECTORY`."""

import argparse
import logging
import re
import tempfile
from pathlib import Path
from typing import Final

import structlog

from tests.browser.site import busy_gate, every_page
from tests.kit.chromium import a_browser, a_page

WIDTHS: Final = (360, 1280, 2560)
SCHEMES: Final = ("light", "dark")
MENUS: Final = "header summary"
"""What opens the menus of the head; each is taken at the narrowest width."""


def main() -> None:
    """Write the pictures, each named by its page, width and scheme."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, required=True, help="the directory for the pictures")
    parser.add_argument("--only", default="", help="a part of the names of the pages to take")
    parser.add_argument("--width", type=int, action="append", help="instead of the three widths; may be given again")
    parser.add_argument("--scheme", choices=SCHEMES, action="append", help="instead of both")
    chosen = parser.parse_args()
    logging.disable()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    chosen.to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, busy_gate(Path(scratch)) as gate, a_browser() as browser:
        for scheme in chosen.scheme or SCHEMES:
            with a_page(browser, gate, "ana", color_scheme=scheme) as page:
                for place in range(page.locator(MENUS).count() if chosen.only in "menu" else 0):
                    page.set_viewport_size({"width": min(chosen.width or WIDTHS), "height": 900})
                    page.locator(MENUS).nth(place).click()
                    page.screenshot(path=chosen.to / f"menu-{place}-{scheme}.png")
                for path in every_page(gate):
                    name = file_name(re.sub(r"\b(mut|stop)_\w+", "one", path))
                    if chosen.only in name:
                        page.goto(f"/console/{path}".rstrip("/"))
                        for width in chosen.width or WIDTHS:
                            page.set_viewport_size({"width": width, "height": 900})
                            page.screenshot(path=chosen.to / f"{name}-{width}-{scheme}.png", full_page=True)


def file_name(path: str) -> str:
    """The page's name as that of a file."""
    return re.sub(r"[^\w-]+", "-", path.partition("?")[0]) or "overview"


if __name__ == "__main__":
    main()
