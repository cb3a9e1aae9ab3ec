"""`/v1/docs` in a real browser: it shows every operation under its content policy, loads nothing from elsewhere, and unfolds."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.kit.chromium import PATIENCE, a_page
from tests.kit.gate import Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.system]


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway."""
    with Gate(directory=tmp_path_factory.mktemp("docs")) as running:
        yield running


def test_the_description_is_shown_and_an_operation_unfolds(browser: Browser, gate: Gate) -> None:
    with a_page(browser, gate) as page:
        hosts, refused = _watched(page)
        reply = page.goto("/v1/docs")
        assert reply is not None
        assert "default-src 'none'" in reply.headers["content-security-policy"]
        operation = page.locator(".opblock", has=page.get_by_text("Approve exactly one held call", exact=True))
        expect(operation).to_be_visible(timeout=PATIENCE)
        described = page.request.get("/v1/openapi.json").json()["paths"]
        wanted = sum(
            method in {"get", "post", "put", "patch", "delete"} for path in described.values() for method in path
        )
        expect(page.locator(".opblock")).to_have_count(wanted, timeout=PATIENCE)
        assert wanted > 30
        expect(operation.locator(".opblock-body")).to_have_count(0, timeout=PATIENCE)
        operation.locator(".opblock-summary-control").click()
        unfolded = operation.locator(".opblock-body")
        expect(unfolded.locator(".parameter__name", has_text="mutation_id")).to_be_visible(timeout=PATIENCE)
        expect(unfolded.locator("tr.response").first).to_be_visible(timeout=PATIENCE)
        assert hosts == {urlsplit(gate.url).netloc}
        assert refused == []


def _watched(page: Page) -> tuple[set[str], list[str]]:
    """The hosts that the page asks, and what its content policy refuses; both grow as it works."""
    hosts: set[str] = set()
    refused: list[str] = []
    page.on(
        "request", lambda request: hosts.add(urlsplit(request.url).netloc) if request.url.startswith("http") else None
    )
    page.expose_function("noteRefused", lambda text: refused.append(text))  # noqa: PLW0108  playwright marks the function
    page.add_init_script(
        "document.addEventListener('securitypolicyviolation',"
        " (event) => window.noteRefused(`${event.violatedDirective} ${event.blockedURI}`))"
    )
    return hosts, refused
