"""A provider that does not start, or is none, is an error in words, and its process and socket are gone."""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

import pytest

from reconciler.errors import PluginUnavailable
from reconciler.terraform.plugin.messages import message
from reconciler.terraform.plugin.process import ProviderProcess


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def _program(tmp_path: Path, body: str) -> Path:
    path = tmp_path / "terraform-provider-odd"
    path.write_text(f"#!{sys.executable}\nimport os, sys, time\n{body}\n")
    path.chmod(0o755)
    return path


def _sockets(tmp_path: Path) -> list[Path]:
    return list(tmp_path.glob("sentinel-provider-*"))


@pytest.mark.parametrize(
    "body", ["pass", "print('hello')", "print('1|6|unix|/x|grpc')", "print('1|5|tcp|127.0.0.1:1|grpc')", "print('1|5|unix|/x|netrpc')"]
)  # fmt: skip
async def test_a_program_that_is_no_provider_is_said(tmp_path: Path, body: str) -> None:
    with pytest.raises(PluginUnavailable, match="version 5 of the plug-in protocol"):
        await ProviderProcess.start(_program(tmp_path, body), dict(os.environ))
    assert not _sockets(tmp_path)


async def test_a_program_that_cannot_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(PluginUnavailable, match="could not be started"):
        await ProviderProcess.start(tmp_path / "absent", {})
    assert not _sockets(tmp_path)


async def test_a_provider_that_answers_nothing_is_said_and_ended(tmp_path: Path) -> None:
    body = "print('1|5|unix|' + os.environ['TMPDIR'] + '/none|grpc', flush=True); time.sleep(600)"
    process = await ProviderProcess.start(_program(tmp_path, body), dict(os.environ))
    with pytest.raises(PluginUnavailable, match="Configure failed"):
        await process.call("Configure", message("ConfigureRequest"), "ConfigureResponse")
    await process.close()
    assert not process.running
    assert not process.folder.exists()


_PARENT = """
import asyncio, os, sys
from pathlib import Path
from reconciler.terraform.plugin.process import ProviderProcess

async def main():
    process = await ProviderProcess.start(Path(sys.argv[1]), dict(os.environ))
    print(process.process.pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_a_provider_ends_with_us_even_if_we_are_killed(tmp_path: Path) -> None:
    body = "print('1|5|unix|' + os.environ['TMPDIR'] + '/none|grpc', flush=True); time.sleep(600)"
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _PARENT, _program(tmp_path, body), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    provider = int(await parent.stdout.readline())
    assert _runs(provider)
    parent.kill()
    await parent.wait()
    async with asyncio.timeout(300):
        while _runs(provider):  # noqa: ASYNC110  nothing signals the end of another's child
            await asyncio.sleep(0.05)


def _runs(process: int) -> bool:
    """Whether a process runs, and is not only waiting to be reaped."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
