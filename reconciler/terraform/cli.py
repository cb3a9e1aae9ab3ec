"""The terraform command, run as a child process without a shell, with a timeout."""

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gateway.core.errors import CodeInvalid
from reconciler.errors import TerraformFailed, TerraformMissing
from reconciler.terraform.code_guard import CodeGuard
from reconciler.terraform.plugin.process import give_way
from reconciler.terraform.plugin.warm import WarmProvider
from reconciler.terraform.refresh import Refreshed, messages, read_refreshed

DEFAULT = "terraform"
_INSTEAD = "tofu"
_LAST_LINES = 30
_NEEDS_INIT = ("terraform init", "tofu init", "Required plugins are not installed", "Inconsistent dependency lock file")
"""Text in terraform's errors when `.terraform` does not fit the code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """The exit code and output of a command."""

    code: int
    out: bytes
    err: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedPlan:
    """A plan file, which may hold secrets, so its maker removes it."""

    file: Path
    changes: bool
    """Whether `-detailed-exitcode` gave 2: the plan would change resources, outputs or the state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terraform:
    """One terraform executable, and the environment and limits it runs with."""

    environment: Mapping[str, str] = field(repr=False)
    """See `gateway.terraform.provider_mirror.terraform_environment`. It holds credentials, so it is never printed."""
    workdir: Path
    """Our own directory, for plug-in data and plan files."""
    executable: str = "terraform"
    seconds: float = 600.0
    """Timeout of one command."""
    shared_data: Path | None = None
    """The user's own `.terraform`, used while it fits the code; only read. With a guard, not one that the repository itself has."""
    backend_config: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What the code leaves to `terraform init -backend-config`."""
    workspace: str = ""
    """Terraform workspace; empty for the one that is selected."""
    warm: WarmProvider | None = field(default=None, repr=False)
    """Runs the AWS provider between commands; None: each command starts its own."""
    background: bool = False
    """Whether its processes give way to all others of this machine, put-backs among them."""
    guard: CodeGuard | None = None
    """Checks code before each command that reads it; None for code that the user runs on their own machine anyway."""

    async def version(self) -> str:
        """Terraform's version, e.g. `1.11.4`. Raises `errors.TerraformMissing`, `errors.TerraformFailed`."""
        completed = await self._run("version", "-json")
        return str(self._document(completed, "version")["terraform_version"])

    async def format(self, source: bytes) -> bytes | None:
        """`source` as `terraform fmt` writes it; None if it does not parse. Raises `errors.TerraformMissing`."""
        completed = await self._run("fmt", "-", stdin=source)
        return completed.out if completed.code == 0 else None

    async def plan(self, root: Path, *, state: Path | None = None, targets: Sequence[str] = ()) -> Path | None:
        """Plan the code in `root` against `state` and the live system; nothing is changed, not even the state.

        Returns None if the plan is empty (exit code 0), else the plan file (exit code 2). `state` is an absolute path;
        None lets the code's own backend find it. Initialises plug-ins and modules first if needed.
        Raises `errors.TerraformMissing`, `errors.TerraformFailed`, and `errors.CodeRefused` before anything runs.
        """
        saved = await self.saved_plan(root, state=state, targets=targets)
        if saved.changes:
            return saved.file
        _remove(saved.file)
        return None

    async def saved_plan(
        self,
        root: Path,
        *,
        state: Path | None = None,
        targets: Sequence[str] = (),
        refresh_only: bool = False,
        replace: Sequence[str] = (),
    ) -> SavedPlan:
        """As `plan`, with the file of an empty plan too. `refresh_only` plans an update of the state alone, `replace` the replacement of
        resources. Raises as `plan`.
        """
        file = self._plan_file()
        argv = ["plan", "-detailed-exitcode", "-lock=false", "-no-color", "-compact-warnings", f"-out={file}"]
        argv += ["-refresh-only"] if refresh_only else []
        argv += [f"-replace={address}" for address in replace]
        argv += [f"-state={state}"] if state else []
        argv += [f"-target={target}" for target in targets]
        completed = await self._with_plugins(root, argv)
        if completed.code in {0, 2}:
            return SavedPlan(file=file, changes=completed.code == 2)  # noqa: PLR2004  documented for -detailed-exitcode
        _remove(file)
        raise TerraformFailed.saying("plan", _last_lines(completed))

    async def apply(self, root: Path, plan: Path, *, state: Path | None, lock_seconds: int) -> None:
        """Apply a plan file under the backend's lock, waiting for it. Terraform refuses a plan that is older than the state.

        Only `reconciler.terraform.state_update` calls this, with plans that change nothing but the state.
        Raises `errors.TerraformFailed`, `errors.TerraformMissing`.
        """
        argv = ["apply", "-input=false", "-no-color", "-compact-warnings", f"-lock-timeout={lock_seconds}s"]
        argv += [f"-state={state}"] if state else []
        completed = await self._with_plugins(root, [*argv, str(plan)])
        if completed.code:
            raise TerraformFailed(
                f"`terraform apply` of a plan for the state alone failed. It said:\n{_last_lines(completed)}"
            )

    async def apply_and_log(self, root: Path, plan: Path, *, state: Path | None, lock_seconds: int) -> Completed:
        """Apply a plan file under the backend's lock; what terraform said. Only `reconciler.drift.healing` calls this. Raises `errors.TerraformMissing`."""
        argv = ["apply", "-input=false", "-no-color", "-compact-warnings", f"-lock-timeout={lock_seconds}s"]
        argv += [f"-state={state}"] if state else []
        return await self._once(root, [*argv, str(plan)])

    async def refresh(self, root: Path, *, state: Path | None, targets: Sequence[str]) -> Refreshed:
        """Read the live attributes of resources; nothing is changed, not even the state.

        Raises as `plan`.
        """
        file = self._plan_file()
        argv = ["plan", "-refresh-only", "-json", "-lock=false", f"-out={file}"]
        argv += [f"-state={state}"] if state else []
        argv += [f"-target={target}" for target in targets]
        completed = await self._with_plugins(root, argv)
        if completed.code:
            _remove(file)
            raise TerraformFailed.saying(
                "plan -refresh-only", "\n".join(messages(completed.out)) or _last_lines(completed)
            )
        return read_refreshed(completed.out, await self.show(root, file))

    async def show(self, root: Path, plan: Path) -> dict[str, Any]:
        """The JSON of a plan file ("JSON Output Format"). Removes the file, which may hold secrets.

        Raises `errors.TerraformFailed`.
        """
        try:
            return await self.plan_document(root, plan)
        finally:
            _remove(plan)

    async def plan_document(self, root: Path, plan: Path) -> dict[str, Any]:
        """As `show`, and the file stays. Raises `errors.TerraformFailed`."""
        return self._document(await self._with_plugins(root, ["show", "-json", "-no-color", str(plan)]), "show")

    async def provider_schemas(self, root: Path) -> dict[str, Any]:
        """The schemas of the providers of the code ("terraform providers schema", format version 1). Raises as `plan`."""
        return self._document(await self._with_plugins(root, ["providers", "schema", "-json"]), "providers schema")

    async def pulled_state(self, root: Path) -> bytes:
        """The state in the backend of the code; empty if there is none. It holds secrets. Raises as `plan`."""
        completed = await self._with_plugins(root, ["state", "pull"])
        if completed.code:
            raise TerraformFailed.saying("state pull", _last_lines(completed))
        return completed.out

    async def init(self, root: Path) -> None:
        """Install plug-ins and modules for `root` into our own working directory.

        Raises `errors.TerraformFailed`, `errors.CodeRefused`.
        """
        await self._check(root, None)
        # Our data directory holds no state, so a changed backend needs no migration.
        given = [f"-backend-config={name}={value}" for name, value in self.backend_config.items()]
        argv = ["init", "-no-color", "-lock=false", "-input=false", "-reconfigure", *given]
        completed = await self._run(*argv, root=root, data=self._own_data)
        if completed.code:
            raise TerraformFailed.saying("init", _last_lines(completed))

    @property
    def plugin_data(self) -> Path | None:
        """The directory with the installed plug-ins and modules that the next command would use; None before the first `init`."""
        return next(iter(self._data_directories()), None)

    async def check(self, root: Path) -> None:
        """Check the code as before each command that reads it. Raises `errors.CodeRefused`."""
        await self._check(root, self.plugin_data)

    async def _with_plugins(self, root: Path, argv: Sequence[str]) -> Completed:
        """Run with our plug-in data or the user's; if it does not fit the code, initialise ours and run again."""
        for data in self._data_directories():
            await self._check(root, data)
            completed = await self._run_warm(root, data, argv)
            output = completed.err + completed.out.decode(errors="replace")
            if completed.code in {0, 2} or not any(text in output for text in _NEEDS_INIT):
                return completed
        await self.init(root)
        await self._check(root, self._own_data)
        return await self._run_warm(root, self._own_data, argv)

    async def _run_cold(self, root: Path, data: Path | None, argv: Sequence[str]) -> Completed:
        return await self._run(*argv, root=root, data=data)

    async def _run_warm(self, root: Path, data: Path, argv: Sequence[str]) -> Completed:
        """Run with a provider that runs already, where there is one. What fails with it is run again without."""
        if self.warm is None:
            return await self._run_cold(root, data, argv)
        async with self.warm.attached(root, data) as attached:
            completed = await self._run(*argv, root=root, data=data, more=attached)
        if not attached or completed.code in {0, 2}:
            return completed
        again = await self._run_cold(root, data, argv)
        if again.code in {0, 2}:
            await self.warm.give_up()
        return again

    async def _once(self, root: Path, argv: Sequence[str]) -> Completed:
        """Run with the plug-ins of the plan before it, and never again: it changes more than the state, and may have before it failed."""
        await self._check(root, self.plugin_data)
        return await self._run_cold(root, self.plugin_data, argv)

    async def _check(self, root: Path, data: Path | None) -> None:
        """Check the code, and the modules that were downloaded into `data`. Raises `errors.CodeRefused`."""
        if self.guard is not None:
            await asyncio.to_thread(self.guard.check, root, data)

    def _plan_file(self) -> Path:
        """A new name each time: a terraform whose parent was killed may still be writing the last file."""
        return (self.workdir / f"plan-{secrets.token_hex(8)}").absolute()

    @property
    def _own_data(self) -> Path:
        return (self.workdir / "data").absolute()

    def _data_directories(self) -> list[Path]:
        """Ours if it exists (it was made because the user's did not fit), else the user's."""
        if self._own_data.is_dir():
            return [self._own_data]
        shared = self.shared_data.absolute() if self.shared_data else None
        usable = shared is not None and shared.is_dir() and (self.guard is None or not is_committed(shared))
        return [shared] if shared is not None and usable else []

    async def _run(
        self,
        *argv: str,
        stdin: bytes = b"",
        root: Path | None = None,
        data: Path | None = None,
        more: Mapping[str, str] | None = None,
    ) -> Completed:
        self.workdir.mkdir(parents=True, exist_ok=True)
        environment = {**self.environment, **({"TF_DATA_DIR": str(data)} if data else {})}
        environment |= {"TF_WORKSPACE": self.workspace} if self.workspace else {}
        environment |= more or {}
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
        if self.background:
            give_way(process.pid)
        try:
            out, err = await asyncio.wait_for(process.communicate(stdin), self.seconds)
        except TimeoutError as error:
            raise TerraformFailed.saying(
                argv[0], f"It took longer than {self.seconds:.0f} seconds and was ended."
            ) from error
        finally:
            await end_process(process)
        return Completed(code=process.returncode or 0, out=out, err=err.decode(errors="replace"))

    def _document(self, completed: Completed, command: str) -> dict[str, Any]:
        if completed.code:
            raise TerraformFailed.saying(command, _last_lines(completed))
        document: dict[str, Any] = json.loads(completed.out)
        return document


