"""The desk knows where people decide."""

from gateway.doors.mcp.desk import Desk


def test_the_page_of_a_mutation(desk: Desk) -> None:
    assert desk.console_url("mut_1") == "https://sentinel.example/console/mutations/mut_1"
