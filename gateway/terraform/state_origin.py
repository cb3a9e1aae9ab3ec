"""Where a stack's state is read: a file, or an object in S3 or another backend that is asked for again only if it changed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gateway.core.errors import CodeInvalid
from gateway.terraform.code import Code
from gateway.terraform.config.backend import StateBackend, StateObject, state_location
from gateway.terraform.origin import StackSource, Version, fingerprint


class RemoteStates(Protocol):
    """Reads states that are no files; `gateway.aws.client.states` is one."""

    def read(self, wanted: StateObject | StateBackend) -> tuple[bytes, str]:
        """The state and a tag that changes with it; no bytes if there is none yet. Raises `errors.CodeInvalid`."""


class StateOrigin(Protocol):
    """Where a state is read."""

    @property
    def name(self) -> str:
        """For messages."""

    def version(self) -> Version:
        """The version that is there now. Never raises."""

    def read(self) -> bytes:
        """The state; empty if there is none. Raises `errors.CodeInvalid`."""


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


def state_origin(source: StackSource, code: Code, objects: RemoteStates | None) -> StateOrigin:
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
