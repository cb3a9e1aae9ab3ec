"""Reading a stack's files from a commit: which branch is the protected one, and that only what is committed there is read."""

from pathlib import Path

import pytest

from gateway.core.errors import CodeInvalid
from gateway.terraform.repository import Checkout, find_checkout
from tests.kit.git import clone, commit, git, repository


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A repository with a stack in a folder and a module beside it."""
    for name, text in {
        "infra/prod/main.tf": "# one\n",
        "infra/modules/m/m.tf": "# m\n",
        "infra/prod/x.txt": "",
    }.items():
        (tmp_path / "made" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "made" / name).write_text(text)
    return repository(tmp_path / "made")


def found(path: Path) -> Checkout:
    checkout = find_checkout(path)
    assert checkout is not None
    return checkout


def read(checkout: Checkout, path: str, wanted: str = "") -> bytes:
    with checkout.files(checkout.commit(checkout.protected_ref(wanted))) as files:
        return files.read(path)


# Where the checkout is -----------------------------------------------------------------------------------------------


def test_a_checkout_is_found_from_inside_and_through_links(made: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(made / "infra" / "prod")
    assert found(made) == Checkout(top=made, prefix=".")
    assert found(made / "infra" / "prod") == found(tmp_path / "link") == Checkout(top=made, prefix="infra/prod")


def test_without_git_there_is_none(tmp_path: Path) -> None:
    assert find_checkout(tmp_path) is None


def test_the_search_ends_where_gits_own_would(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", f"/nowhere:{made / 'infra'}")
    assert find_checkout(made / "infra" / "prod") is None
    assert find_checkout(made) is not None


def test_a_repository_that_cannot_be_read_is_said_and_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    with pytest.raises(CodeInvalid, match="The git repository cannot be read"):
        found(tmp_path).protected_ref()


# Which branch is the protected one -------------------------------------------------------------------------------------


def test_without_a_remote_it_is_main(made: Path) -> None:
    git(made, "checkout", "--quiet", "-b", "other")
    assert found(made).protected_ref() == "refs/heads/main"


def test_an_older_name_counts_too(tmp_path: Path) -> None:
    (tmp_path / "a.tf").touch()
    assert found(repository(tmp_path, branch="master")).protected_ref() == "refs/heads/master"


def test_in_a_clone_it_is_what_the_remote_has(made: Path, tmp_path: Path) -> None:
    copy = clone(made, tmp_path / "copy")
    assert found(copy).protected_ref() == "refs/remotes/origin/main"
    git(copy, "checkout", "--quiet", "-b", "other")
    assert found(copy).protected_ref() == "refs/remotes/origin/main"
    git(copy, "checkout", "--quiet", "--detach")
    assert found(copy).protected_ref() == "refs/remotes/origin/main"


def test_the_upstream_of_the_branch_that_is_checked_out_comes_first(made: Path, tmp_path: Path) -> None:
    git(made, "branch", "live")
    copy = clone(made, tmp_path / "copy")
    git(copy, "checkout", "--quiet", "live")
    assert found(copy).protected_ref() == "refs/remotes/origin/live"
    git(copy, "checkout", "--quiet", "-b", "mine", "--track", "main")
    assert found(copy).protected_ref() == "refs/heads/main"


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("main", "refs/remotes/origin/main"),
        ("origin/main", "refs/remotes/origin/main"),
        ("refs/heads/main", "refs/heads/main"),
        ("mine", "refs/heads/mine"),
        ("HEAD", "HEAD"),
    ],
)
def test_a_setting_names_it(made: Path, tmp_path: Path, wanted: str, expected: str) -> None:
    copy = clone(made, tmp_path / "copy")
    git(copy, "branch", "--no-track", "mine")
    assert found(copy).protected_ref(wanted) == expected


@pytest.mark.parametrize("wanted", ["production", "refs/heads/gone", "../../main", "main~1", "", "refs/../HEAD"])
def test_a_branch_that_is_not_there_is_said(tmp_path: Path, wanted: str) -> None:
    (tmp_path / "a.tf").touch()
    with pytest.raises(CodeInvalid, match="Set `protected_branch` of the stack"):
        found(repository(tmp_path, branch="trunk")).protected_ref(wanted)


def test_a_branch_that_goes_away_is_said(made: Path) -> None:
    git(made, "checkout", "--quiet", "-b", "other")
    git(made, "branch", "--quiet", "-D", "main")
    with pytest.raises(CodeInvalid, match="refs/heads/main is gone"):
        found(made).commit("refs/heads/main")


# What is read ----------------------------------------------------------------------------------------------------------


def test_only_what_is_committed_on_the_branch_is_read(made: Path) -> None:
    stack = made / "infra" / "prod"
    (stack / "main.tf").write_text("# changed\n")
    (stack / "more.tf").touch()
    git(made, "add", "--all")
    assert read(found(stack), "main.tf") == b"# one\n"
    git(made, "checkout", "--quiet", "-b", "other")
    commit(made)
    assert read(found(stack), "main.tf") == b"# one\n"
    git(made, "checkout", "--quiet", "main")
    git(made, "merge", "--quiet", "other")
    assert read(found(stack), "main.tf") == b"# changed\n"


def test_directories_have_names_and_modules_may_lie_beside(made: Path) -> None:
    checkout = found(made / "infra" / "prod")
    with checkout.files(checkout.commit("refs/heads/main")) as files:
        files.check()
        assert set(files.names(".")) == {"main.tf", "x.txt"}
        assert list(files.names("../modules/m")) == ["m.tf"]
        assert files.read("../modules/m/m.tf") == b"# m\n"
        assert not files.names("nowhere")
        assert not files.names("main.tf")
        for path in ("nowhere.tf", "../modules", "../../../../etc/passwd", "/etc/passwd"):
            with pytest.raises(CodeInvalid):
                files.read(path)


def test_a_stack_that_the_commit_does_not_have_is_said(made: Path) -> None:
    (made / "new").mkdir()
    checkout = found(made / "new")
    with checkout.files(checkout.commit("refs/heads/main")) as files, pytest.raises(CodeInvalid, match="no such dir"):
        files.check()


@pytest.mark.parametrize("steps", [("gc", "--quiet", "--aggressive"), ("pack-refs", "--all"), ("repack", "-adq")])
def test_packed_objects_and_refs_are_read(made: Path, steps: tuple[str, ...]) -> None:
    for number in range(20):
        (made / "infra" / "prod" / "main.tf").write_text("# a long line that deltas are made of\n" * 200 + str(number))
        commit(made)
    git(made, *steps)
    assert read(found(made / "infra" / "prod"), "main.tf").endswith(b"19")


def test_a_worktree_has_the_branches_of_its_repository(made: Path, tmp_path: Path) -> None:
    git(made, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "tree"))
    (tmp_path / "tree" / "infra" / "prod" / "main.tf").write_text("# changed\n")
    commit(tmp_path / "tree")
    assert read(found(tmp_path / "tree" / "infra" / "prod"), "main.tf") == b"# one\n"
    assert read(found(tmp_path / "tree" / "infra" / "prod"), "main.tf", "HEAD") == b"# changed\n"


def test_a_shallow_clone_is_enough(made: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{made}", "copy")
    assert read(found(tmp_path / "copy" / "infra" / "prod"), "main.tf") == b"# one\n"


def test_a_tag_names_its_commit(made: Path) -> None:
    git(made, "tag", "-a", "-m", "first", "v1")
    (made / "infra" / "prod" / "main.tf").write_text("# changed\n")
    commit(made)
    assert read(found(made / "infra" / "prod"), "main.tf", "refs/tags/v1") == b"# one\n"


def test_links_are_followed_inside_the_repository_and_never_out_of_it(made: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.tf").write_text("# secret\n")
    stack = made / "infra" / "prod"
    links = {"m.tf": "../modules/m/m.tf", "d": "../modules", "out.tf": "../../../secret.tf", "abs.tf": str(tmp_path / "secret.tf"), "self.tf": "self.tf", "gone.tf": "gone", "dir.tf": "../modules/m"}  # fmt: skip
    for name, target in links.items():
        (stack / name).symlink_to(target)
    commit(made)
    checkout = found(stack)
    with checkout.files(checkout.commit("refs/heads/main")) as files:
        assert files.read("m.tf") == files.read("d/m/m.tf") == b"# m\n"
        assert list(files.names("d/m")) == ["m.tf"]
        for name, words in {"out.tf": "out of the git", "abs.tf": "out of the git", "self.tf": "circle", "gone.tf": "no such", "dir.tf": "no such"}.items():  # fmt: skip
            with pytest.raises(CodeInvalid, match=words):
                files.read(name)


def test_small_files_are_read_and_none_behind_a_link(made: Path) -> None:
    (made / "t").mkdir()
    (made / "t/a").write_text("12345")
    (made / "linked").symlink_to("t/a")
    (made / "folder").symlink_to("t")
    checkout = find_checkout(made)
    assert checkout is not None
    with checkout.files(commit(made)) as files:
        assert files.small("t/a", 5) == b"12345"
        assert files.small("./t/../t/a", 5) == b"12345"
        for path, most in (("t/a", 4), ("linked", 5), ("folder/a", 5), ("t", 5), ("gone", 5), ("../../x", 5)):
            assert files.small(path, most) is None


def test_a_submodule_has_no_files_here(made: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.tf").touch()
    repository(other)
    git(made, "submodule", "--quiet", "add", str(other), "infra/prod/sub")
    commit(made)
    checkout = found(made / "infra" / "prod")
    with checkout.files(checkout.commit("refs/heads/main")) as files:
        assert not files.names("sub")


def test_a_damaged_object_is_said(made: Path) -> None:
    name = git(made, "rev-parse", "HEAD:infra/prod/main.tf")
    path = made / ".git" / "objects" / name[:2] / name[2:]
    path.chmod(0o644)
    path.write_bytes(b"damaged")
    with pytest.raises(CodeInvalid, match=f"The git object {name} cannot be read"):
        read(found(made / "infra" / "prod"), "main.tf")
