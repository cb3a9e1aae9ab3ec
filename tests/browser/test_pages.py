"""Every page in a real browser: accessible in light and dark, without a broken policy, with the keyboard, and without script."""

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.components import show_components
from tests.browser.site import RESOURCE, every_page
from tests.kit.chromium import PATIENCE, a_page, accessibility_problems
from tests.kit.console import held
from tests.kit.gate import Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.system]

PICTURES = os.environ.get("CONSOLE_PICTURES", "")
"""Where the pictures go that `docs/operators.md` shows: `CONSOLE_PICTURES=deploy/screenshots`; a directory of the test without it."""
SHOWN = {"", "changes", "approvals", RESOURCE}
"""Pages whose pictures are in `docs/operators.md`."""
USUAL = 1280
"""Pixels across of an ordinary window."""


@pytest.fixture(autouse=True)
def _patient() -> None:
    expect.set_options(timeout=PATIENCE)


def judge_every_page(gate: Gate, browser: Browser, pictures: Path, scheme: str, width: int) -> None:
    with a_page(browser, gate, "ana", color_scheme=scheme) as page:
        page.set_viewport_size({"width": width, "height": 900})
        for path in every_page(gate):
            answer = page.goto(f"/console/{path}".rstrip("/"))
            assert answer is not None
            assert answer.ok, path
            assert accessibility_problems(page) == [], path
            assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), f"{path} is too wide"
            if path in SHOWN and width == USUAL:
                page.screenshot(path=pictures / f"{path.partition('?')[0] or 'overview'}-{scheme}.png")
        show_components(page)
        assert accessibility_problems(page) == [], "components"
        page.goto("/console/changes")
        page.get_by_role("link", name=re.compile("desired capacity .* on kafka_consumer")).first.click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("desired capacity")
        assert accessibility_problems(page) == [], "one change"
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_label("Key:")).to_be_visible()
        assert accessibility_problems(page) == [], "sign-in"


@pytest.mark.parametrize(("scheme", "width"), [("light", USUAL), ("dark", 360)])
def test_every_page_is_accessible(busy: Gate, browser: Browser, tmp_path: Path, scheme: str, width: int) -> None:
    judge_every_page(busy, browser, Path(PICTURES or tmp_path), scheme, width)


@pytest.mark.long
@pytest.mark.parametrize(("scheme", "width"), [("dark", USUAL), ("light", 360), ("light", 2560), ("dark", 2560)])
def test_every_page_is_accessible_at_every_width(
    busy: Gate, browser: Browser, tmp_path: Path, scheme: str, width: int
) -> None:
    judge_every_page(busy, browser, Path(PICTURES or tmp_path), scheme, width)


def test_the_map_zooms_by_keys_and_groups_open_without_script(busy: Gate, browser: Browser) -> None:
    with a_page(browser, busy, "ana") as page:
        page.goto("/console/map")
        picture = page.locator("[data-map] svg")
        whole = picture.get_attribute("viewBox")
        page.locator("[data-map]").focus()
        page.keyboard.press("+")
        assert picture.get_attribute("viewBox") != whole
        page.keyboard.press("0")
        assert [float(each) for each in str(picture.get_attribute("viewBox")).split()] == [float(each) for each in str(whole).split()]  # fmt: skip
    with a_page(browser, busy, "ana", java_script_enabled=False) as page:
        page.goto("/console/map?closed")
        closed = page.locator("[data-map] a").count()
        page.locator("[data-map] a", has=page.locator(".module")).first.click()
        expect(page.get_by_role("link", name=re.compile("^Close module")).first).to_be_visible()
        assert page.locator("[data-map] a").count() > closed
        page.get_by_role("link", name=re.compile("^Close module")).first.click()
        expect(page.locator("[data-map] a")).to_have_count(closed)


def test_new_records_appear_and_the_list_stands_still_under_the_pointer(busy: Gate, browser: Browser) -> None:
    with a_page(browser, busy, "ana") as page:
        page.goto("/console/feed?verdict=hold")
        made = held(busy)
        expect(page.locator(f'#rows a[href$="{made}"]')).to_be_visible()
        expect(page.locator("#count")).to_contain_text("new since you opened it")
        page.locator("#rows tr").first.hover()
        missed = held(busy)
        expect(page.locator("#count")).not_to_have_text("")
        page.wait_for_timeout(700)
        assert page.locator(f'#rows a[href$="{missed}"]').count() == 0
        page.mouse.move(5, 5)
        expect(page.locator(f'#rows a[href$="{missed}"]')).to_be_visible()


