"""Ten tasks for which people open the console, each played from the first page by what its text shows, with the clicks that it takes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.lively import lively_gate
from tests.kit.chromium import PATIENCE, a_browser, a_page
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser."""
    with a_browser() as running:
        yield running


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway after a lively night."""
    with lively_gate(tmp_path_factory.mktemp("lively")) as gate:
        yield gate


@dataclass
class Player:
    """Somebody on the first page, whose clicks are counted."""

    page: Page
    clicks: int = 0

    def press(self, what: Locator, then: Locator) -> None:
        """Click it, and wait for what shows that the click was answered."""
        what.click()
        self.clicks += 1
        expect(then).to_be_visible()

    def sees(self, *texts: str) -> None:
        """The page shows all of them."""
        for text in texts:
            expect(self.page.get_by_role("main")).to_contain_text(text)

    def link(self, name: str) -> Locator:
        """The first link whose text has these words."""
        return self.page.get_by_role("link", name=name).first

    def title(self, name: str) -> Locator:
        """The heading of a page."""
        return self.page.get_by_role("heading", level=1, name=name)

    def row(self, words: str) -> Locator:
        """The first row of a list that has these words."""
        return self.page.get_by_role("listitem").filter(has_text=words).first


def why_was_the_agent_refused(player: Player) -> None:
    player.press(player.row("cost-saver,").get_by_role("link"), player.title("desired capacity 11 → 4"))
    player.sees("more than max_step = 4 away from 11", "Nearest valid value of desired_capacity: 7")


def approve_the_right_one_of_three(player: Player) -> None:
    player.press(player.row("OPS-42").get_by_role("link"), player.title("orders-april"))
    player.page.get_by_label("Reason to approve").fill("The shop is down")
    player.press(player.page.get_by_role("button", name="Approve exactly this"), player.page.get_by_role("status"))
    player.sees("Approved.", "orders-april")


def who_changed_this_last_and_undo_it(player: Player) -> None:
    player.press(player.link("Resources"), player.title("Resources"))
    player.press(player.link("aws_autoscaling_group.kafka_consumer"), player.title("kafka_consumer"))
    player.press(player.link("its change"), player.title("desired capacity 8 → 11"))
    player.sees("lag-scaler", "Undo it", '"DesiredCapacity": 8')


def is_the_ledger_intact(player: Player) -> None:
    player.press(player.link("is it intact?"), player.title("Ledger"))
    intact = player.page.get_by_text("every table that follows from the records")
    player.press(player.page.get_by_role("button", name="Verify every record now"), intact)


def what_is_not_in_code(player: Player) -> None:
    player.press(player.link("not in code"), player.title("Write-back"))
    player.sees("retention 14 → 30 days", "not merged yet", "retention 30 → 60 days", "not in code yet")


def stop_the_agent_that_runs_wild(player: Player) -> None:
    player.press(player.link("load-tester"), player.title("load-tester"))
    player.press(player.page.get_by_role("button", name="Stop every change of"), player.title("Stop load-tester?"))
    player.sees("every change by load-tester or on its behalf", "Changes with the key")
    player.page.get_by_label("Why").fill("It only asks for what is refused")
    player.press(player.page.get_by_role("button", name="Stop it now"), player.title("Actors"))
    player.sees("Stopped, from the next request on.", "It only asks for what is refused")


def which_rule_refuses_most(player: Player) -> None:
    player.press(player.link("Policy"), player.title("Policy"))
    first = player.page.get_by_role("table").first.get_by_role("row").nth(1)
    expect(first).to_contain_text("bounds.max_step")
    expect(first).to_contain_text("14")


def what_did_it_do_last_night(player: Player) -> None:
    player.press(player.link("log-keeper"), player.title("log-keeper"))
    player.sees("retention 14 → 30 days", "retention 30 → 60 days")


def which_claim_blocks_it_and_until_when(player: Player) -> None:
    player.press(player.row("cost-saver,").get_by_role("link"), player.title("desired capacity 11 → 4"))
    player.sees("is held by lag-scaler", "The claim in its way stands until", "in 3 h")


def show_it_to_an_auditor(player: Player) -> None:
    player.press(player.row("cost-saver,").get_by_role("link"), player.title("desired capacity 11 → 4"))
    kept = player.page.get_by_text("as it is kept").first
    player.press(player.page.get_by_text("Its records, for auditors"), kept)
    player.press(kept, player.page.get_by_text('"key_id"'))


TASKS: dict[Callable[[Player], None], int] = {
    why_was_the_agent_refused: 1,
    approve_the_right_one_of_three: 2,
    who_changed_this_last_and_undo_it: 3,
    is_the_ledger_intact: 2,
    what_is_not_in_code: 1,
    stop_the_agent_that_runs_wild: 3,
    which_rule_refuses_most: 1,
    what_did_it_do_last_night: 1,
    which_claim_blocks_it_and_until_when: 1,
    show_it_to_an_auditor: 3,
}
"""Each task and the clicks that it takes. Four is the most that half of them may take."""


def test_each_of_ten_tasks_is_done_in_few_clicks(browser: Browser, gate: Gate) -> None:
    took: dict[str, int] = {}
    with a_page(browser, gate, "ana") as page:
        for task in TASKS:
            page.goto("/console")
            player = Player(page)
            expect(player.title("Overview")).to_be_visible()
            task(player)
            took[task.__name__] = player.clicks
    assert took == {task.__name__: clicks for task, clicks in TASKS.items()}
    assert median(took.values()) <= 4
