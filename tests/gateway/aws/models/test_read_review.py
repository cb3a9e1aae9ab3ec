"""A member that looks like a secret, or a statement in a request, is found however deep it hides."""

from typing import Any

import pytest

from gateway.aws.models.curation import Curation
from gateway.aws.models.read_review import (
    looks_secret,
    marked_members,
    often_secret_members,
    secret_members,
    statement_members,
    unreviewed_statements,
)

TEXT = {"type": "string"}


def reviewed(**lists: dict[str, str]) -> Curation:
    found = {part: {key: frozenset(names.split()) for key, names in each.items()} for part, each in lists.items()}
    return Curation(classes={}, iam_prefix={}, outputs=found.get("outputs", {}), statements=found.get("statements", {}))


def shapes(**more: Any) -> dict[str, Any]:
    return {"Text": TEXT, "Number": {"type": "integer"}, **more}


def structure(**members: Any) -> dict[str, Any]:
    return {"type": "structure", "members": {name: {"shape": shape} for name, shape in members.items()}}


@pytest.mark.parametrize(
    "name",
    [
        "Password", "MasterUserPassword", "clientSecret", "SecretString", "AuthToken", "privateKey", "ApiKey", "apiKeys", "streamKey",
        "PreSharedKey", "Environment", "environmentVariables", "UserData", "ConnectionString", "EmbedUrl", "uploadUrl", "presignedUrl",
        "LoginUrl", "ActivationKey", "Plaintext", "Credential", "sessionToken", "ConsoleOutput", "AuthorizationCode",
    ],
)  # fmt: skip
def test_the_name_of_a_secret_is_enough(name: str) -> None:
    deep = shapes(
        Out=structure(Items="Items"),
        Items={"type": "list", "member": {"shape": "Item"}},
        Item=structure(**{name: "Text"}),
    )
    assert secret_members(deep, "Out") == {name}


@pytest.mark.parametrize(
    "name",
    ["NextToken", "nextPageToken", "ClientToken", "PaginationToken", "SecretArn", "PasswordLastChangedDate", "CredentialId", "TokenType", "ApiKeyRequired"],
)  # fmt: skip
def test_what_only_names_or_describes_a_secret_is_none(name: str) -> None:
    assert secret_members(shapes(Out=structure(**{name: "Text"})), "Out") == frozenset()


def test_a_number_under_the_name_of_a_secret_is_none() -> None:
    assert secret_members(shapes(Out=structure(Password="Number")), "Out") == frozenset()


@pytest.mark.parametrize(
    "marked",
    [
        {"Out": {"type": "structure", "members": {"A": {"shape": "Text", "sensitive": True}}}},
        {"Out": structure(A="Hidden"), "Hidden": {"type": "string", "sensitive": True}},
        {"Out": structure(A="Map"), "Map": {"type": "map", "key": {"shape": "Text"}, "value": {"shape": "Hidden"}}, "Hidden": {"type": "string", "sensitive": True}},
        {"Out": structure(A="Map"), "Map": {"type": "map", "key": {"shape": "Hidden"}, "value": {"shape": "Text"}}, "Hidden": {"type": "string", "sensitive": True}},
        {"Out": structure(A="List"), "List": {"type": "list", "member": {"shape": "Hidden"}}, "Hidden": {"type": "integer", "sensitive": True}},
        {"Out": structure(A="Self", B="Out"), "Self": {**structure(A="Self"), "sensitive": True}},
    ],
)  # fmt: skip
def test_the_trait_is_enough_on_member_type_key_value_and_item(marked: dict[str, Any]) -> None:
    assert secret_members(shapes(**marked), "Out") == {"A"}
    assert marked_members(shapes(**marked), "Out") == {"A"}


@pytest.mark.parametrize(
    "name",
    [
        "Statement",
        "sqlStatement",
        "Sql",
        "QueryString",
        "query",
        "Expression",
        "openCypherQuery",
        "code",
        "PythonScript",
    ],
)
def test_statements_are_found(name: str) -> None:
    assert statement_members(shapes(In=structure(**{name: "Text"})), "In") == {name}


@pytest.mark.parametrize("name", ["StatementName", "LanguageCode", "statusCode", "Description", "QueryId", "Prescript"])
def test_what_is_no_statement_is_not_found(name: str) -> None:
    assert statement_members(shapes(In=structure(**{name: "Text"})), "In") == frozenset()


def test_only_statements_that_were_not_reviewed_are_left() -> None:
    both = shapes(In=structure(Sql="Text"), Out=structure(Password="Text"))
    definition = {"name": "Ask", "input": {"shape": "In"}, "output": {"shape": "Out"}}
    assert unreviewed_statements("s", both, definition, reviewed()) == {"Sql"}
    assert unreviewed_statements("s", both, definition, reviewed(statements={"s": "Sql"})) == frozenset()
    assert unreviewed_statements("s", both, definition, reviewed(statements={"s:Ask": "Sql"})) == frozenset()
    assert unreviewed_statements("s", both, definition, reviewed(statements={"s:Other": "Sql", "t": "Sql"})) == {"Sql"}
    assert unreviewed_statements("s", both, {}, reviewed()) == frozenset()


def test_an_answer_looks_secret_by_its_names_and_by_the_rules_for_masking() -> None:
    both = shapes(Out=structure(Password="Text", Parameters="Text", Name="Text"))
    assert looks_secret("ssm", both, "Out") == {"Password", "Parameters"}
    assert looks_secret("rds", both, "Out") == {"Password"}


@pytest.mark.parametrize(
    ("service", "member"),
    [
        ("cloudformation", "Parameters"), ("cloudformation", "Outputs"), ("cloudformation", "ParameterOverrides"), ("codepipeline", "configuration"),
        ("dms", "ExtraConnectionAttributes"), ("elasticbeanstalk", "OptionSettings"), ("events", "QueryStringParameters"), ("glue", "Arguments"),
        ("redshift-data", "QueryString"), ("ssm", "Parameters"), ("apigateway", "variables"), ("apigatewayv2", "StageVariables"),
        ("anything", "HeaderParameters"),
    ],
)  # fmt: skip
def test_what_the_rules_for_masking_list_is_found_in_replies(service: str, member: str) -> None:
    deep = shapes(
        Out=structure(Items="Items"), Items={"type": "list", "member": {"shape": "Item"}}, Item=structure(**{member: "Map", "Other": "Text"}),
        Map={"type": "map", "key": {"shape": "Text"}, "value": {"shape": "Number"}},
    )  # fmt: skip
    assert often_secret_members(service, deep, "Out") == {member}


def test_the_parameters_of_another_service_are_no_secrets() -> None:
    assert often_secret_members("rds", shapes(Out=structure(Parameters="Text")), "Out") == frozenset()
