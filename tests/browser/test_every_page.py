"""What holds of each page of the console: hostile text is text, the keyboard and no script are enough, and a first visit loads little."""

import pytest
from playwright.sync_api import Browser, Page, expect
from starlette.routing import compile_path

from gateway.doors.console.site import OWN, PAGES
from tests.browser.first_load import FIRST_LOAD, first_loads
from tests.browser.site import HOSTILE, every_page, propose
from tests.kit.chromium import PATIENCE, a_page
from tests.kit.gate import Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.system]
_STEPS = 25
"""Presses of Tab on each page."""
_FOCUSED = """() => {
  const at = document.activeElement, style = getComputedStyle(at);
  const seen = parseFloat(style.outlineWidth) >= 2 || [...at.querySelectorAll("rect")].some((each) => parseFloat(getComputedStyle(each).strokeWidth) >= 2);
  return [at.tagName, seen, at.outerHTML.slice(0, 120)];
}"""
"""The element with the focus: its name, whether one sees that it has it, and its text."""


@pytest.fixture(autouse=True)
def _patient() -> None:
    expect.set_options(timeout=PATIENCE)


def test_every_page_of_the_router_is_played(busy: Gate) -> None:
    played = ["/" + path.partition("?")[0] for path in every_page(busy)]
    routed = [*(path for path, _ in PAGES), *OWN]
    pages = [path or "/" for path in routed if not path.endswith("/stream")]
    assert [path for path in pages if not any(compile_path(path)[0].match(each) for each in played)] == []
    assert [each for each in played if not any(compile_path(path)[0].match(each) for path in pages)] == []


def test_hostile_text_does_nothing_on_any_page(busy: Gate, browser: Browser) -> None:
    propose(busy, "rival", 4, HOSTILE)
    mutation = propose(busy, "agent", 9, HOSTILE)["mutation"]["id"]
    filtered = (f"feed?actor={HOSTILE}", f"approvals?actor={HOSTILE}", f"policy?q={HOSTILE}", f"changes?q={HOSTILE}", f"claims?address={HOSTILE}", f"resources?q={HOSTILE}")  # fmt: skip
    with a_page(browser, busy, "ana") as page:
        for path in (*every_page(busy), f"mutations/{mutation}", *filtered):
            page.goto(f"/console/{path}".rstrip("/"))
            assert page.locator("main img, main script, main [onload], main [onerror]").count() == 0, path
        page.goto(f"/console/mutations/{mutation}")
        expect(page.locator("blockquote")).to_have_text(HOSTILE)


def test_every_page_is_walked_with_the_keyboard_and_one_sees_where(busy: Gate, browser: Browser) -> None:
    with a_page(browser, busy, "ana") as page:
        for path in every_page(busy):
            page.goto(f"/console/{path}".rstrip("/"))
            page.keyboard.press("Tab")
            expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
            page.keyboard.press("Enter")
            walked = list(dict.fromkeys(_steps(page)))
            assert len(walked) > 1 or walked[0][0] == "BODY", path
            assert [text for name, seen, text in walked if name != "BODY" and not seen] == [], path
            assert page.locator("[tabindex]:not([tabindex='0']):not([tabindex='-1'])").count() == 0, path


def _steps(page: Page) -> list[tuple[str, bool, str]]:
    found = []
    for _ in range(_STEPS):
        page.keyboard.press("Tab")
        name, seen, text = page.evaluate(_FOCUSED)
        found.append((name, seen, text))
        if name == "BODY":
            break
    return found


def test_every_page_has_without_script_what_it_has_with_it(busy: Gate, browser: Browser) -> None:
    parts = (
        "main a[href]:not(#rows a)",
        "main form[action]",
        "main button:not([data-copy])",
        "main details",
        "main svg",
    )
    has: list[dict[str, list[int]]] = []
    for script in (True, False):
        with a_page(browser, busy, "ana", java_script_enabled=script) as page:
            has.append({})
            for path in every_page(busy):
                answer = page.goto(f"/console/{path}".rstrip("/"))
                assert answer is not None
                assert answer.ok, path
                has[-1][path] = [page.locator(part).count() for part in parts]
    assert has[0] == has[1]


def test_a_first_visit_loads_little_and_nothing_from_elsewhere(busy: Gate, browser: Browser) -> None:
    for path, loaded in first_loads(busy, browser).items():
        assert all(url.startswith(busy.url) for url in loaded), path
        assert sum(loaded.values()) <= FIRST_LOAD, path
