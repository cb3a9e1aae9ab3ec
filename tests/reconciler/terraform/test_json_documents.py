"""Policies are compared as AWS reads them."""

import pytest

from gateway.core.model.json import Json
from reconciler.terraform.json_documents import document_in, in_order, same_document, statement_form, texts

READ: dict[str, Json] = {"Sid": "Read", "Effect": "Allow", "Action": "s3:GetObject", "Resource": ["a", "b"]}


def _policy(*statements: Json) -> Json:
    return {"Version": "2012-10-17", "Statement": list(statements)}


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ({**READ, "Action": ["s3:GetObject"]}, True),
        ({**READ, "Resource": ["b", "a"]}, True),
        ({**READ, "Resource": ["a"]}, False),
        ({**READ, "Effect": "Deny"}, False),
        ({**READ, "Condition": {"Bool": {"x": "true"}}}, False),
    ],
)
def test_a_text_is_a_list_of_it_and_lists_have_no_order(other: Json, *, same: bool) -> None:
    assert same_document(_policy(READ), _policy(other)) is same


def test_statements_have_no_order_and_one_needs_no_list() -> None:
    other: Json = {**READ, "Sid": "Other"}
    assert same_document(_policy(READ, other), _policy(other, READ))
    assert same_document({"Version": "2012-10-17", "Statement": READ}, _policy(READ))
    assert not same_document(_policy(READ), _policy(READ, other))


def test_everyone_is_written_in_two_ways() -> None:
    assert statement_form({"Principal": "*"}) == statement_form({"Principal": {"AWS": "*"}})
    assert statement_form({"Condition": {"Bool": {"a": True}}}) == statement_form(
        {"Condition": {"Bool": {"a": ["true"]}}}
    )


def test_other_documents_are_compared_in_order() -> None:
    assert same_document({"a": [1, 2]}, {"a": [1, 2]})
    assert not same_document({"a": [1, 2]}, {"a": [2, 1]})


@pytest.mark.parametrize(
    ("text", "found"), [('{"a": 1}', {"a": 1}), (" [1]", [1]), ("{", None), ("5", None), (5, None)]
)
def test_only_objects_and_lists_are_documents(text: object, found: Json) -> None:
    assert document_in(text) == found


def test_a_statement_is_written_in_the_usual_order() -> None:
    assert list(in_order({"Resource": "*", "Other": 1, "Sid": "x"})) == ["Sid", "Resource", "Other"]
    assert texts("a") == texts(["a"]) == ["a"]
