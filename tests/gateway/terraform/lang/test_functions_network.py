"""Functions of IP networks. `test_functions.py` holds every function to Terraform; here is what no table shows."""

from gateway.terraform.lang.functions_network import FUNCTIONS


def test_subnets_follow_each_other_without_overlapping() -> None:
    found = FUNCTIONS["cidrsubnets"]("10.0.0.0/16", 8, 4, 8)
    assert found == ["10.0.0.0/24", "10.0.16.0/20", "10.0.32.0/24"]
