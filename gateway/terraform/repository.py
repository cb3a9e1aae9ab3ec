"""Reads a stack's files from a commit of its git repository: no process is started, nothing is written, the working tree is not looked at."""

import os
import posixpath
import re
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from dulwich.objects import Blob, Commit, ObjectID, ShaFile, Tag, Tree
from dulwich.refs import Ref
from dulwich.repo import Repo

from gateway.core.errors import CodeInvalid

_MOST_LINKS = 40
_USUAL = ("main", "master")
_REMOTE = "origin"
_Entry = tuple[int, ObjectID]
_Kind = TypeVar("_Kind", bound=ShaFile)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """The git checkout that holds a directory."""

    top: Path
    """Where `.git` is."""
    prefix: str
    """The directory, relative to `top`, with `/`."""

    def protected_ref(self, wanted: str = "") -> str:
        """The full name of the protected branch's ref. Raises `errors.CodeInvalid` if there is none.

        `wanted` is a branch, a remote's branch, a full ref name or HEAD. Where it is empty, the upstream of the branch that is
        checked out now, else `main` or `master`. What a remote has comes before what is committed locally.
        """
        with self._open() as repository:
            for ref in _candidates(repository, wanted):
                if _commit(repository, ref):
                    return ref
        name = (
            f"There is no branch {wanted!r}"
            if wanted
            else "The branch that is checked out has no upstream, and there is no branch 'main'"
        )
        raise CodeInvalid(
            f"{self.top}: {name}, so it is not known which commit's contracts hold. "
            "Set `protected_branch` of the stack, or fetch the branch."
        )

    def commit(self, ref: str) -> str:
        """The commit id that the ref has now, as hex digits. Raises `errors.CodeInvalid`."""
        with self._open() as repository:
            commit = _commit(repository, ref)
        if not commit:
            raise CodeInvalid(f"{self.top}: The protected branch {ref} is gone. Fetch it, or make it again.")
        return commit

    def revision(self, wanted: str) -> str:
        """The commit id of a branch, a tag or a commit id of at least seven digits. Raises `errors.CodeInvalid` if there is none."""
        with self._open() as repository:
            if re.fullmatch(r"[0-9a-f]{7,64}", wanted):
                named = {each.decode() for each in repository.object_store.iter_prefix(wanted.encode())}
                commits = [each for each in named if isinstance(repository[ObjectID(each.encode())], Commit)]
                if len(commits) == 1:
                    return commits[0]
            for ref in (*_candidates(repository, wanted), f"refs/tags/{wanted}"):
                if found := _commit(repository, ref):
                    return found
        raise CodeInvalid(f"{self.top}: There is no branch, tag or commit {wanted[:100]!r}. Fetch it first.")

    @contextmanager
    def files(self, commit: str) -> Iterator["CommitTree"]:
        """The directory's files in a commit, for as long as the block lasts. Raises `errors.CodeInvalid`."""
        with self._open() as repository:
            yield CommitTree(repository, commit, self.prefix)

    @contextmanager
    def _open(self) -> Iterator[Repo]:
        # Opened for each use (half a millisecond): one that is kept would not see packs that others write.
        try:
            repository = Repo(str(self.top))
        except Exception as error:  # whatever is wrong with the repository, its files do not count
            raise CodeInvalid(
                f"{self.top}: The git repository cannot be read ({type(error).__name__}: {error})."
            ) from error
        with repository:
            yield repository


def find_checkout(path: Path) -> Checkout | None:
    """The git checkout that holds the directory; None if it is in none. `GIT_CEILING_DIRECTORIES` ends the search as it does git's."""
    directory = path.resolve()
    ceilings = {
        Path(each).resolve() for each in os.environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep) if each
    }
    for top in (directory, *directory.parents):
        if top != directory and top in ceilings:
            return None
        if (top / ".git").exists():
            return Checkout(top=top, prefix=directory.relative_to(top).as_posix())
    return None


def _commit(repository: Repo, ref: str) -> str:
    """The commit id that a ref has; empty if there is no such ref."""
    try:
        return repository.refs[Ref(ref.encode())].decode()
    except KeyError:
        return ""
    except Exception as error:  # a ref that cannot be read, for whatever reason, names nothing
        raise CodeInvalid(f"{repository.path}: {ref} cannot be read ({type(error).__name__}: {error}).") from error


def _candidates(repository: Repo, wanted: str) -> Iterator[str]:
    """Full ref names, the best first."""
    if wanted == "HEAD" or wanted.startswith("refs/"):
        yield wanted
        return
    if not wanted:
        yield from _upstream(repository)
    for name in (wanted,) if wanted else _USUAL:
        yield f"refs/remotes/{name}"
        yield f"refs/remotes/{_REMOTE}/{name}"
        yield f"refs/heads/{name}"


def _upstream(repository: Repo) -> Iterator[str]:
    """The ref that the checked-out branch follows; nothing if it follows none or no branch is checked out."""
    head = repository.refs.read_ref(Ref(b"HEAD")) or b""
    _, _, branch = head.partition(b"ref: refs/heads/")
    config = repository.get_config()
    try:
        remote, merge = (config.get((b"branch", branch), name).decode() for name in (b"remote", b"merge"))
    except KeyError:
        return
    yield merge if remote == "." else f"refs/remotes/{remote}/{merge.removeprefix('refs/heads/')}"


