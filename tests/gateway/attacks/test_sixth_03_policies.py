"""Somebody who serves the policies' bundle, and does not have the key that signs it, serves an old one again.

Its signature is right, so policies went back to those of before a guardrail was mended. What must hold: a bundle whose signature says when it was
made is followed by newer ones only, also after a restart, and the last one stays in force with the problem reported.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest

from gateway.core.settings.policy import ControlPlaneSettings
from gateway.policy.opa_command import find_opa
from gateway.policy.pulled import Fetched, PulledEngine
from gateway.policy.sources import shipped
from tests.kit.bundle_server import key_pair, signed_archive

pytestmark = [pytest.mark.opa, pytest.mark.enable_socket]


@dataclass(frozen=True, slots=True)
class Made:
    """Bundles by when they were signed."""

    public: Path
    old: bytes
    new: bytes
    timeless: bytes


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    directory = tmp_path_factory.mktemp("keys")
    tool = find_opa()
    assert tool is not None
    private, public = key_pair(directory)
    old, new, timeless = (
        signed_archive(shipped(), tool, private, revision=name, wasm=True, issued=issued)
        for name, issued in (("old", 1_000), ("new", 2_000), ("timeless", None))
    )
    return Made(public=public, old=old, new=new, timeless=timeless)


class Attacker:
    """Serves what it likes."""

    def __init__(self, archive: bytes) -> None:
        self.archive = archive

    async def __call__(self, _etag: str) -> Fetched | None:
        """The archive."""
        return Fetched(archive=self.archive, etag="")


def engine(made: Made, serves: Attacker, directory: Path) -> PulledEngine:
    """A gateway's engine, which pulls what the attacker serves."""
    settings = ControlPlaneSettings(url="https://control.example.com", bundle="b.tar.gz", key_file=made.public)
    return PulledEngine(settings, fetch=serves, directory=directory, deadline_ms=10_000, memory_mb=64)


async def test_an_old_bundle_does_not_come_back(made: Made, tmp_path: Path) -> None:
    serves = Attacker(made.old)
    running = engine(made, serves, tmp_path)
    await running.open()
    serves.archive = made.new
    await running.pull()
    assert (running.state.revision, running.problem) == ("new", "")
    for archive in (made.old, made.timeless):
        serves.archive = archive
        await running.pull()
        assert running.state.revision == "new"
        assert "signed before the last one" in running.problem
    serves.archive = made.new
    await running.pull()
    assert running.problem == ""
    await running.close()


async def test_nor_after_a_restart(made: Made, tmp_path: Path) -> None:
    first = engine(made, Attacker(made.new), tmp_path)
    await first.open()
    await first.close()
    again = engine(made, Attacker(made.old), tmp_path)
    await again.open()
    assert again.state.revision == "new"
    assert "signed before the last one" in again.problem
    await again.close()


async def test_bundles_that_do_not_say_when_are_taken_as_before(made: Made, tmp_path: Path) -> None:
    serves = Attacker(made.timeless)
    running = engine(made, serves, tmp_path)
    await running.open()
    serves.archive = made.old
    await running.pull()
    assert running.state.revision == "old"
    await running.close()
