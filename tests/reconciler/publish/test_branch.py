"""The branch moves only by commits of ours, on a checked commit, in a worktree that has what a plan needs."""

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from reconciler.errors import BranchConflict, ForeignCommit, GitFailed
from reconciler.publish.branch import Branch, OwnCommits, add_untracked_files, open_branch, open_protected
from reconciler.publish.git import mutations_in, trailer_keys


def test_commits_are_listed_and_half_a_line_spoils_no_other(tmp_path: Path) -> None:
    own = OwnCommits(path=tmp_path / "kept" / "commits")
    assert own.all() == frozenset()
    own.add("a" * 40)
    with own.path.open("a") as file:
        file.write("bbb")
    own.add("c" * 40)
    assert own.all() >= {"a" * 40, "c" * 40}


Git = Callable[..., str]
MAIN = Path("main.tf")


async def _open(repository: Path, tmp_path: Path, name: str = "sentinel/shop") -> Branch:
    return await open_branch(source=repository, worktree=tmp_path / "worktree", name=name)


def _message(mutation: str) -> str:
    return f"A change\n\nWhy: reasons\n\nSentinel-Mutation: {mutation}\nSentinel-Actor: a\n"


async def test_a_commit_goes_to_the_branch_and_nowhere_else(repository: Path, tmp_path: Path, git: Git) -> None:
    (repository / "main.tf").write_text("my own work\n")
    git(repository, "add", "main.tf")
    before = git(repository, "status", "--porcelain=v1"), git(repository, "rev-parse", "HEAD")
    hooks = tmp_path / "repository/.git/hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (hooks / "pre-commit").chmod(0o755)

    branch = await _open(repository, tmp_path)
    commit = await branch.commit({MAIN: b"locals {\n  a = 2\n}\n"}, _message("mut_1"))

    assert (git(repository, "status", "--porcelain=v1"), git(repository, "rev-parse", "HEAD")) == before
    assert git(repository, "show", f"{commit}:infra/shop/main.tf") == "locals {\n  a = 2\n}\n"
    assert git(repository, "rev-parse", "sentinel/shop").strip() == commit
    assert "-  a = 1\n+  a = 2" in await branch.diff(commit)
    assert await branch.find("mut_1") == commit
    assert await branch.find("mut_") == ""


async def test_a_killed_run_leaves_nothing_behind(repository: Path, tmp_path: Path) -> None:
    branch = await _open(repository, tmp_path)
    (branch.root / "main.tf").write_text("half")
    directory = Path((branch.worktree / ".git").read_text().removeprefix("gitdir:").strip())
    (directory / "index.lock").touch()

    again = await _open(repository, tmp_path)

    assert (again.root / "main.tf").read_text() == "locals {\n  a = 1\n}\n"
    assert await again.commit({MAIN: b"x = 1\n"}, _message("mut_1"))


async def test_a_worktree_that_was_deleted_is_made_again(repository: Path, tmp_path: Path, git: Git) -> None:
    branch = await _open(repository, tmp_path)
    commit = await branch.commit({MAIN: b"x = 1\n"}, _message("mut_1"))
    shutil.rmtree(branch.worktree)
    assert await (await _open(repository, tmp_path)).find("mut_1") == commit