@dataclass(slots=True)
class CommitTree:
    """The files of a directory in one commit; a `FileTree`. Links are followed inside the repository, as they are on disk."""

    repository: Repo
    commit: str
    prefix: str
    _trees: dict[tuple[str, ...], dict[str, _Entry]] = field(default_factory=dict)
    _kept: dict[str, bytes] = field(default_factory=dict)

    def check(self) -> None:
        """Raise `errors.CodeInvalid` if the commit does not have the directory."""
        _, entry = self._find(".")
        if entry is None or not stat.S_ISDIR(entry[0]):
            raise CodeInvalid(
                f"{self.prefix}: The commit {self.commit[:12]} of the protected branch has no such directory, so there is no code "
                "and there are no contracts to read. Commit it there, or set `protected_branch` of the stack."
            )

    def names(self, directory: str) -> Collection[str]:
        """The names of the files in a directory; none if the commit has no such directory."""
        where, entry = self._find(directory)
        if entry is None or not stat.S_ISDIR(entry[0]):
            return ()
        return [name for name, (mode, _) in self._tree(where).items() if self._is_file(directory, name, mode)]

    def folders(self, directory: str) -> Collection[str] | None:
        """The names of the folders in a directory; None if something there is a link that may lead to one, or if it is no directory."""
        where, entry = self._find(directory)
        if entry is None or not stat.S_ISDIR(entry[0]):
            return None
        found = self._tree(where).items()
        links = (name for name, (mode, _) in found if stat.S_ISLNK(mode))
        if any(not self._is_file(directory, name, stat.S_IFLNK) for name in links):
            return None
        return [name for name, (mode, _) in found if stat.S_ISDIR(mode)]

    def has(self, path: str) -> bool:
        """Whether the commit has anything at the path: a file, a directory, a link or a submodule."""
        return self._find(path)[1] is not None

    def read(self, path: str) -> bytes:
        """The bytes of a file. Raises `errors.CodeInvalid`."""
        content = self._kept.get(path)
        if content is None:
            _, entry = self._find(path)
            if entry is None or not stat.S_ISREG(entry[0]):
                raise CodeInvalid(f"{path}:1: The commit {self.commit[:12]} of the protected branch has no such file.")
            content = self._kept[path] = self._blob(entry[1])
        return content

    def small(self, path: str, most: int) -> bytes | None:
        """The bytes of a file; None if there is none, if it lies behind a link, or if it has more than `most` bytes."""
        named = posixpath.normpath(posixpath.join(self.prefix, path))
        try:
            where, entry = self._find(path)
            if "/".join(where) != named or entry is None or not stat.S_ISREG(entry[0]):
                return None
            content = self.read(path)
        except CodeInvalid:
            return None
        return content if len(content) <= most else None

    def _is_file(self, directory: str, name: str, mode: int) -> bool:
        if stat.S_ISLNK(mode):
            _, entry = self._find(posixpath.join(directory, name))
            return entry is not None and stat.S_ISREG(entry[0])
        return stat.S_ISREG(mode)

    def _find(self, path: str) -> tuple[tuple[str, ...], _Entry | None]:
        """Where a path leads, relative to the repository, links followed; and what is there, None for nothing."""
        todo = posixpath.join(self.prefix, path).split("/")[::-1]
        where: list[str] = []
        entry: _Entry | None = (stat.S_IFDIR, ObjectID(b""))
        links = 0
        while todo:
            step = todo.pop()
            if step == ".." and where:
                where.pop()
            elif step == "..":
                raise CodeInvalid(f"{path}: The path leads out of the git repository, so it is in no commit.")
            elif step not in ("", "."):
                entry = self._tree(tuple(where)).get(step)
                if entry is None:
                    return tuple(where), None
                if stat.S_ISLNK(entry[0]):
                    links += 1
                    if links > _MOST_LINKS:
                        raise CodeInvalid(f"{path}: The links lead in a circle.")
                    todo += self._link(path, entry[1])
                    continue
                where.append(step)
        return tuple(where), self._entry(tuple(where))

    def _link(self, path: str, blob: ObjectID) -> list[str]:
        target = self._blob(blob).decode(errors="surrogateescape")
        if target.startswith("/"):
            raise CodeInvalid(f"{path}: The link leads out of the git repository, so what it names is in no commit.")
        return target.split("/")[::-1]

    def _entry(self, where: tuple[str, ...]) -> _Entry | None:
        return self._tree(where[:-1]).get(where[-1]) if where else (stat.S_IFDIR, ObjectID(b""))

    def _tree(self, where: tuple[str, ...]) -> dict[str, _Entry]:
        """The entries of a directory by name; none if there is no directory."""
        if where not in self._trees:
            self._trees[where] = self._listed(where)
        return self._trees[where]

    def _listed(self, where: tuple[str, ...]) -> dict[str, _Entry]:
        if where:
            mode, tree = self._tree(where[:-1]).get(where[-1], (0, ObjectID(b"")))
            if not stat.S_ISDIR(mode):
                return {}
        else:
            tree = self._root()
        found = self._object(tree, Tree)
        return {item.path.decode(errors="surrogateescape"): (item.mode, item.sha) for item in found.iteritems()}

    def _root(self) -> ObjectID:
        name = ObjectID(self.commit.encode())
        while isinstance(found := self._object(name, ShaFile), Tag):
            name = ObjectID(found.object[1])
        return ObjectID(self._object(name, Commit).tree)

    def _blob(self, name: ObjectID) -> bytes:
        return self._object(name, Blob).data

    def _object(self, name: ObjectID, kind: type[_Kind]) -> _Kind:
        try:
            found = self.repository[name]
        except Exception as error:  # what cannot be read, for whatever reason, does not count
            raise CodeInvalid(
                f"{self.repository.path}: The git object {name.decode()} cannot be read ({type(error).__name__}: {error})."
            ) from error
        if not isinstance(found, kind):
            raise CodeInvalid(f"{self.repository.path}: The git object {name.decode()} is no {kind.__name__.lower()}.")
        return found
