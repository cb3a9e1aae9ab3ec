"""The motive as records hold it."""

import msgspec

from gateway.core.model.motive import Intent, Motivation, Motive, motive_from_json, motive_to_json


class RecordedMotive(msgspec.Struct, frozen=True, kw_only=True):
    """Why a change is wanted."""

    intent: Intent
    motivation: Motivation
    text: str
    evidence: tuple[str, ...]
    wanted_seconds: int | None

    @classmethod
    def of(cls, motive: Motive | None) -> "RecordedMotive | None":
        """The recorded form of a motive; None of None."""
        return None if motive is None else msgspec.convert(motive_to_json(motive), cls)

    @property
    def motive(self) -> Motive | None:
        """The motive itself."""
        return motive_from_json(msgspec.to_builtins(self))
