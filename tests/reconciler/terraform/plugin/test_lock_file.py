"""Only the package that the lock file names is started."""

from pathlib import Path

import pytest

from reconciler.errors import PluginUnavailable
from reconciler.terraform.plugin.lock_file import LOCK_FILE, check_locked, executable_of, package_hash

AWS = "registry.terraform.io/hashicorp/aws"


def _installed(data: Path, version: str = "5.100.0") -> Path:
    folder = data / "providers" / AWS / version / "linux_amd64"
    folder.mkdir(parents=True)
    (path := folder / f"terraform-provider-aws_v{version}_x5").write_bytes(b"program")
    (folder / "LICENSE.txt").write_bytes(b"text")
    return path


def _lock(tmp_path: Path, *hashes: str, source: str = AWS) -> Path:
    (tmp_path / LOCK_FILE).write_text(
        f'provider "{source}" {{\n  version = "5.100.0"\n  hashes = [{", ".join(map(repr, hashes))}]\n}}\n'.replace(
            "'", '"'
        )
    )
    return tmp_path / LOCK_FILE


def test_the_hash_is_that_of_gos_dirhash(tmp_path: Path) -> None:
    """Computed by hand from the definition: the SHA-256 of `HASH  NAME` lines, sorted by name."""
    (tmp_path / "b").write_bytes(b"")
    (tmp_path / "a").write_bytes(b"x")
    assert package_hash(tmp_path) == "h1:5CKKpK9gKy8EgVj7IHqb/vWDLxiyRUX23xphfiKde58="


def test_the_package_in_the_lock_file_may_run(tmp_path: Path) -> None:
    executable = _installed(tmp_path)
    assert executable_of(tmp_path, AWS) == executable
    check_locked(executable, AWS, _lock(tmp_path, "zh:00", package_hash(executable.parent)))


def test_a_package_that_changed_may_not(tmp_path: Path) -> None:
    executable = _installed(tmp_path)
    lock = _lock(tmp_path, package_hash(executable.parent))
    executable.write_bytes(b"another program")
    with pytest.raises(PluginUnavailable, match="is not one that"):
        check_locked(executable, AWS, lock)


def test_a_lock_file_that_says_nothing_is_no_permission(tmp_path: Path) -> None:
    executable = _installed(tmp_path)
    with pytest.raises(PluginUnavailable, match="cannot be read"):
        check_locked(executable, AWS, tmp_path / LOCK_FILE)
    for lock in (_lock(tmp_path, "zh:00"), _lock(tmp_path, package_hash(executable.parent), source="else.where/x/aws")):
        with pytest.raises(PluginUnavailable, match="is not one that"):
            check_locked(executable, AWS, lock)


def test_of_two_versions_none_is_chosen(tmp_path: Path) -> None:
    with pytest.raises(PluginUnavailable, match="0 executables"):
        executable_of(tmp_path, AWS)
    _installed(tmp_path)
    _installed(tmp_path, "5.99.0")
    with pytest.raises(PluginUnavailable, match="2 executables"):
        executable_of(tmp_path, AWS)