def _remove(plan: Path) -> None:
    plan.unlink(missing_ok=True)


async def end_process(process: asyncio.subprocess.Process) -> None:
    """Kill the process if it still runs, with the providers it started: they share its process group, and outlive one that was killed.

    Its pipes are closed even if another program has them too: one that left the group keeps them open, and Python 3.11 waits until nobody does.
    """
    killed = process.returncode is None or process.returncode < 0
    if killed:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    transport = process._transport  # type: ignore[attr-defined]  # noqa: SLF001  `communicate` closes them only at their ends
    for descriptor in range(3):
        if (pipe := transport.get_pipe_transport(descriptor)) is not None:
            pipe.close()
    if killed:
        await process.wait()
    transport.close()


def _last_lines(completed: Completed) -> str:
    output = completed.err.strip() or completed.out.decode(errors="replace").strip()
    return "\n".join(output.splitlines()[-_LAST_LINES:]) or f"nothing; its exit code is {completed.code}."


def found_executable(wanted: str, which: Callable[[str], str | None] = shutil.which) -> str:
    """The executable to run: the one that is wanted, or `tofu` if that is the default and is not installed, but `tofu` is."""
    if wanted == DEFAULT and which(DEFAULT) is None and which(_INSTEAD) is not None:
        return _INSTEAD
    return wanted


def is_committed(data: Path) -> bool:
    """Whether the repository itself has this data directory of terraform's: then who commits decides which programs are its providers."""
    from gateway.terraform.repository import find_checkout  # noqa: PLC0415  a quick command has no guard, and this takes a while

    checkout = find_checkout(data.absolute().parent)
    if checkout is None:
        return False
    try:
        head = checkout.commit("HEAD")
        with checkout.files(head) as tree:
            return tree.has(data.name)
    except CodeInvalid:
        return True
