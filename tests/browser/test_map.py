"""The map of a thousand resources: few nodes that fit the page, whose modules and types open one after the other, with the mouse and the keyboard."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from gateway.core.model.caller import ActorKind
from gateway.core.settings.stacks import StackSettings
from tests.kit.chromium import PATIENCE, a_page, accessibility_problems
from tests.kit.gate import Gate
from tests.kit.many_resources import MODULES, write_many_resources

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.system]


def test_a_thousand_resources_are_found_and_opened_by_module(browser: Browser, tmp_path: Path) -> None:
    expect.set_options(timeout=PATIENCE)
    assert len(write_many_resources(tmp_path / "large")) == 1_000
    large = StackSettings(name="large", path=tmp_path / "large")
    with Gate(tmp_path / "gate", more_stacks=(large,)) as gate:
        gate.issue("ana", kind=ActorKind.HUMAN)
        with a_page(browser, gate, "ana") as page:
            nodes = page.locator("[data-map] svg a")
            page.goto("/console/map?stack=large")
            expect(page.get_by_role("main")).to_contain_text("1,000 resources of large")
            assert nodes.count() <= 50, "as many modules are open as can be looked at"
            page.goto("/console/map?stack=large&closed")
            expect(nodes).to_have_count(10 + MODULES)
            page.locator("[data-map] svg a", has=page.locator(".module")).first.click()
            expect(page.get_by_role("link", name="Close module.cell_0", exact=True)).to_be_visible()
            page.locator("[data-map] svg a", has=page.locator(".type")).first.focus()
            page.keyboard.press("Enter")
            expect(page.get_by_role("link", name="Close module.cell_0/")).to_be_visible()
            assert nodes.count() < 100
            page.get_by_label("Show this resource").fill("module.cell_7.aws_instance.n24")
            page.get_by_role("button", name="Show", exact=True).click()
            expect(page.locator("[data-map] .node.here")).to_have_count(1)
            expect(page.locator("[data-map] .edge.near").first).to_be_visible()
            assert nodes.count() <= 150
            assert accessibility_problems(page) == []
            assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
