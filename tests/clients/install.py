"""Installs the clients that the tests play with into `.tools/clients`, each once for each version: `python -m tests.clients.install`."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from tests.kit.installing import TOOLS, install_once, together

HERE = Path(__file__).parent
CLIENTS = TOOLS / "clients"


class NotInstalled(Exception):
    """A client is missing; the text says how to install it."""


def _digest(*files: Path) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def cli1() -> Path:
    """The directory of AWS CLI 1."""
    return CLIENTS / f"cli1-{_digest(HERE / 'cli1.txt')}"


def javascript() -> Path:
    """The directory of the JavaScript SDK."""
    return CLIENTS / f"js-{_digest(HERE / 'js' / 'package-lock.json')}"


def cli2() -> Path:
    """The directory of AWS CLI 2, which comes with the JavaScript packages."""
    return CLIENTS / f"cli2-{_digest(HERE / 'js' / 'package-lock.json')}"


def golang() -> Path:
    """The directory of the program that uses the Go SDK."""
    return CLIENTS / f"go-{_digest(HERE / 'go' / 'go.sum', HERE / 'go' / 'main.go')}"


def node() -> Path:
    """The directory of the Node.js that the suite of the Model Context Protocol needs: 22 or later."""
    return CLIENTS / f"node-{_digest(HERE / 'mcp' / 'node.txt')}"


def mcp_suite() -> Path:
    """The directory of the conformance suite and the inspector of the Model Context Protocol."""
    return CLIENTS / f"mcp-{_digest(HERE / 'mcp' / 'package-lock.json')}"


def installed(directory: Path) -> Path:
    """The directory. Raises `NotInstalled` if it is missing."""
    if not directory.exists():
        message = f"{directory.name} is not installed; run `make clients`."
        raise NotInstalled(message)
    return directory


def _run(*command: str | Path, where: Path | None = None, **more: str) -> None:
    subprocess.run([str(part) for part in command], check=True, cwd=where, env={**os.environ, **more})


def _install_cli1(directory: Path) -> None:
    uv = TOOLS / "uv" / "bin" / "uv"
    _run(uv, "venv", "--quiet", "--python", sys.executable, "--relocatable", directory)
    # A relocatable script finds its own environment, so the directory can be renamed when it is complete.
    _run(uv, "pip", "install", "--quiet", "--python", directory / "bin" / "python", "-r", HERE / "cli1.txt")


def _install_javascript(directory: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / "js" / name, directory)
    _run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", where=directory)


def _install_cli2(directory: Path) -> None:
    layer = installed(javascript()) / "node_modules" / "@aws-cdk" / "asset-awscli-v2" / "lib" / "layer.zip"
    with zipfile.ZipFile(layer) as archive:
        names = [name for name in archive.namelist() if "/dist/" in name and "/examples/" not in name]
        archive.extractall(directory, names)
    (program,) = directory.glob("awscli/v2/*/dist/aws")
    program.chmod(0o755)
    (directory / "aws").symlink_to(program.relative_to(directory))


def _install_node(directory: Path) -> None:
    uv = TOOLS / "uv" / "bin" / "uv"
    _run(
        uv,
        "pip",
        "install",
        "--quiet",
        "--target",
        directory,
        "--python",
        sys.executable,
        "-r",
        HERE / "mcp" / "node.txt",
    )


def _install_mcp_suite(directory: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / "mcp" / name, directory)
    _run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", where=directory)


def _install_go(directory: Path) -> None:
    _run("go", "build", "-o", directory / "play", ".", where=HERE / "go", GOFLAGS="-mod=readonly", GOTOOLCHAIN="local")


Step = tuple[str, Callable[[], Path], Callable[[Path], None]]
STEPS: Sequence[Sequence[Step]] = (
    (("AWS CLI 1", cli1, _install_cli1),),
    (("the JavaScript SDK", javascript, _install_javascript), ("AWS CLI 2", cli2, _install_cli2)),
    (("the Go SDK", golang, _install_go),),
    (("Node.js 24", node, _install_node),),
    (("the suite of the Model Context Protocol", mcp_suite, _install_mcp_suite),),
)
"""Those of one line come one after another: the second needs the first."""


def main() -> int:
    """Install what is missing. Returns 1 if a tool for it is missing."""
    missing = [tool for tool in ("node", "npm", "go") if shutil.which(tool) is None]
    if missing:
        print(f"{', '.join(missing)} not on PATH; the tests of clients need them.", file=sys.stderr)
        return 1
    together(partial(_install, line) for line in STEPS)
    return 0


def _install(line: Sequence[Step]) -> None:
    for name, directory_of, install in line:
        directory = directory_of()
        if not directory.exists():
            print(f"Installing {name} for tests/clients, once", flush=True)
            install_once(directory, install)


if __name__ == "__main__":
    sys.exit(main())
