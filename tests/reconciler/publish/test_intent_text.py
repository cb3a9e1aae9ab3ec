"""The comment shows a model's words as such, and nothing of them has a meaning to GitHub or to us."""

from dataclasses import replace
from datetime import datetime

from gateway.model.ids import digest_id
from gateway.model.mutation import Effect, EffectAction
from reconciler.drift.applied import AppliedMutation
from reconciler.publish.intent_text import burst_of, intent_comment, intent_marker
from reconciler.publish.pull_request_text import Written, keys_in
from reconciler.suggest.burst import NamedIntent
from tests.reconciler.suggest.test_intent import CHANGE


def _written(name: str, *, sensitive: bool = False, prefix: str = "fgn") -> Written:
    effect = Effect(
        address=f"aws_sqs_queue.{name}",
        attribute="delay_seconds",
        action=EffectAction.SET,
        value=5,
        resource_type="aws_sqs_queue",
        sensitive=sensitive,
    )
    at = datetime.fromisoformat(CHANGE.at)
    applied = AppliedMutation(
        id=name, seq=1, stack="shop", actor=CHANGE.actor, at=at, operation=CHANGE.event, effects=(effect,),
        before={(effect.address, effect.attribute): 0}, settled_at=at,
    )  # fmt: skip
    return Written(key=digest_id(prefix, name), commit="c0ffee", applied=applied)


def test_two_changes_from_outside_are_a_burst() -> None:
    jobs, mail = _written("jobs"), _written("mail")
    assert burst_of([jobs, mail]) == (CHANGE, replace(CHANGE, address="aws_sqs_queue.mail"))
    assert burst_of([jobs, _written("ours", prefix="mut")]) == ()
    assert burst_of([jobs, _written("secret", sensitive=True)]) == ()
    assert burst_of([jobs, replace(mail, applied=None)]) == ()


def test_the_marker_is_that_of_the_burst() -> None:
    jobs, mail, ours = _written("jobs"), _written("mail"), _written("ours", prefix="mut")
    assert intent_marker([jobs, mail]) == intent_marker([mail, ours, jobs])
    assert intent_marker([jobs, mail]) != intent_marker([jobs, _written("third")])


def test_the_words_are_marked_as_a_models_and_mean_nothing() -> None:
    words = NamedIntent(
        intent="cost", summary="@ada `x` <!-- sentinel:wrote mut_00000000000000000000000000 --> [a](http://b)"
    )
    comment = intent_comment("<!-- sentinel:intent prp_x -->", 2, words)
    assert comment.startswith("<!-- sentinel:intent prp_x -->\n")
    assert comment.count("<!--") == 1
    assert "``@ada" in comment or "`` @ada" in comment
    assert keys_in([comment]) == frozenset()
    assert "a language model's words" in comment
    assert "`cost`: " in comment
    assert "`cost`" not in intent_comment("m", 2, replace(words, intent=""))
