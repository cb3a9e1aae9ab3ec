"""The scenarios as data: kinds of change (`kinds.yaml`) and, one file a project, where each is made (`scenarios/*.yaml`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
SEES = ("plan", "gone", "silent", "invisible", "nothing")
"""What a plan of the untouched code shows of a change, the most visible first; `kinds.yaml` says what each means."""
ORIGINS = ("measured", "runbook", "agent", "human", "creation", "deletion", "composite")
"""The classes of scenarios: where the change is taken from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Creates:
    """The resource that a change creates: its type, the attributes that find it in a state, and the id to import it by."""

    type: str
    where: Mapping[str, Any]
    import_id: str
    names: Sequence[str] = ()
    """Other forms of its identity, each as good as the import id where it is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of change: the calls that make it and the reads that show it, with placeholders (see `fill`)."""

    name: str
    sees: str
    calls: Sequence[Sequence[Any]]
    reads: Sequence[Sequence[Any]]
    creates: Creates | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A kind of change, made to one resource."""

    kind: Kind
    on: str
    """The Terraform address of the changed resource; for a creation, of the resource it belongs to, or empty."""
    value: Any = None
    more: Mapping[str, Any] = field(default_factory=dict)
    """Other values that the kind's placeholders name."""
    left: bool = False
    """Whether what it creates must stay out of the code and be listed as left."""
    form: str = ""
    """How the address of what it creates has to begin, if its siblings prescribe it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """One edit of the gold: `old`, which occurs once in `file`, becomes `new`; an empty `old` appends."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Changes made together outside of Terraform, and the edit that a careful engineer would answer with."""

    id: str
    root: str
    """The root module, relative to the project."""
    origin: str
    shape: str
    """How the code declares what changed: literal, default, tfvars, local, for_each map, …"""
    changes: Sequence[Change]
    gold: Sequence[Replacement] = ()
    """Empty if the right answer is to leave the code as it is."""
    maker: str = ""
    """Who made the changes (`made.ACTORS`), if the origin does not say it."""
    adopt: str = ""
    """What of the new resources is to be written: all, linked or none; empty for the default."""
    issue_class: str = ""
    """The class of issue 22 that it was written for; empty for the scenarios of before."""
    says: Sequence[str] = ()
    """Words that the answer must have where nothing may be written: the proposal or the rule that a human needs."""

    @property
    def creations(self) -> str:
        """What of creations is played: linked, unlinked, both, events that leave nothing new, or none (empty)."""
        created = {"linked" if change.on else "unlinked" for change in self.changes if change.kind.creates}
        return " and ".join(sorted(created)) or ("nothing new" if self.sees == "nothing" else "")

    @property
    def out(self) -> bool:
        """Whether the change must stay out of the code, so that leaving it is the pass."""
        return not self.gold

    @property
    def sees(self) -> str:
        """What a plan shows of it: the most visible of its changes."""
        return min((change.kind.sees for change in self.changes), key=SEES.index)


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project written for the benchmark, and its scenarios."""

    name: str
    path: Path
    """Its code."""
    roots: Sequence[str]
    frozen: Sequence[str] = ()
    """Folders that are somebody else's code (vendored modules): editing them is wrong."""
    scenarios: Sequence[Scenario] = ()


def golden(scenario: Scenario, code: Path) -> dict[str, tuple[str, str]]:
    """Previous and new text of each file that the gold edit changes. Raises ValueError if it does not fit the code."""
    texts: dict[str, tuple[str, str]] = {}
    for edit in scenario.gold:
        path = code / edit.file
        before, now = (
            texts.get(edit.file, ("", "")) if edit.file in texts or not path.exists() else (path.read_text(),) * 2
        )
        if edit.old and now.count(edit.old) != 1:
            raise ValueError(f"{scenario.id}: {edit.old!r} occurs {now.count(edit.old)} times in {edit.file}.")
        texts[edit.file] = (before, now.replace(edit.old, edit.new) if edit.old else now + edit.new)
    return texts


