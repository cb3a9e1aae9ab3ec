"""Where the code and the state of a stack are read: code from a commit of the protected branch or from files, state from a file or a backend."""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from gateway.core.errors import CodeInvalid
from gateway.core.settings.stacks import StackSettings
from gateway.terraform.config.backend import StateBackend, StateObject, state_location
from gateway.terraform.contracts.contract import SUFFIX
from gateway.terraform.file_tree import DiskTree, EditedFiles, FileTree, file_tree, in_workspace
from gateway.terraform.repository import Checkout, find_checkout
from gateway.terraform.stack_code import Code, code_files, load_code

_ATTEMPTS = 5
MOST_CONTRACTS: Final = 100
"""Contract files of an edit."""
LARGEST_CONTRACT: Final = 64 * 1024
"""Characters of each."""

Version = tuple[tuple[str, int, int, int], ...]
"""Changes with the code, and costs little to find out: of files on disk their name, modification time, size and inode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingTree:
    """The files on disk. Who can write them can widen the contracts."""

    root: Path
    workspace: str = ""
    """Terraform workspace; empty for the one that is selected."""

    @property
    def description(self) -> str:
        """Where the code is read, for people."""
        return f"the files in {self.root}"

    def version(self, directories: Sequence[str], templates: Sequence[str] = ()) -> Version:
        """Of every file of the code, and of the templates that it reads."""
        code = [path for directory in directories for path in code_files(self.root, directory)]
        return fingerprint([*code, *(self.root / path for path in templates)])

    def load(self) -> tuple[Code, Version]:
        """The code, and its version taken before the files were read. Only the code says which directories and templates it has, so this may take two attempts."""
        directories: tuple[str, ...] = (".",)
        templates: tuple[str, ...] = ()
        for _ in range(_ATTEMPTS):
            version = self.version(directories, templates)
            code = load_code(in_workspace(file_tree(self.root), self.workspace))
            if (code.directories, code.templates) == (directories, templates):
                return code, version
            directories, templates = code.directories, code.templates
        raise CodeInvalid(f"{self.root}: The code keeps changing while it is read.")

    def warnings(self) -> tuple[str, ...]:
        """That the files are not protected."""
        sentence = (
            f"{self.root} is not in a git checkout, so its contracts are read from the files as they are: anyone who can write "
            "there can widen them. Point the stack to a checkout of the protected branch."
        )
        return (sentence,)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedBranch:
    """The commit that the protected branch has. What is not committed there does not count, be it contract, code or variables."""

    checkout: Checkout
    ref: str
    root: Path
    workspace: str = ""
    """Terraform workspace; empty for `default`."""

    @property
    def description(self) -> str:
        """Where the code is read, for people."""
        return f"{self.ref} of {self.checkout.top}"

    def version(self, directories: Sequence[str] = (), templates: Sequence[str] = ()) -> Version:  # noqa: ARG002  a commit has all
        """The commit; of a branch that cannot be read, why."""
        try:
            return ((self.checkout.commit(self.ref), 0, 0, 0),)
        except CodeInvalid as error:
            return ((str(error), 0, 0, 0),)

    def load(self) -> tuple[Code, Version]:
        """The code in the branch's commit."""
        commit = self.checkout.commit(self.ref)
        with self.checkout.files(commit) as files:
            return load_code(in_workspace(files, self.workspace)), ((commit, 0, 0, 0),)

    def warnings(self) -> tuple[str, ...]:
        """Which files with values of variables are on disk and not in the commit, so that their values are not known."""
        with self.checkout.files(self.checkout.commit(self.ref)) as files:
            committed = set(files.names("."))
        on_disk = [path.name for path in code_files(self.root, ".") if ".tfvars" in path.name]
        return tuple(
            f"{name} is not in {self.description}, so the values in it do not count for contracts and declared values."
            for name in on_disk
            if name not in committed
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeEdit:
    """Other code or other contracts than those in force, to see what they would do."""

    stack: str = ""
    """The stack that is edited; empty for all at a `ref`, and for the only one."""
    ref: str = ""
    """A branch, tag or commit whose code and contracts are read; empty for those in force."""
    contracts: Mapping[str, bytes] = field(default_factory=dict)
    """Contract files by their path in the stack."""
    alone: bool = False
    """Whether the stack has no other contract files than these."""

    def __bool__(self) -> bool:
        return bool(self.ref or self.contracts or self.alone)


CodeOrigin = WorkingTree | ProtectedBranch
"""Where code is read. It is chosen once, at the start, so that nobody can switch it on a running gateway."""


def code_origin(root: Path, protected_branch: str = "", workspace: str = "") -> CodeOrigin:
    """Where the code of the stack at `root` is read. Raises `errors.CodeInvalid` if the protected branch cannot be found."""
    checkout = find_checkout(root)
    if checkout is None and protected_branch:
        raise CodeInvalid(f"{root}: protected_branch is {protected_branch!r}, but the stack is not in a git checkout.")
    if checkout is None:
        return WorkingTree(root=root, workspace=workspace)
    ref = checkout.protected_ref(protected_branch)
    return ProtectedBranch(checkout=checkout, ref=ref, root=root, workspace=workspace)


def edited_code(source: StackSettings, origin: CodeOrigin, edit: CodeEdit) -> Code:
    """The code of a stack with the edit. Raises `errors.CodeInvalid` if there is no such commit, or the edited contracts are wrong."""
    with _files_of(source, origin, edit.ref) as files:
        return _with_edit(files, source.workspace, edit)


def contract_texts(source: StackSettings, origin: CodeOrigin, code: Code) -> Mapping[str, str]:
    """The contract files in force below the root of a stack, by path. Raises `errors.CodeInvalid` if one cannot be read."""
    inside = [each for each in code.directories if not each.startswith("..")]
    with _files_of(source, origin) as files:
        paths = [
            posixpath.normpath(posixpath.join(directory, name))
            for directory in inside
            for name in sorted(files.names(directory))
            if name.endswith(SUFFIX) and not name.startswith(".")
        ]
        return {path: files.read(path).decode("utf-8-sig", "replace") for path in paths}


@contextmanager
def _files_of(source: StackSettings, origin: CodeOrigin, ref: str = "") -> Iterator[FileTree]:
    """The files of the code in force, or at a revision. Raises `errors.CodeInvalid`."""
    checkout = find_checkout(source.path) if ref else None
    if ref and checkout is None:
        raise CodeInvalid(f"{source.path}: The stack is not in a git checkout, so there is no {ref[:100]!r} of it.")
    if checkout is not None:
        commit = checkout.revision(ref)
    elif isinstance(origin, ProtectedBranch):
        checkout, commit = origin.checkout, origin.checkout.commit(origin.ref)
    if checkout is None:
        yield DiskTree(source.path)
        return
    with checkout.files(commit) as files:
        yield files


def _with_edit(files: FileTree, workspace: str, edit: CodeEdit) -> Code:
    for path in edit.contracts:
        if not path.endswith(SUFFIX) or path != posixpath.normpath(path) or path.startswith(("/", "..", ".")):
            raise CodeInvalid(
                f"{path[:200]!r} is not the path of a contract in the stack: it ends in {SUFFIX}, and stays below the root."
            )
    edited = EditedFiles(in_workspace(files, workspace), edit.contracts, SUFFIX if edit.alone else "")
    return load_code(edited)


def fingerprint(paths: Sequence[Path]) -> Version:
    """Of each file its name, modification time, size and inode: they change with the file, so a change is seen without reading it."""
    found = []
    for path in paths:
        try:
            status = path.stat()
        except OSError:
            continue
        found.append((str(path), status.st_mtime_ns, status.st_size, status.st_ino))
    return tuple(found)


class RemoteStates(Protocol):
    """Reads states that are no files; `gateway.aws.client.states` is one."""

    def read(self, wanted: StateObject | StateBackend) -> tuple[bytes, str]:
        """The state and a tag that changes with it; no bytes if there is none yet. Raises `errors.CodeInvalid`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFile:
    """A state file."""

    path: Path

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.name

    def version(self) -> Version:
        """The file's fingerprint."""
        return fingerprint([self.path])

    def read(self) -> bytes:
        """The file's bytes."""
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise CodeInvalid(f"{self.name}:1: The state file cannot be read: {error.strerror}.") from error

    def is_cut_off(self, content: bytes) -> bool:
        """Whether the file is there and has nothing in it: Terraform empties it before it writes the next version."""
        return not content and self.path.exists()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredState:
    """A state in S3 or another backend."""

    objects: RemoteStates
    wanted: StateObject | StateBackend

    @property
    def name(self) -> str:
        """The object's URL, or what the backend is."""
        return self.wanted.url

    def version(self) -> Version:
        """The tag; of a state that cannot be read, why."""
        try:
            _, tag = self.objects.read(self.wanted)
        except CodeInvalid as error:
            return ((str(error), 0, 0, 0),)
        return ((f"{self.name} {tag}", 0, 0, 0),)

    def read(self) -> bytes:
        """The state's bytes."""
        content, _ = self.objects.read(self.wanted)
        return content

    def is_cut_off(self, content: bytes) -> bool:  # noqa: ARG002  a file's signature
        """Never: other backends replace a state as a whole."""
        return False


StateOrigin = StateFile | StoredState
"""Where a state is read."""


def state_origin(source: StackSettings, code: Code, objects: RemoteStates | None) -> StateOrigin:
    """Where the state of a stack is: the file in its settings, else where its code keeps it. Raises `errors.CodeInvalid`."""
    if source.state is not None:
        return StateFile(path=source.state)
    root = code.module.source
    wanted = state_location(root, source.name, given=source.backend_config, workspace=source.workspace)
    if wanted is None:
        return StateFile(path=source.path / "terraform.tfstate")
    if objects is None:
        place = f"{wanted.source}: " if isinstance(wanted, StateBackend) else ""
        raise CodeInvalid(f"{place}The stack {source.name} keeps its state in {wanted.url}, and nothing here reads it.")
    return StoredState(objects=objects, wanted=wanted)
