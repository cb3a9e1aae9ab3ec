"""Patterns match as GitHub documents them; the last one that matches decides."""

import pytest

from reconciler.publish.codeowners import Owners, owners_of, read_rules

DOCUMENTED = """
# Comments are ignored.
*       @global-owner1 @global-owner2
*.js    @js-owner #This is an inline comment.
*.go docs@example.com
*.txt @octo-org/octocats
/build/logs/ @doctocat
docs/*  docs-dir@example.com
apps/ @octocat
/docs/ @doctocat
/scripts/ @doctocat @octocat
**/logs @log-owner
/apps/ @octocat
/apps/github
/a\\ b/ @blank
!/never @nobody
/bad[0-9] @nobody
"""
"""The example of GitHub's documentation, with patterns that GitHub does not support at its end."""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("README", Owners(users=("global-owner1", "global-owner2"))),
        ("deep/down/x.js", Owners(users=("js-owner",))),
        ("x.go", Owners(emails=("docs@example.com",))),
        ("sub/x.txt", Owners(teams=("octo-org/octocats",))),
        ("build/logs/deep/x", Owners(users=("log-owner",))),
        ("other/docs/x", Owners(users=("global-owner1", "global-owner2"))),
        ("docs/x", Owners(users=("doctocat",))),
        ("docs/deep/x", Owners(users=("doctocat",))),
        ("deep/apps/x", Owners(users=("octocat",))),
        ("apps/x", Owners(users=("octocat",))),
        ("apps/github", Owners()),
        ("apps/github/x", Owners()),
        ("scripts/x", Owners(users=("doctocat", "octocat"))),
        ("deeply/nested/logs/x", Owners(users=("log-owner",))),
        ("a b/x", Owners(users=("blank",))),
        ("never", Owners(users=("global-owner1", "global-owner2"))),
        ("bad5", Owners(users=("global-owner1", "global-owner2"))),
    ],
)
def test_the_documented_example(path: str, owners: Owners) -> None:
    assert owners_of(read_rules(DOCUMENTED), [path]) == owners


def test_a_star_does_not_reach_into_directories_below() -> None:
    rules = read_rules("docs/* @flat")
    assert owners_of(rules, ["docs/a.md"]).users == ("flat",)
    assert owners_of(rules, ["docs/build/a.md", "x/docs/a.md"]) == Owners()


def test_several_files_have_the_owners_of_each() -> None:
    rules = read_rules("/a/ @ada @acme/platform\n/b/ @bob @ada\nmain?.tf @cy\n")
    assert owners_of(rules, ["a/x.tf", "b/y.tf", "a/main1.tf"]) == Owners(
        users=("ada", "bob", "cy"), teams=("acme/platform",)
    )


def test_lines_that_cannot_be_read_are_skipped() -> None:
    assert owners_of(read_rules("* @ok\n*.tf not-an-owner\n*.tf @bad/team/x\n"), ["main.tf"]).users == ("ok",)


def test_no_file_owns_nothing() -> None:
    assert owners_of(read_rules(""), ["main.tf"]) == Owners()


@pytest.mark.parametrize(
    ("pattern", "path", "owned"),
    [
        ("a*b*c.tf", "aXbYbZc.tf", True),
        ("a*b*c.tf", "acb.tf", False),
        ("*a*a", "bab/x", False),
        ("*a*a", "baba/x", True),
        ("ma*?.tf", "ma.tf", False),
        ("x**y.tf", "x-y.tf", True),
        ("a*" * 40 + "b", "a" * 200, False),
        ("a*" * 40 + "b", "a" * 200 + "b", True),
        ("**/a" * 4, "a/a/a/a/a", False),
    ],
)
def test_stars_cost_little_however_many_there_are(pattern: str, path: str, owned: bool) -> None:
    """Tried in every way, forty of them would not end within a life."""
    assert (owners_of(read_rules(f"{pattern} @ada"), [path]).users == ("ada",)) is owned
