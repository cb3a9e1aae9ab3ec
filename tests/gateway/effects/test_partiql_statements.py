"""What a PartiQL statement does, and what is not taken for a statement that only reads."""

import pytest

from gateway.core.model.mutation import Call
from gateway.effects.partiql_statements import statement_of, statements_of
from tests.kit.growth import assert_linear

READS = {
    'SELECT * FROM "Music"."idx" WHERE a = 1': "Music",
    "select a, b from Music": "Music",
    "SELECT 'x from \"U\"' FROM T": "T",
    "SELECT 'it''s FROM U' FROM T": "T",
    'SELECT "FROM" FROM T': "T",
    "SELECT contains(a, 'FROM') FROM T WHERE b IN ['x', 'y']": "T",
    'EXISTS(SELECT * FROM "T" WHERE a = 1)': "T",
    'SELECT * FROM "arn:aws:dynamodb:eu-west-1:123456789012:table/T"': "arn:aws:dynamodb:eu-west-1:123456789012:table/T",
}
WRITES = {
    "INSERT INTO \"T\" VALUE {'a': 'SELECT * FROM U'}": "T",
    "update T set a = 1 where k = 'x'": "T",
    'DELETE FROM "T" WHERE k = ?': "T",
}
STRANGE = [
    "",
    "SELECT",
    "SELECT 1",
    "SELECT * FROM 'T'",
    'SELECT * FROM ""',
    "DELETE FROM T; SELECT * FROM T",
    "SELECT * FROM T; DELETE FROM T",
    "SELECT * FROM T -- DELETE FROM T",
    "SELECT * /* x */ FROM T",
    "SELECT * FROM T WHERE a = 'x",
    "UNLOAD (SELECT * FROM T) TO 's3://b'",
    "WITH x AS (SELECT * FROM T) DELETE FROM x",
    "DELETE x FROM T",
    "INSERT x INTO T",
    "EXISTS(DELETE FROM T)",
    "SELECT (SELECT * FROM U)",
    "CREATE TABLE T",
]


@pytest.mark.parametrize("text", READS)
def test_what_selects_only_reads(text: str) -> None:
    found = statement_of(text)
    assert found is not None
    assert (found.reads, found.table) == (True, READS[text])


@pytest.mark.parametrize("text", WRITES)
def test_everything_else_writes(text: str) -> None:
    found = statement_of(text)
    assert found is not None
    assert (found.reads, found.table) == (False, WRITES[text])


@pytest.mark.parametrize("text", STRANGE)
def test_what_is_not_certain_is_not_understood(text: str) -> None:
    assert statement_of(text) is None


@pytest.mark.parametrize("given", [None, [], "x", [None], [{}], [{"Statement": 7}]])
def test_one_strange_statement_makes_the_call_strange(given: object) -> None:
    good = [{"Statement": "SELECT * FROM T"}]
    members = [*good, *given] if isinstance(given, list) else given
    call = Call(service="dynamodb", operation="BatchExecuteStatement", parameters={"Statements": members})
    assert (statements_of(call) == ()) is (given != [])


@pytest.mark.parametrize("piece", ["'", '"', "(", "a ", "'x'", "- ", "SELECT ", "FROM "])
def test_reading_takes_time_in_proportion_to_the_length(piece: str) -> None:
    assert_linear(lambda size: lambda: statement_of(f"SELECT {piece * size}"), 2_000)
