"""A person signs in through an identity provider in a real browser, with script and without, and out again."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from gateway.core.records.record import Stage
from tests.kit.chromium import PATIENCE, a_page, accessibility_problems
from tests.kit.gate import Gate
from tests.kit.oidc import SECRET, OidcStub, gate_with_provider

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.system]


@pytest.fixture(autouse=True)
def _patient() -> None:
    expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Gate, OidcStub]]:
    """A gateway and its provider, to which the console proves itself with a secret."""
    with gate_with_provider(tmp_path_factory.mktemp("oidc"), oidc_client_secret=SECRET) as (gate, stub):
        stub.secret = SECRET
        yield gate, stub


@pytest.mark.parametrize("script", [True, False])
def test_a_person_signs_in_through_the_provider_and_out_again(
    both: tuple[Gate, OidcStub], browser: Browser, script: bool
) -> None:
    gate, stub = both
    with a_page(browser, gate, java_script_enabled=script) as page:
        page.goto("/console/approvals?state=all")
        if script:
            assert accessibility_problems(page) == []
        page.get_by_role("link", name=f"Sign in with 127.0.0.1:{stub.port}").click()
        page.get_by_role("button", name="I am human").click()
        page.wait_for_url(f"{gate.url}/console/approvals?state=all")
        expect(page.get_by_text("human (human: approver)")).to_be_visible()
        [cookie] = page.context.cookies()
        assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"]) == ("sentinel-console", True, "Lax")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("status")).to_contain_text("Signed out.")
        page.goto("/console/approvals")
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_person_who_cancels_reads_why_they_are_not_in(both: tuple[Gate, OidcStub], browser: Browser) -> None:
    gate, stub = both
    with a_page(browser, gate) as page:
        page.goto("/console")
        page.get_by_role("link", name="Sign in with").click()
        page.get_by_role("link", name="Cancel").click()
        expect(page.get_by_role("alert")).to_contain_text("The sign-in was cancelled")
        assert accessibility_problems(page) == []
        page.reload()
        expect(page.get_by_role("alert")).to_contain_text("used already")
        page.get_by_role("link", name=f"Sign in with 127.0.0.1:{stub.port}").click()
        page.get_by_role("button", name="I am human").click()
        page.wait_for_url("**/console")
    assert "cancelled" in str([record.body.members["reason"] for record in gate.records(stage=Stage.TURNED_AWAY)])


def test_another_site_cannot_sign_a_person_in_as_somebody_else(both: tuple[Gate, OidcStub], browser: Browser) -> None:
    gate, stub = both
    with a_page(browser, gate) as attacker, a_page(browser, gate) as victim:
        attacker.goto("/console/sign-in")
        attacker.get_by_role("link", name="Sign in with").click()
        forged = stub.consent(attacker.url)
        victim.goto(stub.issuer + "/jwks")
        victim.goto(f"{gate.url}/console/sign-in")
        victim.goto(forged)
        expect(victim.get_by_role("alert")).to_contain_text("began no sign-in")
        assert victim.context.cookies() == []
