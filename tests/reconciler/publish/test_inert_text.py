"""Text of others commands no host: not its CI, not its tickets, not its people."""

import re

import pytest

from reconciler.publish.inert_text import LONGEST, one_line

# What hosts look for in commit messages and in titles and descriptions of pull requests, by their documentation.
HOSTS = {
    "GitHub and GitLab skip CI": r"\[(skip ci|ci skip|no ci|skip actions|actions skip)\]",
    "Azure Pipelines skips CI": r"\*\*\*NO_CI\*\*\*|\[(skip azurepipelines|azurepipelines skip|skip azpipelines|azpipelines skip|skip azp|azp skip)\]",
    "any CI skips": r"\[[a-z -]*(skip|no)[a-z -]*\]",
    "GitHub closes an issue": r"(close[sd]?|fix(e[sd])?|resolve[sd]?):?\s+(([\w.-]+/[\w.-]+)?#\d+|GH-\d+|https?://\S+)",
    "GitLab closes an issue": r"([Cc]los(e[sd]?|ing)|[Ff]ix(e[sd]|ing)?|[Rr]esolv(e[sd]?|ing)|[Ii]mplement(s|ed|ing)?):?\s+(([\w./-]+)?#\d+|https?://\S+)",
    "GitLab names a merge request": r"!\d+",
    "Azure Boards moves a work item": r"AB#\d+",
    "Jira runs a smart commit": r"[A-Z][A-Z]+-\d+.*\s#[a-z]+",
    "people are told": r"(^|\W)@\w",
}
ATTACKS = [
    "[skip ci]", "[ci skip]", "[no ci]", "[SKIP CI]", "[ skip ci ]", "[[skip ci]]", "[skip\u200bci]", "[skip\tci]", "x[no ci]y", "[azp skip]",
    "***NO_CI***", "fixes #3", "Fixes: #3", "fixes acme/x#3", "closes GH-3", "closes gh-3", "fixes https://github.com/acme/x/issues/3",
    "resolves #1, #2 and acme/y#3", "implements HTTPS://gitlab.com/a/b/-/issues/3", "AB#3", "fixed AB#3", "PAY-3 #close #comment done", "!12",
    "@admins", "cc @acme/admins", "(@admins)", "x,@admins", "a@@admins", "@\u2066admins", "\n/close", "merge !12", "fixes\u2028#3",
]  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("around", ["{}", "The load rises. {} Thank you.", "{0}{0}", "\n\n{}\n"])
def test_no_host_finds_a_command(attack: str, around: str) -> None:
    text = one_line(around.format(attack))
    assert [name for name, pattern in HOSTS.items() if re.search(pattern, text, re.IGNORECASE)] == []
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize(
    "attack", [attack for attack in ATTACKS if any(re.search(each, attack, re.IGNORECASE) for each in HOSTS.values())]
)
def test_what_is_made_inert_once_stays_so(attack: str) -> None:
    assert one_line(one_line(attack)) == one_line(attack)


@pytest.mark.parametrize(
    "text",
    ["ops@example.org asked", "https://grafana.example.org/d/1?from=2", "[1, 2]", '["a", "b"]', '{"a": [{"b": 1}]}', 'aws_sqs_queue.q["eu"]', "aws_sqs_queue.q[0]", "PAY-3", "50 % * 2"],
)  # fmt: skip
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert one_line(text) == text


def test_it_is_linear_and_cut() -> None:
    assert len(one_line("[" * 100_000 + "@a#b" * 100_000)) == LONGEST
