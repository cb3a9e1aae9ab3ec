"""A question names the value it is about."""

from tests.reconciler.suggest.conftest import Ask


def test_the_wanted_value_is_that_of_what_was_left(ask: Ask) -> None:
    question = ask(60)
    assert question.wanted is question.left.wanted
    assert question.wanted.value == 60