def test_filter_paging_back_and_deep_link(busy: Gate, browser: Browser) -> None:
    with a_page(browser, busy, "ana") as page:
        page.goto("/console/feed")
        page.get_by_label("Verdict").select_option("deny")
        page.get_by_role("button", name="Filter").click()
        expect(page.locator("#rows tr")).to_have_count(1)
        assert "verdict=deny" in page.url
        page.go_back()
        expect(page.locator("#rows tr").nth(5)).to_be_visible()
        page.goto("/console/feed?verdict=deny&actor=agent")
        expect(page.get_by_label("Verdict")).to_have_value("deny")
        expect(page.get_by_label("Actor")).to_have_value("agent")


def test_rows_are_walked_with_the_keyboard_and_focus_is_seen(busy: Gate, browser: Browser) -> None:
    with a_page(browser, busy, "ana") as page:
        page.goto("/console/claims")
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        assert _outline(page) >= 2
        page.goto("/console/feed?pause")
        page.keyboard.press("j")
        first = _focused_row(page)
        page.keyboard.press("j")
        page.keyboard.press("ArrowDown")
        assert _focused_row(page) == first + 2
        page.keyboard.press("k")
        assert _focused_row(page) == first + 1
        page.keyboard.press("/")
        expect(page.get_by_label("Actor")).to_be_focused()
        page.keyboard.type("jk")
        expect(page.get_by_label("Actor")).to_have_value("jk")


def _focused_row(page: Page) -> int:
    return int(page.evaluate("() => [...document.querySelectorAll('[data-rows] tr')].findIndex(r => r.contains(document.activeElement))"))  # fmt: skip


def _outline(page: Page) -> float:
    return float(page.evaluate("() => parseFloat(getComputedStyle(document.activeElement).outlineWidth)"))


def test_a_person_approves_and_rejects_without_script(busy: Gate, browser: Browser) -> None:
    first, second = held(busy, "rival"), held(busy, "rival")
    with a_page(browser, busy, "ana", java_script_enabled=False) as page:
        page.get_by_role("link", name="Approvals").click()
        card = page.locator("article", has=page.locator(f'a[href$="{first}"]'))
        card.get_by_label("Reason to approve").fill("The alarm is real")
        card.get_by_role("button", name="Approve exactly this").click()
        expect(page.get_by_role("status")).to_contain_text("Approved.")
        page.goto(f"/console/mutations/{second}")
        page.get_by_label("Reason to reject").fill(".")
        page.get_by_role("button", name="Reject for good").click()
        expect(page.get_by_role("alert")).to_contain_text("Give a reason in words")
        page.get_by_label("Reason to reject").fill("Not in a freeze")
        page.get_by_role("button", name="Reject for good").click()
        expect(page.get_by_role("status")).to_contain_text("Rejected.")
        page.goto("/console/feed")
        expect(page.locator("#rows tr").first).to_be_visible()
        page.get_by_role("link", name="Refresh").click()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("status")).to_contain_text("Signed out.")


def test_no_other_page_can_frame_or_post_to_it(busy: Gate, browser: Browser) -> None:
    mutation = held(busy)
    before = len(busy.records())
    with a_page(browser, busy, "ana") as page:
        session_records = len(busy.records())
        elsewhere = busy.url.replace("127.0.0.1", "localhost")
        form = f'<form id="f" method="post" action="{busy.url}/console/mutations/{mutation}/reject"><input name="reason" value="forged by another site"></form>'
        page.route(
            f"{elsewhere}/evil",
            lambda route: route.fulfill(
                body=f'{form}<iframe src="{busy.url}/console/feed"></iframe>', content_type="text/html"
            ),
        )
        context = page.context
        evil = context.new_page()
        evil.route(
            "**/evil",
            lambda route: route.fulfill(
                body=f'{form}<iframe src="{busy.url}/console/feed"></iframe>', content_type="text/html"
            ),
        )
        evil.goto(f"{elsewhere}/evil")
        evil.wait_for_timeout(300)
        framed = [frame for frame in evil.frames if frame.parent_frame is not None]
        assert all("Sentinel" not in (frame.content() if frame.url.startswith("http") else "") for frame in framed)
        with evil.expect_navigation():
            evil.evaluate("() => document.getElementById('f').submit()")
        assert "This form did not come from a page of this console" in evil.content()
        assert len(busy.records()) == session_records
    assert before < session_records + 1


def test_script_of_a_page_cannot_read_the_cookie(busy: Gate, browser: Browser) -> None:
    with a_page(browser, busy, "ana") as page:
        assert page.evaluate("() => document.cookie") == ""
        [cookie] = page.context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Lax", "/console")
        assert page.evaluate("() => Object.keys(localStorage).length + Object.keys(sessionStorage).length") == 0