async def test_the_branch_takes_in_what_the_protected_branch_got(repository: Path, tmp_path: Path, git: Git) -> None:
    branch = await _open(repository, tmp_path)
    await branch.commit({MAIN: b"locals {\n  a = 2\n}\n"}, _message("mut_1"))
    (repository / "other.tf").write_text("locals {}\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "second")

    again = await _open(repository, tmp_path)

    assert (again.root / "other.tf").exists()
    assert (again.root / "main.tf").read_text() == "locals {\n  a = 2\n}\n"
    assert not await again.is_merged()
    git(repository, "merge", "-q", "sentinel/shop")
    assert await (await _open(repository, tmp_path)).is_merged()


async def test_a_conflict_is_reported_and_leaves_the_branch_as_it_was(
    repository: Path, tmp_path: Path, git: Git
) -> None:
    branch = await _open(repository, tmp_path)
    commit = await branch.commit({MAIN: b"locals {\n  a = 2\n}\n"}, _message("mut_1"))
    (repository / "main.tf").write_text("locals {\n  a = 3\n}\n")
    git(repository, "commit", "-qam", "second")
    with pytest.raises(BranchConflict, match="same lines"):
        await _open(repository, tmp_path)
    assert git(repository, "rev-parse", "sentinel/shop").strip() == commit


@pytest.mark.parametrize(
    "name", ["", "-x", "a..b", "a b", "a/", "x.lock", "a\nb", "--upload-pack=x", "refs/../x", "a/-b"]
)
async def test_a_bad_branch_name_is_refused(repository: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(GitFailed):
        await _open(repository, tmp_path, name)


async def test_a_file_beside_the_stack_is_committed(repository: Path, tmp_path: Path, git: Callable[..., str]) -> None:
    (repository / "env").mkdir()
    (repository / "env/main.tf").write_text("locals {}\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "an environment")
    branch = await open_branch(source=repository / "env", worktree=tmp_path / "worktree", name="sentinel/shop")
    beside = Path("../main.tf")
    assert await branch.tracked([beside, Path("main.tf"), Path("../none.tf")]) == {beside, Path("main.tf")}
    commit = await branch.commit({beside: b"# edited\n"}, "Sentinel: a module")
    assert (await branch.diff(commit)).startswith("diff --git a/infra/shop/main.tf b/infra/shop/main.tf")


async def test_a_path_that_leads_out_is_refused(repository: Path, tmp_path: Path) -> None:
    branch = await _open(repository, tmp_path)
    (branch.root / "link.tf").symlink_to(tmp_path / "outside")
    for path in (Path("../../../outside"), Path("link.tf"), Path("../../.git")):
        with pytest.raises(GitFailed, match="leads out"):
            await branch.commit({path: b"x"}, _message("mut_1"))
    assert not (tmp_path / "outside").exists()


async def test_a_directory_without_a_repository_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "alone").mkdir()
    with pytest.raises(GitFailed, match="git rev-parse"):
        await _open(tmp_path / "alone", tmp_path)


@pytest.mark.parametrize("mutation", ["", "mut_1\nx", "--all", "a b"])
async def test_a_bad_mutation_id_is_refused(repository: Path, tmp_path: Path, mutation: str) -> None:
    branch = await _open(repository, tmp_path)
    if mutation == "--all":
        assert await branch.find(mutation) == ""
    else:
        with pytest.raises(GitFailed):
            await branch.find(mutation)


async def test_what_git_does_not_track_is_known(repository: Path, tmp_path: Path) -> None:
    branch = await _open(repository, tmp_path)
    assert await branch.tracked([MAIN, Path("x.tfvars")]) == {MAIN}


async def test_a_branch_that_was_moved_since_it_was_checked_stays_where_it_was_moved_to(
    repository: Path, tmp_path: Path, git: Git
) -> None:
    branch = await _open(repository, tmp_path)
    moved = git(repository, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "theirs").strip()
    git(repository, "update-ref", "refs/heads/sentinel/shop", moved)
    with pytest.raises(GitFailed, match="update-ref"):
        await branch.commit({MAIN: b"x = 1\n"}, _message("mut_1"))
    assert git(repository, "rev-parse", "sentinel/shop").strip() == moved
    with pytest.raises(ForeignCommit, match=moved[:12]):
        await _open(repository, tmp_path)


async def test_a_commit_that_the_ledger_names_is_ours_even_if_our_list_is_lost(
    repository: Path, tmp_path: Path
) -> None:
    branch = await _open(repository, tmp_path)
    commit = await branch.commit({MAIN: b"x = 1\n"}, _message("mut_1"))
    branch.own.path.unlink()
    with pytest.raises(ForeignCommit):
        await _open(repository, tmp_path)
    again = await open_branch(
        source=repository, worktree=tmp_path / "worktree", name="sentinel/shop", recorded=frozenset({commit})
    )
    assert await again.head() == commit


async def test_killed_between_the_commit_and_the_branch_it_starts_again_from_the_branch(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    branch = await _open(repository, tmp_path)
    before = await branch.head()
    with monkeypatch.context() as patched:
        patched.setattr(Branch, "advance", _killed)
        with pytest.raises(KeyboardInterrupt):
            await branch.commit({MAIN: b"x = 1\n"}, _message("mut_1"))
    again = await _open(repository, tmp_path)
    assert await again.head() == before
    assert await again.find("mut_1") == ""


async def test_the_protected_branch_is_read_in_a_worktree_of_its_own(
    repository: Path, tmp_path: Path, git: Git
) -> None:
    (repository / "main.tf").write_text("not committed\n")
    protected = await open_protected(source=repository, worktree=tmp_path / "protected")
    assert (protected.root / "main.tf").read_text() == "locals {\n  a = 1\n}\n"
    assert git(repository, "branch", "--list", "--format=%(refname:short)").split() == [
        git(repository, "branch", "--show-current").strip()
    ]


async def test_the_branch_can_be_checked_out_and_moves_under_nobodys_feet(
    repository: Path, tmp_path: Path, git: Git
) -> None:
    main = git(repository, "branch", "--show-current").strip()
    branch = await _open(repository, tmp_path)
    first = await branch.commit({MAIN: b"locals {\n  a = 2\n}\n"}, _message("mut_1"))

    git(repository, "checkout", "--quiet", "sentinel/shop")
    assert git(repository, "rev-parse", "HEAD").strip() == first
    with pytest.raises(GitFailed, match=r"is checked out in .*repository, so nothing was written"):
        await open_branch(source=repository, worktree=tmp_path / "worktree", name="sentinel/shop", protected=main)
    assert git(repository, "status", "--porcelain") == ""

    git(repository, "checkout", "--quiet", main)
    again = await _open(repository, tmp_path)
    assert await again.commit({MAIN: b"locals {\n  a = 3\n}\n"}, _message("mut_2"))
    git(repository, "checkout", "--quiet", "sentinel/shop")


async def test_a_deleted_worktree_on_the_branch_stands_in_nobodys_way(
    repository: Path, tmp_path: Path, git: Git
) -> None:
    await (await _open(repository, tmp_path)).commit({MAIN: b"x = 1\n"}, _message("mut_1"))
    git(repository, "worktree", "add", "--quiet", str(tmp_path / "review"), "sentinel/shop")
    with pytest.raises(GitFailed, match=r"checked out in .*review"):
        await _open(repository, tmp_path)
    shutil.rmtree(tmp_path / "review")
    assert await (await _open(repository, tmp_path)).find("mut_1")


async def test_a_correction_is_found_by_the_record_it_corrects(repository: Path, tmp_path: Path, git: Git) -> None:
    branch = await _open(repository, tmp_path)
    first = await branch.commit({MAIN: b"x = 1\n"}, _message("mut_1"))
    assert await branch.find("mut_1", corrects=7) == ""
    second = await branch.commit({MAIN: b"x = 2\n"}, f"{_message('mut_1')}Sentinel-Corrects: 7\n")
    assert await branch.find("mut_1", corrects=7) == second
    assert first != second
    assert await mutations_in(repository, "sentinel/shop") == {"mut_1", "mut_1@7"}
    assert await mutations_in(repository) == set()


async def _killed(*_: object) -> None:
    raise KeyboardInterrupt


async def test_untracked_inputs_are_copied_fresh_and_state_is_not(repository: Path, tmp_path: Path) -> None:
    (repository / ".gitignore").write_text("*.tfvars\n*.zip\n.terraform/\n*.tfstate\n")
    for name in (
        "local.tfvars",
        "build/function.zip",
        ".terraform/providers/x",
        "terraform.tfstate",
        ".terraform.lock.hcl",
    ):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(name)
    (repository / "link.tfvars").symlink_to("/etc/hostname")
    branch = await open_branch(source=repository, worktree=tmp_path / "worktree", name="sentinel/shop")
    (branch.root / "stale.tfvars").write_text("gone in the checkout")

    await add_untracked_files(branch)

    found = {str(path.relative_to(branch.root)) for path in branch.root.rglob("*") if path.is_file()}
    assert found == {"main.tf", ".gitignore", "local.tfvars", "build/function.zip", ".terraform.lock.hcl"}


async def test_untracked_inputs_of_a_module_beside_the_stack_are_copied(
    repository: Path, tmp_path: Path, git: Callable[..., str]
) -> None:
    (repository / "env").mkdir()
    (repository / "env/main.tf").write_text('module "m" {\n  source = "../m"\n}\n')
    (repository / "m").mkdir()
    (repository / "m/main.tf").write_text('module "far" {\n  source = "../../far"\n}\n')
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "modules")
    (repository / "m/code.zip").write_text("zip")
    (repository / "other.zip").write_text("zip")
    branch = await open_branch(source=repository / "env", worktree=tmp_path / "worktree", name="sentinel/shop")

    await add_untracked_files(branch)

    assert branch.top == repository.parents[1]
    assert (branch.root / "../m/code.zip").is_file()
    assert not (branch.root / "../other.zip").exists()


async def test_a_disk_that_is_full_while_an_edit_is_written_leaves_the_branch_as_it_was(
    repository: Path, tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    branch = await _open(repository, tmp_path)
    before, write = await branch.head(), Path.write_bytes

    def half(self: Path, content: bytes) -> int:
        write(self, content[: len(content) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", half)
        with pytest.raises(GitFailed, match=r"No space left on device. Nothing was committed"):
            await branch.commit({MAIN: b"locals {\n  a = 2\n}\n"}, _message("mut_1"))
    assert git(repository, "rev-parse", "sentinel/shop").strip() == before
    again = await _open(repository, tmp_path)
    assert (again.root / "main.tf").read_text() == "locals {\n  a = 1\n}\n"
    assert await again.commit({MAIN: b"locals {\n  a = 2\n}\n"}, _message("mut_1"))


async def test_one_commit_may_be_that_of_several_mutations_of_which_some_correct_a_record(
    repository: Path, tmp_path: Path
) -> None:
    branch = await _open(repository, tmp_path)
    trailers = "Sentinel-Mutation: mut_1\nSentinel-Mutation: mut_2\nSentinel-Corrects: mut_2@7\n"
    commit = await branch.commit({MAIN: b"locals {\n  a = 2\n}\n"}, f"A change\n\n{trailers}")
    assert [await branch.find("mut_1"), await branch.find("mut_2", corrects=7)] == [commit, commit]
    assert await branch.find("mut_1", corrects=7) == await branch.find("mut_2", corrects=8) == ""
    assert await mutations_in(branch.worktree, "HEAD") == {"mut_1", "mut_2", "mut_2@7"}
    assert await trailer_keys(branch.worktree, "HEAD") == ("mut_1", "mut_2@7")
