"""The terraform command, run as a child process: argv only, with a time limit, its output kept."""

import asyncio
import contextlib
import json
import os
import secrets
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reconciler.errors import TerraformFailed, TerraformMissing

_LAST_LINES = 30
_NEEDS_INIT = ("terraform init", "Required plugins are not installed", "Inconsistent dependency lock file")
"""What terraform says where `.terraform` does not fit the code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a command ended."""

    code: int
    out: bytes
    err: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Terraform:
    """One terraform, with the environment and the limits it runs under."""

    environment: Mapping[str, str] = field(repr=False)
    """See `mirror.terraform_environment`. It holds credentials, so it is never printed."""
    workdir: Path
    """A directory of ours: plug-in data and plan files go there."""
    executable: str = "terraform"
    seconds: float = 600.0
    """How long one command may take."""
    shared_data: Path | None = None
    """The user's own `.terraform`, used as long as it fits the code; it is not written to."""

    async def version(self) -> str:
        """Terraform's version, e.g. `1.11.4`. Raises `errors.TerraformMissing`, `errors.TerraformFailed`."""
        ran = await self._run("version", "-json")
        return str(self._document(ran, "version")["terraform_version"])

    async def format(self, source: bytes) -> bytes | None:
        """`source` as `terraform fmt` writes it, None where it does not parse. Raises `errors.TerraformMissing`."""
        ran = await self._run("fmt", "-", stdin=source)
        return ran.out if ran.code == 0 else None

    async def plan(self, root: Path, *, state: Path | None = None, targets: Sequence[str] = ()) -> Path | None:
        """Plan the code in `root` against `state` and the live system; nothing is changed, not even the state.

        Returns None where the plan is empty (exit code 0), else the plan file (exit code 2). `state` is an absolute path;
        None lets the code's own backend find it. Initialises plug-ins and modules first where that is needed.
        Raises `errors.TerraformMissing`, `errors.TerraformFailed`.
        """
        file = self._plan_file()
        argv = ["plan", "-detailed-exitcode", "-lock=false", "-no-color", "-compact-warnings", f"-out={file}"]
        argv += [f"-state={state}"] if state else []
        argv += [f"-target={target}" for target in targets]
        ran = await self._with_plugins(root, argv)
        if ran.code not in {0, 2}:
            raise TerraformFailed.saying("plan", _last_lines(ran))
        if ran.code == 2:  # noqa: PLR2004  documented for -detailed-exitcode
            return file
        return None

    async def show(self, root: Path, plan: Path) -> dict[str, Any]:
        """A plan file as the JSON of Terraform's "JSON Output Format"; the file, which may hold secrets, is removed.

        Raises `errors.TerraformFailed`.
        """
        try:
            return self._document(await self._with_plugins(root, ["show", "-json", "-no-color", str(plan)]), "show")
        finally:
            _forget(plan)

    async def init(self, root: Path) -> None:
        """Install plug-ins and modules for `root` into our own working directory. Raises `errors.TerraformFailed`."""
        ran = await self._run("init", "-no-color", "-lock=false", root=root, data=self._own_data)
        if ran.code:
            raise TerraformFailed.saying("init", _last_lines(ran))

    async def _with_plugins(self, root: Path, argv: Sequence[str]) -> Ran:
        """Run with the user's plug-in data, else with ours; where ours does not fit, initialise it and run once more."""
        for data in self._data_directories():
            ran = await self._run(*argv, root=root, data=data)
            if ran.code in {0, 2} or not any(sign in ran.err for sign in _NEEDS_INIT):
                return ran
        await self.init(root)
        return await self._run(*argv, root=root, data=self._own_data)

    def _plan_file(self) -> Path:
        """A fresh name each time: a terraform whose parent was killed may still be writing the last one."""
        return (self.workdir / f"plan-{secrets.token_hex(8)}").absolute()

    @property
    def _own_data(self) -> Path:
        return (self.workdir / "data").absolute()

    def _data_directories(self) -> list[Path]:
        """Ours first once it exists: it was made because the user's did not fit."""
        candidates = [self._own_data, *([self.shared_data.absolute()] if self.shared_data else [])]
        return [path for path in candidates if path.is_dir()][:1]

    async def _run(self, *argv: str, stdin: bytes = b"", root: Path | None = None, data: Path | None = None) -> Ran:
        self.workdir.mkdir(parents=True, exist_ok=True)
        environment = {**self.environment, **({"TF_DATA_DIR": str(data)} if data else {})}
        try:
            process = await asyncio.create_subprocess_exec(
                self.executable,
                *argv,
                cwd=root or self.workdir,
                env=environment,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except (FileNotFoundError, PermissionError) as error:
            raise TerraformMissing.named(self.executable) from error
        try:
            out, err = await asyncio.wait_for(process.communicate(stdin), self.seconds)
        except TimeoutError as error:
            raise TerraformFailed.saying(
                argv[0], f"It took longer than {self.seconds:.0f} seconds and was ended."
            ) from error
        finally:
            await _end(process)
        return Ran(code=process.returncode or 0, out=out, err=err.decode(errors="replace"))

    def _document(self, ran: Ran, command: str) -> dict[str, Any]:
        if ran.code:
            raise TerraformFailed.saying(command, _last_lines(ran))
        document: dict[str, Any] = json.loads(ran.out)
        return document


def _forget(plan: Path) -> None:
    plan.unlink(missing_ok=True)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End what still runs, with the providers it started: they share its process group."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _last_lines(ran: Ran) -> str:
    said = ran.err.strip() or ran.out.decode(errors="replace").strip()
    return "\n".join(said.splitlines()[-_LAST_LINES:]) or f"nothing; its exit code is {ran.code}."
