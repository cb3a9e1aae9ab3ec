"""Both images, built with buildah on a base of Debian's packages, and the gateway started as a container: no root, no shell, nothing written.

No registry of images is needed: mmdebstrap makes the base, and the images of Python and Terraform are given as build arguments. Needs root.
"""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.install import debian
from tests.kit.up import free_port

ROOT = Path(__file__).parent.parent.parent
IMAGE = ROOT / "deploy" / "image"
USER = 10001
_PATIENCE = 600.0
_SUITE = "bookworm"
_CERTIFICATES = "/etc/ssl/certs"

pytestmark = [pytest.mark.long, pytest.mark.allow_hosts(["127.0.0.1"])]


@dataclass(frozen=True)
class Storage:
    """A storage of images of its own."""

    place: Path
    environment: Mapping[str, str]

    def buildah(self, command: str, *arguments: str | Path) -> str:
        """Run a command; its output."""
        options = ["--root", self.place / "store", "--runroot", self.place / "run", "--storage-driver", "vfs"]
        argv = [debian("buildah"), *map(str, options), command, *map(str, arguments)]
        done = subprocess.run(argv, cwd=ROOT, env=dict(self.environment), capture_output=True, text=True, check=False)
        assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
        return done.stdout.strip()

    def image(self, name: str, add: str, content: Path, to: str) -> str:
        """An image of one file, or of one archive."""
        container = self.buildah("from", "scratch")
        self.buildah(add, "--quiet", container, content, to)
        self.buildah("commit", "--quiet", "--rm", container, name)
        return name

    def mounted(self, image: str) -> Path:
        """The files of a container of the image, which can be changed."""
        return Path(self.buildah("mount", self.buildah("from", "--pull-never", image)))


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Storage]:
    """Both images, as `localhost/gateway` and `localhost/reconciler`."""
    assert os.geteuid() == 0, "buildah and mmdebstrap run as root here"
    place = tmp_path_factory.mktemp("images")
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    storage = Storage(place, {**kept, "BUILDAH_ISOLATION": "chroot", "TMPDIR": str(place)})
    packages = "python3,python3-venv,ca-certificates,git"
    base = [debian("mmdebstrap"), "--variant=minbase", f"--include={packages}", _SUITE, str(place / "base.tar")]
    subprocess.run(base, check=True, capture_output=True)
    storage.image("localhost/base", "add", place / "base.tar", "/")
    terraform = shutil.which("terraform")
    assert terraform is not None
    storage.image("localhost/terraform", "copy", Path(terraform).resolve(), "/bin/terraform")
    bases = ("BASE_IMAGE", "RECONCILER_BASE_IMAGE", "BUILD_IMAGE")
    arguments = [*(f"{name}=localhost/base" for name in bases), "TERRAFORM_IMAGE=localhost/terraform"]
    for target in ("gateway", "reconciler"):
        storage.buildah(
            "bud", "--isolation", "chroot", "--layers=false", "--format", "docker", "--target", target, "--tag", f"localhost/{target}",
            "--file", IMAGE / "Dockerfile", "--ignorefile", IMAGE / "Dockerfile.dockerignore",
            "--volume", f"{_CERTIFICATES}:{_CERTIFICATES}:ro", *(part for each in arguments for part in ("--build-arg", each)), ".",
        )  # fmt: skip
    yield storage
    for container in storage.buildah("containers", "--quiet").split():
        storage.buildah("umount", container)


