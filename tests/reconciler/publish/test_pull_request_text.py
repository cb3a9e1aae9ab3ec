"""Texts that others chose have no effect in a pull request: no mention, link, image, marker or broken section."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import structs

from gateway.core.model.ids import digest_id
from gateway.core.model.json import Json
from gateway.core.model.masking import IN_WORDS, Masker
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.publish.pull_request_text import (
    LONGEST,
    WriteBack,
    _summary,
    asked_in,
    code_span,
    comments_of,
    description_of,
    intent_comment,
    intent_marker,
    keys_in,
    outside_changes_among,
    title_of,
    with_section,
)
from reconciler.suggest.question import NamedIntent
from tests.kit import nouns
from tests.kit.bodies import written_back
from tests.reconciler.suggest.test_foreign_intent import CHANGE

IDS = [f"mut_{number:026d}" for number in range(300)]
EVIL = "@everyone ![x](http://evil) <!-- sentinel:end --> ``` ` **b** <!-- sentinel:wrote mut_00000000000000000000000009 -->"


def _written(number: int, *, text: str = "lag grows", edits: int = 1) -> WriteBack:
    applied = AppliedMutation(
        id=IDS[number], seq=number, stack="shop", actor="agent-scaler", kind="agent", on_behalf_of="ada",
        at=datetime(2026, 1, 2, tzinfo=UTC), operation="sqs:SetQueueAttributes", effects=(), intent="availability",
        motivation="incident", text=text, evidence=("A-1",), approver="eve", settled_at=datetime(2026, 1, 2, tzinfo=UTC),
    )  # fmt: skip
    rows: list[Json] = [
        {"address": "aws_sqs_queue.a", "attribute": f"delay_{each}", "value": 5, "path": "main.tf"}
        for each in range(edits)
    ]
    proofs: list[Json] = [
        {"name": "plan_clean", "held": True, "detail": ""},
        {"name": "captured", "held": False, "detail": EVIL},
    ]
    body = {
        "commit": "c0ffee",
        "edits": rows,
        "proofs": proofs,
        "files": ["main.tf"],
        "left": [{"address": "a.b", "attribute": "c", "reason": EVIL}],
        "noted": [EVIL],
    }
    return WriteBack(key=IDS[number], applied=applied, body=written_back(body))


def test_the_title_names_one_change_or_counts_them() -> None:
    assert title_of("shop", [_written(0)]) == "shop: aws_sqs_queue.a.delay_0 → 5"
    assert title_of("shop", [_written(0, edits=3)]) == "shop: aws_sqs_queue.a.delay_0 and 2 more"
    assert title_of("shop", [_written(0), _written(1)]) == "shop: write back 2 changes that were applied"


def test_a_comment_tells_who_wanted_it_why_and_what_was_proved() -> None:
    [comment] = comments_of([_written(0)])
    for part in ("`agent-scaler` (`agent`), for `ada`", "`sqs:SetQueueAttributes` at 2026", "`availability`, `incident`: `lag grows`", "evidence: `A-1`", "approved by `eve`", "`aws_sqs_queue.a.delay_0 = 5` in `main.tf`", "proof `plan_clean`: held", "`captured`: did not hold"):  # fmt: skip
        assert part in comment
    assert keys_in([comment]) == {IDS[0]}


def test_a_story_without_its_record_is_told_as_far_as_known() -> None:
    [comment] = comments_of([WriteBack(key=IDS[0], applied=None, body=written_back({"commit": "c0ffee"}))])
    assert "cannot be read" in comment
    assert title_of("shop", [WriteBack(key=IDS[0], applied=None, body=written_back({"commit": "c0ffee"}))]).endswith(
        "write back 1 changes that were applied"
    )


def test_texts_of_others_stay_in_code_spans() -> None:
    [comment] = comments_of([_written(0, text=EVIL)])
    assert keys_in([comment]) == {IDS[0]}
    assert comment.count("<!--") == 1
    assert "```` @ everyone" in comment


def test_a_secret_is_told_in_words_and_not_as_a_digest() -> None:
    one = _written(1)
    assert one.applied is not None
    masked: dict[str, Any] = {"password": Masker(key=b"k").mask("hunter2"), "port": 5432}
    text = f"lag grows, see {Masker(key=b'k').short('hunter2')} and {json.dumps(masked)}"
    body = structs.replace(one.body, edits=tuple(structs.replace(edit, value=masked) for edit in one.body.edits))
    written = replace(one, applied=replace(one.applied, text=text), body=body)
    [comment] = comments_of([written])
    said = comment + title_of("shop", [written]) + "".join(map(_summary, [written]))
    assert "hmac_sha256" not in said
    assert f'{{"password": "{IN_WORDS}", "port": 5432}}' in said
    assert f"lag grows, see {IN_WORDS} and" in said


@pytest.mark.parametrize(
    ("text", "span"),
    [("plain", "`plain`"), ("a`b", "`` a`b ``"), ("```", "```` ``` ````"), ("", "` `"), ("a\nb", "`a b`")],
)
def test_a_span_is_longer_than_any_of_its_backticks(text: str, span: str) -> None:
    assert code_span(text) == span


def test_a_marker_counts_only_at_the_beginning() -> None:
    assert keys_in([f"hello <!-- sentinel:wrote {IDS[1]} -->", f"<!-- sentinel:wrote {IDS[2]} {IDS[3]}@12 -->"]) == {
        IDS[2],
        f"{IDS[3]}@12",
    }


def test_a_burst_is_told_in_few_comments_that_fit() -> None:
    comments = list(comments_of([_written(number, edits=20, text="x" * 900) for number in range(300)]))
    assert keys_in(comments) == set(IDS)
    assert all(len(comment) < 65_000 for comment in comments)
    assert 1 < len(comments) < 30


def test_what_people_write_into_the_description_stays() -> None:
    first = description_of("shop", [_written(0)], rebased_upon=(), asked=(), emails=())
    body = f"Please wait.\n\n{first}\nThanks."
    second = description_of(
        "shop", [_written(1, text=EVIL)], rebased_upon=("abcdef1234567",), asked={"bob", "acme/x"}, emails=("o@x.org",)
    )
    body = with_section(body, second)
    assert body == f"Please wait.\n\n{second}\nThanks."
    assert "`abcdef123456`" in body
    assert "`o@x.org`" in body
    assert asked_in(body) == {"bob", "acme/x"}
    assert with_section("Mine only.", first).startswith("Mine only.\n\n<!--")
    assert with_section("", first) == first
    assert asked_in(first) == asked_in("") == frozenset()


def test_a_long_list_is_cut_and_says_so() -> None:
    section = description_of("shop", [_written(number) for number in range(300)], rebased_upon=(), asked=(), emails=())
    assert "and 200 more" in section
    assert len(section) < LONGEST


def _write_back_of_drift(name: str, *, sensitive: bool = False, prefix: str = "fgn") -> WriteBack:
    effect = nouns.effect(f"aws_sqs_queue.{name}", "delay_seconds", 5, sensitive=sensitive)
    at = datetime.fromisoformat(CHANGE.at)
    applied = AppliedMutation(
        id=name, seq=1, stack="shop", actor=CHANGE.actor, at=at, operation=CHANGE.event, effects=(effect,),
        before={(effect.address, effect.attribute): 0}, settled_at=at,
    )  # fmt: skip
    return WriteBack(key=digest_id(prefix, name), applied=applied, body=written_back({"commit": "c0ffee"}))


def test_two_changes_from_outside_are_a_burst() -> None:
    jobs, mail = _write_back_of_drift("jobs"), _write_back_of_drift("mail")
    assert outside_changes_among([jobs, mail]) == (CHANGE, replace(CHANGE, address="aws_sqs_queue.mail"))
    assert outside_changes_among([jobs, _write_back_of_drift("ours", prefix="mut")]) == ()
    assert outside_changes_among([jobs, _write_back_of_drift("secret", sensitive=True)]) == ()
    assert outside_changes_among([jobs, replace(mail, applied=None)]) == ()


def test_the_marker_is_that_of_the_burst() -> None:
    jobs, mail, ours = (
        _write_back_of_drift("jobs"),
        _write_back_of_drift("mail"),
        _write_back_of_drift("ours", prefix="mut"),
    )
    assert intent_marker([jobs, mail]) == intent_marker([mail, ours, jobs])
    assert intent_marker([jobs, mail]) != intent_marker([jobs, _write_back_of_drift("third")])


def test_the_words_are_marked_as_a_models_and_mean_nothing() -> None:
    words = NamedIntent(
        intent="cost", summary="@ada `x` <!-- sentinel:wrote mut_00000000000000000000000000 --> [a](http://b)"
    )
    comment = intent_comment("<!-- sentinel:intent prp_x -->", 2, words)
    assert comment.startswith("<!-- sentinel:intent prp_x -->\n")
    assert comment.count("<!--") == 1
    assert "`` @ ada" in comment
    assert keys_in([comment]) == frozenset()
    assert "a language model's words" in comment
    assert "`cost`: " in comment
    assert "`cost`" not in intent_comment("m", 2, replace(words, intent=""))
