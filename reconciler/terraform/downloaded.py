"""Shows what `terraform init` and `terraform workspace select` left behind to our evaluator, beside the code in a copy or worktree."""

from pathlib import Path

from gateway.terraform.config import workspace as selected
from gateway.terraform.config.downloaded import DIRECTORY


def link_downloaded(root: Path, data: Path | None) -> None:
    """Let `.terraform/modules` in the root module at `root`, our own copy, be that of terraform's data directory `data`, if it has any.

    They are only read.
    """
    target = root / DIRECTORY
    if target.is_symlink():
        target.unlink()
    if data is None or not (data / "modules").is_dir() or target.exists():
        return
    target.parent.mkdir(exist_ok=True)
    target.symlink_to((data / "modules").absolute(), target_is_directory=True)


def select_workspace(root: Path, data: Path | None, workspace: str) -> None:
    """Let `workspace` be selected in the root module at `root`, our own copy; if it is empty, the one of the data directory `data`."""
    known = data / selected.FILE if data is not None else None
    name = workspace or (known.read_text(encoding="utf-8").strip() if known is not None and known.is_file() else "")
    if name:
        target = root / selected.DIRECTORY / selected.FILE
        target.parent.mkdir(exist_ok=True)
        target.write_text(name, encoding="utf-8")
