"""The Terraform type of a CloudFormation type needs two signs; the table that people reviewed names only types that there are."""

from tests.tools.effect_sources.all_services import terraform_attributes
from tests.tools.effect_sources.cloudformation import CloudFormationType, read_type
from tests.tools.effect_sources.counterpart import MAPPING, entry, mapping, mapping_text
from tests.tools.effect_sources.terraform_types import counterparts


def _type(name: str, *properties: str, create: str = "") -> CloudFormationType:
    handlers = {"create": {"permissions": [create]}} if create else {}
    return read_type({"typeName": name, "properties": {each: {} for each in properties}, "handlers": handlers})


def test_name_and_attributes_agree() -> None:
    bakery = _type("AWS::Bread::Bakery", "Name", "Hours", "Owner")

    found = counterparts((bakery,), {"aws_bread_bakery": frozenset({"id", "name", "hours", "owner"})}, {})

    assert (found[bakery.name].terraform, found[bakery.name].signs) == ("aws_bread_bakery", ("name", "attributes"))


def test_a_name_alone_is_not_enough() -> None:
    assert (
        counterparts((_type("AWS::Bread::Bakery", "Name"),), {"aws_bread_bakery": frozenset({"id", "size"})}, {}) == {}
    )


def test_the_operation_that_creates_it_is_a_sign() -> None:
    bakery = _type("AWS::Bread::Bakery", "Name", create="bread:CreateBakery")

    found = counterparts(
        (bakery,), {"aws_bread_bakery": frozenset({"id"})}, {"aws_bread_bakery": frozenset({"bread:createbakery"})}
    )

    assert found[bakery.name].signs == ("name", "create")


def test_two_types_with_equal_claims_get_none() -> None:
    first, second = _type("AWS::Bread::Bakery", "Name", "Hours"), _type("AWS::Bread::Bakeries", "Name", "Hours")

    assert counterparts((first, second), {"aws_bread_bakery": frozenset({"name", "hours"})}, {}) == {}


def test_the_reviewed_table_names_types_of_the_provider_and_is_sorted() -> None:
    known = terraform_attributes()
    table = mapping()

    assert [each.terraform for each in table.values() if each.terraform and each.terraform not in known] == []
    assert MAPPING.read_text() == mapping_text({name: entry(each) for name, each in table.items()})
    assert all(len(each.signs) > 1 or each.signs == ("reviewed",) for each in table.values())
