"""The proposals of rows that were learned in use, one file each in the data directory. None is in force before a person accepts it."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from gateway.core.derived_rows import DerivedRow, row_to_json, rows_of_text
from gateway.core.errors import NotFound
from gateway.core.model.json import digest
from gateway.core.times import utc_text
from gateway.effects.learned_rows import accept, write
from gateway.effects.learning import RowProposal, merged

FOLDER = "effects"
"""Below the data directory."""
MOST_PROPOSALS = 1_000


class StoredProposal(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal as it is stored, and whether it was accepted."""

    id: str
    service: str
    row: dict[str, Any]
    mutations: tuple[str, ...]
    evidence: tuple[str, ...]
    accepted_by: str = ""
    accepted_at: str = ""

    def to_proposal(self) -> RowProposal:
        """The proposal itself."""
        return RowProposal(row=_row(self), mutations=self.mutations, evidence=self.evidence)


class Proposals:
    """The proposals below a data directory."""

    def __init__(self, data: Path) -> None:
        self._folder = data / FOLDER

    def all(self) -> tuple[StoredProposal, ...]:
        """Every proposal, by service and operation."""
        found = [
            msgspec.json.decode(path.read_bytes(), type=StoredProposal) for path in self._folder.glob("eff_*.json")
        ]
        return tuple(sorted(found, key=lambda each: (each.service, str(each.row["operation"]), str(each.row["type"]))))

    def add(self, proposal: RowProposal) -> StoredProposal:
        """Store a proposal, together with an earlier one for the same operation and type. What it adds has to be accepted again.

        Raises `errors.NotFound` if there are too many.
        """
        key = _key(proposal.row)
        path = self._path(key)
        if path.is_file():
            earlier = self._read(key)
            proposal = merged(earlier.to_proposal(), proposal)
            if proposal == earlier.to_proposal():
                return earlier
        elif len(self.all()) >= MOST_PROPOSALS:
            raise NotFound(
                f"There are {MOST_PROPOSALS} proposals already: accept some, or delete their files in {self._folder}."
            )
        stored = StoredProposal(
            id=key,
            service=proposal.row.service,
            row=row_to_json(proposal.row),
            mutations=proposal.mutations,
            evidence=proposal.evidence,
        )
        self._write(stored)
        return stored

    def accept(self, key: str, directory: Path, *, by: str, at: datetime) -> Path:
        """Write the row into the directory of learned rows, and note who accepted it. Returns the file.

        Raises `errors.NotFound` for an unknown proposal, else as `learned_rows.accept`.
        """
        stored = self._read(key)
        path = accept(directory, _row(stored), by=by, mutations=stored.mutations)
        self._write(msgspec.structs.replace(stored, accepted_by=by, accepted_at=utc_text(at)))
        return path

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.json"

    def _read(self, key: str) -> StoredProposal:
        if not key.replace("_", "").isalnum() or not self._path(key).is_file():
            raise NotFound(f"There is no proposal {key[:64]}. `sentinel effects list` shows them.")
        return msgspec.json.decode(self._path(key).read_bytes(), type=StoredProposal)

    def _write(self, stored: StoredProposal) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        write(self._path(stored.id), msgspec.json.format(msgspec.json.encode(stored)).decode())


def _key(row: DerivedRow) -> str:
    return f"eff_{digest([row.service, row.operation, row.resource_type])[:12]}"


def _row(stored: StoredProposal) -> DerivedRow:
    (row,) = rows_of_text(stored.service, json.dumps(stored.row, ensure_ascii=False).encode())
    return row
