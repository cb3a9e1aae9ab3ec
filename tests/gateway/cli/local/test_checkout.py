"""The stack of a `sentinel up`."""

import subprocess
from pathlib import Path

import pytest

from gateway.cli.local.assets import example
from gateway.cli.local.checkout import lay_out
from gateway.cli.local.workspace import CannotStart, Workspace


def place_of(root: Path, own: Path | None = None) -> Workspace:
    root.mkdir(exist_ok=True)
    return Workspace(root=root, port=1, simulated_port=2, own_stack=own)


def git(directory: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@t")
    return subprocess.run(
        ["git", *identity, *arguments], cwd=directory, check=True, capture_output=True, text=True
    ).stdout


async def test_the_example_becomes_a_repository_with_one_commit(tmp_path: Path) -> None:
    place = place_of(tmp_path / "a home")
    await lay_out(place, example())
    assert git(place.stack, "log", "--format=%an %s").splitlines() == ["Sentinel The stack as it was declared"]
    assert git(place.stack, "branch", "--show-current") == "main\n"
    assert git(place.stack, "status", "--porcelain") == ""
    assert (place.stack / "kafka.sentinel.hcl").is_file()


async def test_what_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    place = place_of(tmp_path / "home")
    await lay_out(place, example())
    (place.stack / "terraform.tfvars").write_text("consumers = 6\n")
    await lay_out(place, example())
    assert (place.stack / "terraform.tfvars").read_text() == "consumers = 6\n"


async def test_a_half_made_copy_is_made_anew(tmp_path: Path) -> None:
    place = place_of(tmp_path / "home")
    aside = place.root / "stack.partial"
    aside.mkdir()
    (aside / "stale.tf").write_text("resource")
    await lay_out(place, example())
    assert not aside.exists()
    assert not (place.stack / "stale.tf").exists()


async def test_a_copy_that_lost_its_repository_is_said_also_inside_another(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "outer")
    place = place_of(tmp_path / "home")
    place.stack.mkdir()
    (place.stack / "main.tf").touch()
    with pytest.raises(CannotStart, match=r"not in a git repository .* begin anew with --fresh"):
        await lay_out(place, example())


async def test_an_empty_stack_directory_is_said(tmp_path: Path) -> None:
    place = place_of(tmp_path / "home")
    place.stack.mkdir()
    with pytest.raises(CannotStart, match=r"no Terraform code .* begin anew with --fresh"):
        await lay_out(place, example())


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A stack of the user's own, in a folder of a repository."""
    directory = tmp_path / "infra" / "prod"
    directory.mkdir(parents=True)
    (directory / "main.tf").write_text("# nothing yet\n")
    git(tmp_path / "infra", "init", "--quiet")
    git(tmp_path / "infra", "add", "--all")
    git(tmp_path / "infra", "commit", "--quiet", "-m", "mine")
    return directory


async def test_a_stack_of_ones_own_is_only_looked_at(own: Path, tmp_path: Path) -> None:
    before = git(own, "log", "--format=%H")
    place = place_of(tmp_path / "home", own)
    await lay_out(place, example())
    assert place.stack == own
    assert (git(own, "log", "--format=%H"), git(own, "status", "--porcelain")) == (before, "")
    assert not (place.root / "stack").exists()


async def test_git_is_not_misled_by_the_environment(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    await lay_out(place_of(tmp_path / "home", own), example())


async def test_a_stack_of_ones_own_must_be_terraform_code_in_git(own: Path, tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="no Terraform code"):
        await lay_out(place_of(tmp_path / "home", own.parent), example())
    loose = tmp_path / "loose"
    loose.mkdir()
    (loose / "main.tf").touch()
    with pytest.raises(CannotStart, match=r"not in a git repository with a commit; .* with --stack, committed to git"):
        await lay_out(place_of(tmp_path / "home", loose), example())
    git(loose, "init", "--quiet")
    with pytest.raises(CannotStart, match="with a commit"):
        await lay_out(place_of(tmp_path / "home", loose), example())


async def test_without_git_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotStart, match="git is not on PATH"):
        await lay_out(place_of(tmp_path / "home"), example())