def _config(storage: Storage, image: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(storage.buildah("inspect", "--type", "image", image))["Docker"]["config"]
    return found


@pytest.mark.parametrize("image", ["localhost/gateway", "localhost/reconciler"])
def test_no_root_and_no_shell_is_needed(storage: Storage, image: str) -> None:
    config = _config(storage, image)
    assert config["User"] == f"{USER}:{USER}"
    assert config["Entrypoint"][0].startswith("/opt/sentinel/bin/")
    assert not {"sh", "/bin/sh"} & {*config["Entrypoint"], *config["Cmd"]}
    assert config["StopSignal"] == "SIGTERM"
    assert not [each for each in config["Env"] if "KEY" in each or "SECRET" in each]


def test_the_gateway_has_a_health_check_without_a_shell(storage: Storage) -> None:
    assert _config(storage, "localhost/gateway")["Healthcheck"]["Test"][0] == "CMD"


@dataclass
class Container:
    """A started program of an image: read-only root, two volumes, no capabilities, no new rights."""

    root: Path
    volumes: Path
    environment: dict[str, str] = field(default_factory=dict)

    def argv(self, *command: str) -> list[str]:
        """The command that enters the container. Only the mounts of this process change."""
        script = (
            'root=$1 volumes=$2; shift 2; mount --bind "$root" "$root"; mount -o remount,bind,ro "$root"; '
            'mount --bind "$volumes/data" "$root/var/lib/sentinel"; mount --bind "$volumes/checkpoint" "$root/var/lib/sentinel-checkpoint"; '
            'mount --bind "$volumes/etc" "$root/etc/sentinel"; mount -t tmpfs tmpfs "$root/tmp"; '
            f'exec setpriv --no-new-privs {debian("chroot")} --userspec={USER}:{USER} --groups= "$root" "$@"'
        )
        return ["unshare", "--mount", "sh", "-ec", script, "sh", str(self.root), str(self.volumes), *command]

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a program and wait for its end."""
        return subprocess.run(self.argv(*command), env=self.environment, capture_output=True, text=True, check=False)


@contextmanager
def _container(storage: Storage, image: str, place: Path, **settings: str) -> Iterator[Container]:
    root = storage.mounted(image)
    for name in ("data", "checkpoint", "etc"):
        (place / name).mkdir()
    for name in ("data", "checkpoint"):
        os.chown(place / name, USER, USER)
    # What the image cannot run with is not there: no shell at all.
    for shell in ("sh", "bash", "dash", "rbash"):
        for directory in ("bin", "usr/bin"):
            (root / directory / shell).unlink(missing_ok=True)
    environment = dict(each.split("=", 1) for each in _config(storage, image)["Env"])
    # Only this machine reaches it.
    environment |= {"SENTINEL_SERVER__HOST": "127.0.0.1", **settings}
    yield Container(root, place, environment)


def _wait_until_healthy(container: Container, process: subprocess.Popen[bytes], check: list[str]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while container.run(*check).returncode != 0:
        assert process.poll() is None, "the gateway ended"
        assert time.monotonic() < deadline
        time.sleep(0.5)


def test_the_gateway_starts_with_a_read_only_root_and_is_healthy(storage: Storage, tmp_path: Path) -> None:
    config = _config(storage, "localhost/gateway")
    check, command = config["Healthcheck"]["Test"][1:], [*config["Entrypoint"], *config["Cmd"]]
    port = str(free_port())
    stacks = '[{"name": "a", "path": "/var/lib/sentinel"}]'
    settings = {
        "SENTINEL_SERVER__PORT": port,
        "SENTINEL_STACKS": stacks,
        "SENTINEL_MASTER_KEY": "m" * 40,
        "SENTINEL_UPSTREAM__SIMULATED": "http://127.0.0.1:9",
    }
    with _container(storage, "localhost/gateway", tmp_path, **settings) as container:
        # Before it runs, the check says no.
        assert container.run(*check).returncode == 1
        assert "was migrated from nothing to" in container.run(config["Entrypoint"][0], "migrate").stdout
        with (tmp_path / "log").open("wb") as log:
            process = subprocess.Popen(container.argv(*command), env=container.environment, stderr=log)
        try:
            _wait_until_healthy(container, process, check)
            status = Path(f"/proc/{process.pid}/status").read_text()
            facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
            assert facts["Uid"].split() == [str(USER)] * 4
            assert (int(facts["CapEff"], 16), int(facts["CapPrm"], 16), facts["NoNewPrivs"]) == (0, 0, "1")
            written = container.run("/opt/sentinel/bin/python", "-c", "open('/opt/sentinel/x', 'w')")
            assert "Read-only file system" in written.stderr or "Permission denied" in written.stderr
            assert "No such file" in container.run("/bin/sh", "-c", "true").stderr
        finally:
            process.terminate()
            process.wait(_PATIENCE)
        assert (tmp_path / "data" / "ledger.db").is_file()
        assert (tmp_path / "checkpoint" / "ledger.checkpoint").is_file()
        intact = container.run(config["Entrypoint"][0], "verify")
        assert intact.returncode == 0, intact.stdout + intact.stderr


def test_the_sbom_names_exactly_what_is_installed(storage: Storage, tmp_path: Path) -> None:
    listed = (
        "import importlib.metadata, json, re; print(json.dumps({re.sub('[-_.]+', '-', d.name).lower(): d.version "
        "for d in importlib.metadata.distributions()}))"
    )
    for image in ("localhost/gateway", "localhost/reconciler"):
        place = tmp_path / image.rpartition("/")[2]
        place.mkdir()
        with _container(storage, image, place) as container:
            installed = json.loads(container.run("/opt/sentinel/bin/python", "-I", "-c", listed).stdout)
            sbom = json.loads((container.root / "opt/sentinel/share/sbom.cdx.json").read_text())
        assert (sbom["bomFormat"], sbom["specVersion"]) == ("CycloneDX", "1.5")
        named = {each["name"]: each["version"] for each in (*sbom["components"], sbom["metadata"]["component"])}
        # Packages for other systems, such as Windows, are in the lock too.
        assert installed.items() <= named.items()
        assert installed["sentinel-gateway"]
        assert not {"pip", "setuptools", "pytest", "moto", "mypy"} & set(installed)
        absent = {each["name"] for each in sbom["components"]} - set(installed)
        assert all(
            "python_full_version" in str(each) or "platform" in str(each) or "sys_" in str(each)
            for each in sbom["components"]
            if each["name"] in absent
        )


def test_the_reconciler_has_git_and_terraform(storage: Storage, tmp_path: Path) -> None:
    with _container(storage, "localhost/reconciler", tmp_path) as container:
        assert container.run("git", "--version").stdout.startswith("git version")
        assert "Terraform v" in container.run("terraform", "version").stdout
        said = container.run("/opt/sentinel/bin/python", "-m", "reconciler", "--help")
        assert said.returncode == 0, said.stderr
        fetched = container.run(
            "/opt/sentinel/bin/python",
            "-I",
            "/opt/sentinel/share/keep_fetched.py",
            "--once",
            "file:///none",
            "/var/lib/sentinel/x",
        )
        assert fetched.returncode == 1
        assert "git clone failed. What was there is kept" in fetched.stderr