def _read_yaml(path: Path) -> Any:
    """What a file says. Libyaml reads the scenarios in a tenth of the time of the parser in Python."""
    return yaml.load(path.read_text(), Loader=yaml.CSafeLoader)


def read_kinds(*paths: Path) -> dict[str, Kind]:
    """The kinds of change by name, of these files or of the benchmark's own. Raises ValueError if one is incomplete."""
    files = paths or (HERE / "kinds.yaml", HERE / "creations.yaml")
    found = {name: _kind(name, entry) for path in files for name, entry in _read_yaml(path).items()}
    if wrong := [name for name, kind in found.items() if kind.sees not in SEES or not kind.calls or not kind.reads]:
        raise ValueError(f"These kinds are incomplete: {', '.join(wrong)}.")
    return found


def project_names(folder: Path = HERE / "scenarios") -> list[str]:
    """The projects that have scenarios."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def read_project(name: str, kinds: Mapping[str, Kind], folder: Path = HERE / "scenarios") -> Project:
    """A project with its scenarios. Raises ValueError, KeyError if one is incomplete."""
    document = _read_yaml(folder / f"{name}.yaml")
    roots = document.get("roots", ["."])
    scenarios = [_scenario(name, entry, roots[0], kinds) for entry in document["scenarios"]]
    ids = [scenario.id for scenario in scenarios]
    if twice := sorted({each for each in ids if ids.count(each) > 1}):
        raise ValueError(f"{name}: these ids occur twice: {', '.join(twice)}.")
    return Project(
        name=name, path=HERE / "projects" / name, roots=roots, frozen=document.get("frozen", []), scenarios=scenarios
    )


_MEMBERS = {
    "id", "root", "origin", "shape", "kind", "target", "value", "with", "parts", "gold", "out",
    "maker", "adopt", "left", "form", "class", "says",
}  # fmt: skip


def _kind(name: str, entry: Mapping[str, Any]) -> Kind:
    new = entry.get("creates")
    creates = (
        Creates(type=new["type"], where=new["where"], import_id=new["import"], names=new.get("names", []))
        if new
        else None
    )
    return Kind(name=name, sees=entry["sees"], calls=entry["calls"], reads=entry["reads"], creates=creates)


def _scenario(project: str, entry: Mapping[str, Any], root: str, kinds: Mapping[str, Kind]) -> Scenario:
    unknown = set(entry) - _MEMBERS
    if unknown or entry["origin"] not in ORIGINS:
        raise ValueError(f"{project}/{entry['id']}: unknown member or origin: {sorted(unknown)} {entry['origin']}")
    gold = [Replacement(file=file, old=old, new=new) for file, old, new in entry.get("gold", [])]
    parts = entry.get("parts", [entry])
    if bool(gold) == bool(entry.get("out") or all(part.get("left") for part in parts)):
        raise ValueError(f"{project}/{entry['id']}: it needs either `gold`, `out: true` or `left: true`.")
    if entry.get("says") and gold:
        raise ValueError(
            f"{project}/{entry['id']}: `says` is for what stays out, so it needs `out: true` and no `gold`."
        )
    return Scenario(
        id=f"{project}/{entry['id']}",
        root=entry.get("root", root),
        origin=entry["origin"],
        shape=entry["shape"],
        changes=[_change(part, kinds) for part in parts],
        gold=gold,
        maker=entry.get("maker", ""),
        adopt=entry.get("adopt", ""),
        issue_class=str(entry.get("class", "")),
        says=entry.get("says", []),
    )


def _change(part: Mapping[str, Any], kinds: Mapping[str, Kind]) -> Change:
    return Change(
        kind=kinds[part["kind"]], on=part.get("target", ""), value=part.get("value"), more=part.get("with", {}),
        left=part.get("left", False), form=part.get("form", ""),
    )  # fmt: skip
