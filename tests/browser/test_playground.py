"""The playground and replays in a real browser: with the keyboard alone, without script, accessible with their results, and safe from hostile texts."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from gateway.core.records.record import Stage
from tests.browser.site import HOSTILE, propose
from tests.kit.chromium import PATIENCE, a_page, accessibility_problems
from tests.kit.gate import Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.system]
CONTRACT = "kafka.sentinel.hcl"


@pytest.fixture(autouse=True)
def _patient() -> None:
    expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def allowed(busy: Gate) -> str:
    """The first change that was allowed."""
    [first, *_] = [each for each in busy.records(stage=Stage.DECIDED) if each.body.members["decision"]["carried_out"]]
    return first.mutation_id


def _edit(page: Page, old: str, new: str) -> None:
    """Select a text in the contract as a person does with the keyboard, and type another."""
    area = page.get_by_label(f"{CONTRACT} of kafka")
    area.focus()
    area.evaluate(
        "(box, old) => { const at = box.value.indexOf(old); box.setSelectionRange(at, at + old.length) }", old
    )
    page.keyboard.type(new)


def test_a_contract_is_edited_with_the_keyboard_and_the_result_is_accessible(
    busy: Gate, browser: Browser, allowed: str, tmp_path: Path
) -> None:
    for scheme in ("light", "dark"):
        with a_page(browser, busy, "ana", color_scheme=scheme) as page:
            page.goto(f"/console/mutations/{allowed}")
            page.get_by_role("link", name="Try an edit").focus()
            page.keyboard.press("Enter")
            page.get_by_label("Contract").select_option(f"kafka/{CONTRACT}")
            page.get_by_role("button", name="Open").focus()
            page.keyboard.press("Enter")
            _edit(page, "max_step = 4", "max_step = 1")
            page.keyboard.press("Tab")
            expect(page.get_by_label("Replay last week too")).to_be_focused()
            page.keyboard.press("Space")
            page.keyboard.press("Tab")
            expect(page.get_by_role("button", name="Try it")).to_be_focused()
            page.keyboard.press("Enter")
            result = page.get_by_role("region", name="What the edit does")
            expect(result).to_contain_text("because of bounds.max_step")
            expect(result.get_by_role("heading", name="What would be decided otherwise")).to_be_visible()
            expect(result.locator("pre.command")).to_contain_text("+      max_step = 1")
            expect(result.get_by_role("button", name="Copy")).to_be_visible()
            expect(page.get_by_label(f"{CONTRACT} of kafka")).to_have_value((busy.stack / CONTRACT).read_text().replace("max_step = 4", "max_step = 1"))  # fmt: skip
            assert accessibility_problems(page) == []
            page.screenshot(path=tmp_path / f"playground-{scheme}.png", full_page=True)


def test_the_playground_and_replays_work_without_script(busy: Gate, browser: Browser, allowed: str) -> None:
    with a_page(browser, busy, "ana", java_script_enabled=False) as page:
        page.goto(f"/console/playground?mutation={allowed}&of=kafka/{CONTRACT}")
        area = page.get_by_label(f"{CONTRACT} of kafka")
        area.fill((busy.stack / CONTRACT).read_text().replace("max_step = 4", "max_step = 1"))
        page.get_by_role("button", name="Try it").click()
        expect(page.get_by_role("status")).to_contain_text("Was allow, would be deny")
        page.get_by_label("Replay, Playground").click()
        page.get_by_role("link", name="Replay", exact=True).click()
        page.get_by_role("button", name="Replay").click()
        expect(page.get_by_role("status")).to_contain_text("every verdict would be the same")
        assert page.locator("li", has_text="Claims, budgets and changes of holders").count() == 1


def test_hostile_texts_do_nothing(busy: Gate, browser: Browser) -> None:
    mutation = propose(busy, "agent", 9, HOSTILE)["mutation"]["id"]
    with a_page(browser, busy, "ana") as page:
        page.goto(f"/console/playground?mutation={mutation}&of=kafka/{CONTRACT}&policy=guardrails/{HOSTILE}.rego")
        page.get_by_label(f"{CONTRACT} of kafka").fill(HOSTILE)
        page.get_by_label("Or a call that nobody sent").fill(HOSTILE)
        page.get_by_role("button", name="Try it").click()
        expect(page.get_by_role("alert")).to_be_visible()
        expect(page.get_by_label("Or a call that nobody sent")).to_have_value(HOSTILE)
        page.goto("/console/replay")
        page.get_by_label("Stack").fill(HOSTILE)
        page.get_by_role("button", name="Replay").click()
        expect(page.get_by_label("Stack")).to_have_value(HOSTILE)
