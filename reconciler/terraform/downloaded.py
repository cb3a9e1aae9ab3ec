"""Shows the modules that `terraform init` downloaded to our evaluator, beside the code in a copy or worktree. They are only read."""

from pathlib import Path

from gateway.terraform.config.downloaded import DIRECTORY


def link_downloaded(root: Path, data: Path | None) -> None:
    """Let `.terraform/modules` in the root module at `root`, our own copy, be that of terraform's data directory `data`, if it has any."""
    target = root / DIRECTORY
    if target.is_symlink():
        target.unlink()
    if data is None or not (data / "modules").is_dir() or target.exists():
        return
    target.parent.mkdir(exist_ok=True)
    target.symlink_to((data / "modules").absolute(), target_is_directory=True)
