"""What pages say and where they send a browser is chosen from a list."""

import pytest

from gateway.doors.console.visit import DONE, asset, go
from tests.kit.console import visitor
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def test_a_browser_is_sent_to_a_page_of_the_console() -> None:
    assert go("/approvals", done="rejected", none="").headers["location"] == "/console/approvals?done=rejected"


def test_assets_are_named_by_their_content() -> None:
    assert asset("console.css").startswith("/console/static/console.css?v=")


def test_an_address_chooses_what_is_said_and_writes_nothing(gate: Gate) -> None:
    client = visitor(gate, "human")
    assert DONE["rejected"] in client.get("/console/approvals?done=rejected").text
    assert "Sign in again at evil" not in client.get("/console/approvals?done=Sign+in+again+at+evil").text
