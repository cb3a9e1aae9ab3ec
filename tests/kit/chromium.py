"""A real browser at the console: Chromium without a window, driven by playwright, which sees what a person would."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, sync_playwright

from tests.browser.install import axe, chromium
from tests.kit.console import key_of
from tests.kit.gate import Gate

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
PATIENCE = 300_000
"""Milliseconds that a condition may take on a busy machine."""
_RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


@contextmanager
def a_browser() -> Iterator[Browser]:
    """A browser. Raises `BrowserMissing` if the machine has none: a test that needs it fails then."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def a_page(browser: Browser, gate: Gate, actor: str | None = None, **options: Any) -> Iterator[Page]:
    """A page of a new profile, signed in by the form as the actor. Fails if a page broke the content policy or a script failed."""
    context = browser.new_context(base_url=gate.url, viewport={"width": 1280, "height": 900}, **options)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    wrong: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if _is_wrong(message.type, message.text):
            wrong.append(message.text)

    def refuse(dialog: Dialog) -> None:
        wrong.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", note)
    page.on("dialog", refuse)
    try:
        if actor is not None:
            page.goto("/console/sign-in")
            page.get_by_label("Key").fill(key_of(gate, actor))
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_url("**/console")
        yield page
    finally:
        context.close()
    assert not wrong, wrong


def _is_wrong(kind: str, text: str) -> bool:
    """Whether the browser reports a mistake of the page; that a form was refused is an answer."""
    return kind in {"error", "warning"} and "Failed to load resource" not in text


def accessibility_problems(page: Page) -> list[str]:
    """What axe finds on the page as it is: rule, and the first element. The policy lets no page load it, so it is evaluated."""
    page.evaluate(axe().read_text(encoding="utf-8"))
    only = {"runOnly": {"type": "tag", "values": list(_RULES)}}
    found = page.evaluate("(options) => axe.run(document, options)", only)
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:200]} {each['nodes'][0].get('failureSummary', '')[:300]}"
        for each in found["violations"]
    ]
