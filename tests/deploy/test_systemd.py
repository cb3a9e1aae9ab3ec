"""The systemd units and the layout of files, installed into an empty directory and used as on a host."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.deploy.install import debian
from tests.kit.up import free_port

ROOT = Path(__file__).parent.parent.parent
SYSTEMD = ROOT / "deploy" / "systemd"
KAFKA = ROOT / "tests" / "cases" / "stacks" / "kafka"
UNITS = ("sentinel-gateway.service", "sentinel-reconciler.service", "sentinel-backup.service", "sentinel-backup.timer")
MOST_EXPOSED = {"sentinel-gateway.service": 15, "sentinel-reconciler.service": 20, "sentinel-backup.service": 40}
"""The most that `systemd-analyze security` may count, in tenths: 100 is a service without any protection."""
_PATIENCE = 300.0


def _install(root: Path, *more: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, str(SYSTEMD / "install.py"), "--root", str(root), *more]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a host with systemd's own units, on which Sentinel is installed."""
    root = tmp_path_factory.mktemp("host")
    shutil.copytree("/usr/lib/systemd/system", root / "usr/lib/systemd/system", symlinks=True)
    done = _install(root, "--venv", sys.prefix)
    assert done.returncode == 0, done.stderr
    return root


def test_every_unit_is_valid(host: Path) -> None:
    argv = [debian("systemd-analyze"), "verify", "--man=no", f"--root={host}", *UNITS]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    ours = [line for line in (done.stdout + done.stderr).splitlines() if "sentinel" in line]
    assert ours == []
    assert done.returncode == 0, done.stderr


def test_a_unit_with_a_mistake_would_be_noticed(host: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(host, other, symlinks=True)
    unit = other / "usr/lib/systemd/system/sentinel-gateway.service"
    unit.write_text(unit.read_text().replace("ExecStart=/usr/lib/sentinel/", "ExecStart=/usr/lib/centinel/"))
    argv = [debian("systemd-analyze"), "verify", "--man=no", f"--root={other}", "sentinel-gateway.service"]
    assert subprocess.run(argv, capture_output=True, check=False).returncode != 0


@pytest.mark.parametrize("unit", MOST_EXPOSED)
def test_a_service_can_do_little_else(host: Path, unit: str) -> None:
    file = host / "usr/lib/systemd/system" / unit
    argv = [
        debian("systemd-analyze"),
        "security",
        "--offline=true",
        f"--threshold={MOST_EXPOSED[unit]}",
        "--no-pager",
        str(file),
    ]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_an_upgrade_keeps_what_the_administrator_wrote(host: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    _install(root)
    (root / "etc/sentinel/sentinel.toml").write_text("account = '1'\n")
    (root / "usr/lib/sentinel/with-credentials").write_text("old")
    done = _install(root)
    assert done.returncode == 0
    assert "/etc/sentinel/sentinel.toml is kept as it is." in done.stdout.splitlines()
    assert (root / "etc/sentinel/sentinel.toml").read_text() == "account = '1'\n"
    assert (root / "usr/lib/sentinel/with-credentials").read_bytes() == (SYSTEMD / "with-credentials").read_bytes()
    modes = {place: (root / place).stat().st_mode & 0o777 for place in ("etc/sentinel/credentials", "var/lib/sentinel")}
    assert set(modes.values()) == {0o700}


def test_a_place_without_sentinel_is_refused(tmp_path: Path) -> None:
    done = _install(tmp_path / "root", "--venv", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert "has no bin/sentinel. Nothing was installed." in done.stderr
    assert not (tmp_path / "root").exists()


def test_users_and_directories_are_made_by_systemd(host: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    _install(root)
    done = subprocess.run([debian("systemd-sysusers"), f"--root={root}"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"^sentinel:x:\d+:\d+:Sentinel:/var/lib/sentinel:/usr/sbin/nologin$",
        (root / "etc/passwd").read_text(),
        re.MULTILINE,
    )


@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_the_gateway_starts_as_its_unit_starts_it(host: Path, tmp_path: Path) -> None:
    """The unit's own command and environment, with the master key as systemd hands it over."""
    unit = (host / "usr/lib/systemd/system/sentinel-gateway.service").read_text()
    (command,) = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    (set_here,) = re.findall(r"^Environment=(.*)$", unit, re.MULTILINE)
    credentials = tmp_path / "credentials"
    credentials.mkdir()
    (credentials / "master-key").write_text("m" * 40 + "\n")
    port = free_port()
    settings = tmp_path / "sentinel.toml"
    settings.write_text(
        f'[server]\nport = {port}\n[upstream]\nsimulated = "http://127.0.0.1:9"\n[[stacks]]\nname = "kafka"\npath = "{KAFKA}"\n'
    )
    here = {"/usr/lib/sentinel": str(host / "usr/lib/sentinel"), "/etc/sentinel/sentinel.toml": str(settings)}
    for place, instead in here.items():
        command = command.replace(place, instead)
    set_here = set_here.replace("/var/lib/sentinel", str(tmp_path / "data"))
    environment = {"PATH": os.environ["PATH"], "CREDENTIALS_DIRECTORY": str(credentials), "PYTHONPATH": str(ROOT)}
    environment |= dict(each.split("=", 1) for each in set_here.split())
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([sys.executable, *command.split()], stderr=log, env=environment, cwd=tmp_path)
    try:
        deadline = time.monotonic() + _PATIENCE
        while not _is_ready(port):
            assert process.poll() is None, (tmp_path / "log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.1)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(_PATIENCE)
    started = json.loads((tmp_path / "log").read_text().splitlines()[0])
    assert "m" * 40 not in (tmp_path / "log").read_text()
    assert started
    # The master key came from the credential: none was made.
    assert not (tmp_path / "data" / "master.key").exists()


def _is_ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz").status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, ""),
        ({"reconciler-key": "only-an-id"}, "The credential reconciler-key has not the form"),
        ({"master-key": ""}, "The credential master-key has not the form"),
    ],
)
def test_credentials_become_settings(tmp_path: Path, files: dict[str, str], said: str) -> None:
    for name, text in ({"master-key": "k\n", "reconciler-key": "ID.SE.CRET\n"} | files).items():
        (tmp_path / name).write_text(text)
    show = [
        sys.executable,
        "-c",
        "import json, os; print(json.dumps({k: v for k, v in os.environ.items() if k.startswith('SENTINEL_')}))",
    ]
    environment = {"CREDENTIALS_DIRECTORY": str(tmp_path)}
    argv = [sys.executable, str(SYSTEMD / "with-credentials"), *show]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    if said:
        assert done.returncode != 0
        assert said in done.stderr
        return
    assert json.loads(done.stdout) == {
        "SENTINEL_MASTER_KEY": "k",
        "SENTINEL_RECONCILE__KEY_ID": "ID",
        "SENTINEL_RECONCILE__KEY_SECRET": "SE.CRET",
    }
