"""The seeds of single types, and what they say from the second variant on."""

from tests.tools.effects_tracing.seeds import seeds


def test_the_second_variant_leaves_out_and_sets_more() -> None:
    assert not seeds()["aws_iot_certificate"].off
    assert "csr" in seeds(2)["aws_iot_certificate"].off
    peering = seeds(2)["aws_vpc_peering_connection"]
    assert (peering.values, peering.status) == ({"auto_accept": True}, "pending-acceptance")
    assert seeds()["aws_vpc_peering_connection"].status == ""


def test_what_a_create_that_is_broken_off_does_not_say() -> None:
    assert seeds()["aws_budgets_budget"].id.format_map({"account_id": "1", "name": "b"}) == "1:b"
    assert seeds()["aws_main_route_table_association"].answers == {"main": True}
