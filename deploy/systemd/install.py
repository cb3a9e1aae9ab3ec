"""Lays Sentinel out on a host as a Debian package would: `python3 deploy/systemd/install.py --root / --venv DIR`.

Programs are in /usr/lib/sentinel, settings in /etc/sentinel, data in /var/lib/sentinel, units in /usr/lib/systemd/system. Files in
/etc that are there already stay as they are. Nothing is started. Needs nothing but the standard library.
"""

import argparse
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent

FILES = (
    # source beside this file, place, mode, whether it is the administrator's own once it is there
    ("sentinel-gateway.service", "usr/lib/systemd/system/sentinel-gateway.service", 0o644, False),
    ("sentinel-reconciler.service", "usr/lib/systemd/system/sentinel-reconciler.service", 0o644, False),
    ("sentinel-backup.service", "usr/lib/systemd/system/sentinel-backup.service", 0o644, False),
    ("sentinel-backup.timer", "usr/lib/systemd/system/sentinel-backup.timer", 0o644, False),
    ("sentinel.sysusers", "usr/lib/sysusers.d/sentinel.conf", 0o644, False),
    ("sentinel.tmpfiles", "usr/lib/tmpfiles.d/sentinel.conf", 0o644, False),
    ("with-credentials", "usr/lib/sentinel/with-credentials", 0o755, False),
    ("sentinel.default", "etc/default/sentinel", 0o644, True),
    ("../compose/sentinel.toml", "etc/sentinel/sentinel.toml", 0o640, True),
    ("../../docs/deployment.md", "usr/share/doc/sentinel/deployment.md", 0o644, False),
    ("../../docs/settings.md", "usr/share/doc/sentinel/settings.md", 0o644, False),
    ("../../LICENSE", "usr/share/doc/sentinel/copyright", 0o644, False),
)
DIRECTORIES = (
    ("etc/sentinel/credentials", 0o700),
    ("var/lib/sentinel", 0o700),
    ("var/backups/sentinel", 0o700),
    ("usr/bin", 0o755),
)


def install(root: Path, venv: Path | None) -> list[str]:
    """Copy all files below `root`; the lines that say what was done. Raises OSError."""
    said = []
    for place, mode in DIRECTORIES:
        (root / place).mkdir(parents=True, exist_ok=True)
        if place != "usr/bin":
            (root / place).chmod(mode)
    for source, place, mode, kept in FILES:
        target = root / place
        if kept and target.exists():
            said.append(f"/{place} is kept as it is.")
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(HERE / source, target)
        target.chmod(mode)
        said.append(f"/{place}")
    if venv is not None:
        link = root / "usr/lib/sentinel/venv"
        if link.is_symlink():
            link.unlink()
        link.symlink_to(venv.resolve())
    command = root / "usr/bin/sentinel"
    if not command.is_symlink():
        command.symlink_to("/usr/lib/sentinel/venv/bin/sentinel")
    return said


def main() -> int:
    """Read the options, install, and print what was done."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, required=True, help="/ of the host, or a directory to look at first")
    parser.add_argument(
        "--venv",
        type=Path,
        help="the Python environment with Sentinel; default: /usr/lib/sentinel/venv is filled later",
    )
    given = parser.parse_args()
    if given.venv is not None and not (given.venv / "bin" / "sentinel").exists():
        sys.stderr.write(f"{given.venv} has no bin/sentinel. Nothing was installed.\n")
        return 1
    try:
        said = install(given.root, given.venv)
    except OSError as error:
        sys.stderr.write(f"{error}. What was copied before is kept; start it again with the rights that it needs.\n")
        return 1
    sys.stdout.write("\n".join(said) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
