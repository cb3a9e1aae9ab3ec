"""Child processes."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.cli.demo import processes
from gateway.cli.demo.processes import ChildDied, Children

SLEEP = "import time; print('up', flush=True); time.sleep(60)"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + SLEEP


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory whose modules a child can run with `-m`."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


async def until(condition: Callable[[], object]) -> None:
    """Wait until it holds, for twenty seconds at most."""
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0.02)
    pytest.fail("waited in vain")


async def started(children: Children, module: Path, name: str, text: str) -> int:
    """Start a child with this text, and wait until it says so; its process id."""
    (module / f"{name}.py").write_text(text)
    await children.start(name, [name])
    log = module / "logs" / f"{name}.log"
    await until(lambda: log.read_text().strip())
    return children._running[name].pid


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def gone(pid: int) -> bool:
    """Whether a process that is not our own child runs no more; it may wait to be reaped."""
    try:
        return not alive(pid) or Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
    except (FileNotFoundError, ProcessLookupError):  # it ended between the two looks
        return True


async def dies(module: Path, name: str, text: str, *, kill: bool = False) -> None:
    """Start a child, kill it or not, and watch it."""
    async with Children(module / "logs") as children:
        pid = await started(children, module, name, text)
        if kill:
            os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(20):
            await children.watch()


async def test_started_processes_are_ended(module: Path) -> None:
    async with Children(module / "logs") as children:
        pids = [await started(children, module, name, SLEEP) for name in ("one", "two")]
        children.check()
        assert all(alive(pid) for pid in pids)
    assert not any(alive(pid) for pid in pids)


async def test_also_if_the_block_raises(module: Path) -> None:
    pids: list[int] = []

    async def fail() -> None:
        async with Children(module / "logs") as children:
            pids.append(await started(children, module, "one", SLEEP))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert not alive(pids[0])


async def test_a_process_that_ignores_the_signal_is_killed_with_its_children(
    module: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "ALL_SECONDS", 0.2)
    parent = (
        f"import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', {DEAF!r}]); print(child.pid); " + DEAF
    )
    log = module / "logs" / "deaf.log"
    async with Children(module / "logs") as children:
        pid = await started(children, module, "deaf", parent)
        await until(lambda: log.read_text().count("\n") == 3)
    grandchild = next(int(word) for word in log.read_text().split() if word.isdigit())
    assert not alive(pid)
    await until(lambda: gone(grandchild))  # SIGKILL is sent, and the kernel ends it when it next runs


async def test_all_together_end_in_time_though_none_wants_to(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert processes.TERRAFORM_SECONDS + processes.ALL_SECONDS < 10
    graces: list[float] = []
    really = processes.end

    async def end(process: asyncio.subprocess.Process, first: signal.Signals, grace: float) -> None:
        graces.append(grace)
        await really(process, first, 0.01)

    monkeypatch.setattr(processes, "end", end)
    async with Children(module / "logs") as children:
        pids = [await started(children, module, name, DEAF) for name in ("one", "two", "three")]
    assert not any(alive(pid) for pid in pids)
    assert all(processes.ALL_SECONDS >= grace >= 1 for grace in graces)
    assert graces[0] <= processes.ALL_SECONDS - 2, "the others need their time too"


async def test_a_process_that_ends_is_reported_with_the_end_of_its_log(module: Path) -> None:
    text = "print('\\n'.join(f'line {n}' for n in range(10))); raise SystemExit(3)"
    expected = r"(?s)The bad process ended with code 3\. Last lines of .*bad\.log:\nline 2\n.*line 9$"
    with pytest.raises(ChildDied, match=expected) as died:
        await dies(module, "bad", text)
    assert "line 1\n" not in str(died.value)


async def test_a_killed_process_is_reported_with_the_signal(module: Path) -> None:
    with pytest.raises(ChildDied, match="was ended by SIGKILL"):
        await dies(module, "shot", SLEEP, kill=True)


async def test_modules_in_the_current_directory_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('not the json you look for')")
    monkeypatch.chdir(tmp_path)
    async with Children(tmp_path / "logs") as children:
        await children.start("tool", ["json.tool", "--help"])
        await children._running["tool"].wait()
    assert "usage" in (tmp_path / "logs" / "tool.log").read_text()
