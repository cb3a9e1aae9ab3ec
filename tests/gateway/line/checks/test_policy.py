"""The policy check: objections become findings, and an invalid answer raises, which denies."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gateway.core.errors import PolicyUnavailable
from gateway.core.model.facts import Facts
from gateway.core.model.json import Json
from gateway.core.model.verdict import Mode, Verdict
from gateway.line.checks.policy import GuardrailsCheck
from tests.kit import nouns

MUTATION = nouns.mutation()
FACTS = Facts(now=datetime(2026, 3, 1, tzinfo=UTC), stack="", mode=Mode.ENFORCE, subjects=())
FINDING: Mapping[str, Json] = {
    "id": "SEN-N001",
    "verdict": "deny",
    "message": "No.",
    "address": "aws_x.a",
    "attribute": "v",
}


class Answers:
    """An engine that gives one answer."""

    revision = "r1"
    flip_window = timedelta(days=1)

    def __init__(self, answer: Json) -> None:
        self._answer = answer

    async def ask(self, entrypoint: str, document: Json) -> Json:
        assert entrypoint == "sentinel/guardrails/result"
        assert isinstance(document, Mapping)
        return self._answer


def check(answer: Json, packages: tuple[str, ...] = ("network",)) -> GuardrailsCheck:
    return GuardrailsCheck(Answers(answer), lambda: packages)


async def test_no_objection_passes_and_names_the_bundle() -> None:
    opinion = await check({"evaluated": {"network": True, "more": True}, "findings": []}).examine(MUTATION, FACTS)
    assert [finding.verdict for finding in opinion.findings] == [Verdict.ALLOW]
    assert opinion.bundle == "r1"


async def test_objections_become_findings() -> None:
    answer: Json = {"evaluated": {"network": True}, "findings": [FINDING, {**FINDING, "verdict": "hold"}]}
    opinion = await check(answer).examine(MUTATION, FACTS)
    assert [
        (each.check, each.rule, each.verdict.value, each.reason, each.address, each.attribute)
        for each in opinion.findings
    ] == [
        ("policy", "SEN-N001", "deny", "No.", "aws_x.a", "v"),
        ("policy", "SEN-N001", "hold", "No.", "aws_x.a", "v"),
    ]


@pytest.mark.parametrize(
    "answer",
    [
        None, True, [], "x", {}, {"evaluated": {"network": True}}, {"findings": []}, {"evaluated": {}, "findings": []}, {"evaluated": {"network": False}, "findings": []},
        {"evaluated": {"network": 1}, "findings": []}, {"evaluated": {"other": True}, "findings": []}, {"evaluated": True, "findings": []}, {"evaluated": {"network": True}, "findings": {}},
        {"evaluated": {"network": True}, "findings": None}, {"evaluated": {"network": True}, "findings": [], "allow": True}, {"evaluated": {"network": True}, "findings": ["x"]},
        {"evaluated": {"network": True}, "findings": [{**FINDING, "verdict": "allow"}]}, {"evaluated": {"network": True}, "findings": [{**FINDING, "id": ""}]},
        {"evaluated": {"network": True}, "findings": [{**FINDING, "message": None}]}, {"evaluated": {"network": True}, "findings": [{**FINDING, "extra": 1}]},
        {"evaluated": {"network": True}, "findings": [{"id": "x", "verdict": "deny"}]}, {"evaluated": {"network": True}, "findings": [{**FINDING, "address": None}]},
    ],
)  # fmt: skip
async def test_an_invalid_answer_raises(answer: Json) -> None:
    with pytest.raises(PolicyUnavailable):
        await check(answer).examine(MUTATION, FACTS)


async def test_no_guardrail_at_all_raises() -> None:
    with pytest.raises(PolicyUnavailable, match="there is none"):
        await check({"evaluated": {}, "findings": []}, packages=()).examine(MUTATION, FACTS)


async def test_a_finding_that_quotes_a_judged_document_keeps_no_secret_of_it() -> None:
    effect = nouns.effect("aws_x.a", "v", "{}", judged="{}", sensitive=True)
    answer: Json = {
        "evaluated": {"network": True},
        "findings": [{**FINDING, "message": "It lets x://a:hunter2@b read."}],
    }
    opinion = await check(answer).examine(replace(MUTATION, effects=(effect,)), FACTS)
    assert [each.reason for each in opinion.findings] == ["It lets x://a:hmac_sha256:@b read."]


class Reader(Answers):
    """An engine that objects to what a document holds."""

    def __init__(self, word: str) -> None:
        super().__init__(None)
        self._word = word

    async def ask(self, entrypoint: str, document: Json) -> Json:
        findings = [FINDING] if self._word in str(document) else []
        return {"evaluated": {"network": True}, "findings": findings}


@pytest.mark.parametrize(("word", "exact"), [("s3cret", False), ("absent", True)])
async def test_what_is_kept_of_a_question_has_no_secret_and_says_whether_one_decided(word: str, exact: bool) -> None:
    effect = nouns.effect("aws_x.a", "v", '{"k": "hmac_sha256:0000"}', judged='{"k": "s3cret"}', sensitive=True)
    facts = nouns.facts(nouns.subject(effect))
    opinion = await GuardrailsCheck(Reader(word), lambda: ("network",)).examine(nouns.mutation(effect), facts)
    [asked] = opinion.asked
    assert asked.exact is exact
    assert "s3cret" not in str(asked.document)
    assert "hmac_sha256:0000" in str(asked.document)
