"""Describes mistakes in the settings, one sentence each, with the nearest name for one that does not exist."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel

_UNKNOWN = "extra_forbidden"
"""Pydantic's type of the error for a name that a model does not have."""


def mistake_text(mistake: Mapping[str, Any], model: type[BaseModel]) -> str:
    """The sentence for one error that pydantic found while it read `model`."""
    name = ".".join(str(part) for part in mistake["loc"])
    if mistake["type"] != _UNKNOWN:
        return f"{name}: {mistake['msg']}"
    *parents, last = (str(part) for part in mistake["loc"] if not isinstance(part, int))
    nearest = _nearest(tuple(parents), last, tuple(_names(model)))
    return f"{name}: There is no such setting. " + (
        f"Did you mean `{nearest}`?" if nearest else "`sentinel config` in another directory lists all of them."
    )


def _nearest(parents: Sequence[str], last: str, names: Sequence[tuple[str, ...]]) -> str:
    """The setting that was probably meant: one with nearly this name in this table, else one with this name in another; empty if none."""
    here = {name[-1]: name for name in names if name[:-1] == tuple(parents)}
    elsewhere = [name for name in names if name[-1] == last.lower()]
    # Where another table has the very name, only a slip of a letter makes one of this table likelier.
    close = difflib.get_close_matches(last.lower(), here, n=1, cutoff=0.8 if elsewhere else 0.6)
    found = here[close[0]] if close else elsewhere[0] if elsewhere else ()
    return ".".join(found)


def _names(model: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The names of all tables and settings, as paths."""
    for name, field in model.model_fields.items():
        yield (*above, name)
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from _names(kind, (*above, name))
