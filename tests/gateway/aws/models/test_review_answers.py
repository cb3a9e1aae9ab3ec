"""The tool shows what nobody has reviewed and what is wrong in a review; the review that ships is whole and has no sibling that passes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from gateway.aws.models.answer_review import Answer, Passed, Review, review
from gateway.aws.models.call_classes import shipped
from gateway.aws.models.generate_call_classes import reads
from gateway.aws.models.review_answers import all_answers, described, main, problems, unreviewed, with_passed
from gateway.core.model.mutation import CallClass

SHAPES = {
    "Text": {"type": "string"},
    "GetKey": {"type": "structure", "members": {"Key": {"shape": "Key"}}},
    "ListKeys": {"type": "structure", "members": {"Keys": {"shape": "Keys"}}},
    "Keys": {"type": "list", "member": {"shape": "Key"}},
    "Key": {"type": "structure", "members": {"Value": {"shape": "Text", "documentation": "<p>The secret value.</p>"}}},
    "GetTwin": {"type": "structure", "members": {"Value": {"shape": "Text"}}},
    "GetName": {"type": "structure", "members": {"Name": {"shape": "Text"}}},
}
ANSWERS = [
    Answer("s", name, SHAPES, {"output": {"shape": name}, "documentation": "<p>Gets <i>it</i>.</p>"})
    for name in ("GetKey", "GetName", "GetTwin", "ListKeys")
]
REASONS = {"names": "Names.", "about": "About.", "doubted": "Doubted."}


def known(hands_out: str = "Key.Value", **rows: str) -> Review:
    passed = {
        ("s", each.operation): Passed(fingerprint=each.fingerprint, reasons=tuple(rows[each.operation].split()))
        for each in ANSWERS
        if each.operation in rows
    }
    return Review(reasons=REASONS, hands_out={"s": frozenset({hands_out})}, spared={}, doubts={}, passed=passed)


def test_a_review_without_contradictions_has_no_problem() -> None:
    assert problems(ANSWERS, known(GetName="names")) == []


def test_a_sibling_of_a_refused_read_may_not_pass() -> None:
    (problem,) = problems(ANSWERS, known(GetName="names", ListKeys="about"))
    assert problem.startswith("s:ListKeys passes, but its answer has what siblings are refused for: Key.Value")
    spared = replace(known(ListKeys="about doubted"), spared={("s", "ListKeys"): "AWS leaves it out."})
    assert problems(ANSWERS, spared) == []


def test_a_twin_under_another_structure_needs_a_sentence() -> None:
    (problem,) = problems(ANSWERS, known(GetTwin="names"))
    assert "s:GetTwin passes with the twin of a member that hands out a secret" in problem
    doubted = replace(known(GetTwin="doubted"), doubts={("s", "GetTwin"): "It is a name."})
    assert problems(ANSWERS, doubted) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (known(GetName="nonsense"), "passes without a reason, or with one that is not in"),
        (known(GetName=""), "passes without a reason"),
        (known(GetName="doubted"), "s:GetName is doubted, or has a sentence"),
        (replace(known(GetName="names"), doubts={("s", "GetName"): "A name."}), "s:GetName is doubted, or has a sentence"),
        (replace(known("GetName.Name", GetKey="names")), "these speak of a secret: Key.Value"),
        (known("Gone.Member"), "no answer of s has the member Gone.Member"),
        (replace(known(), passed={("s", "Gone"): Passed(fingerprint="", reasons=("names",))}), "passed: botocore has no operation s:Gone"),
        (replace(known(), doubts={("s", "Gone"): "?"}), "doubts: botocore has no operation s:Gone"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_review_is_said(given: Review, said: str) -> None:
    assert any(said in problem for problem in problems(ANSWERS, given))


def test_what_is_new_or_changed_is_unreviewed_and_what_is_refused_is_not() -> None:
    changed = replace(known(), passed={("s", "GetName"): Passed(fingerprint="00000000", reasons=("names",))})
    assert [each.operation for each in unreviewed(ANSWERS, changed)] == ["GetName", "GetTwin"]
    assert [each.operation for each in unreviewed(ANSWERS, with_passed(changed, ANSWERS[1], ["names"]))] == ["GetTwin"]


def test_an_answer_is_described_with_what_aws_says_about_it() -> None:
    text = described(ANSWERS[0], known())
    assert text.splitlines() == ["s:GetKey (new)", "  Gets it .", "    Key.Value: The secret value."]
    changed = replace(known(), passed={("s", "GetKey"): Passed(fingerprint="00000000", reasons=("names",))})
    assert "other texts than when it was reviewed" in described(ANSWERS[0], changed)


@pytest.fixture(scope="module")
def answers() -> Iterator[tuple[Answer, ...]]:
    """The answers of all reads. The tool gets these: reading the models of AWS takes two seconds."""
    found = tuple(reads())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gateway.aws.models.review_answers.reads", lambda: iter(found))
        yield found


@pytest.mark.slow
@pytest.mark.usefixtures("answers")
def test_only_a_read_with_a_known_reason_is_written_down() -> None:
    for wrong in (["ec2:RunInstances", "names"], ["ec2:DescribeVpcs"], ["ec2:DescribeVpcs", "because"]):
        with pytest.raises(SystemExit, match="Nothing was written"):
            main(["--pass", *wrong])


@pytest.mark.slow
@pytest.mark.usefixtures("answers")
def test_the_review_that_ships_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    """No name is unknown, no sibling or twin passes, each doubt has its sentence, and nothing is unreviewed."""
    assert main([]) == 0, capsys.readouterr().out
    print(capsys.readouterr().out)


@pytest.mark.slow
def test_each_read_passes_or_is_refused_for_a_member_or_for_want_of_a_review(answers: Sequence[Answer]) -> None:
    table, judged = shipped(), review()
    for answer in answers:
        expected = CallClass.READ if answer.passes(judged) else CallClass.SECRET
        assert table.of(answer.service, answer.operation) is expected, answer.name


@pytest.mark.slow
def test_each_refused_read_says_which_member_hands_out_the_secret() -> None:
    """Otherwise nobody could find its siblings."""
    table, judged = shipped(), review()
    refused = (CallClass.SECRET, CallClass.CREDENTIAL)
    silent = [
        each.name
        for each in all_answers()
        if table.of(each.service, each.operation) in refused and not each.handed_out(judged)
    ]
    assert silent == []


def test_a_read_of_a_newer_botocore_is_no_read() -> None:
    fields: dict[str, Any] = {"service": "ec2", "operation": "DescribeTomorrow"}
    assert shipped().of(**fields) is CallClass.MUTATION
