"""Explains by its whole name what no marker, code or cause explains: a switch, a choice or a number that had the same value in every run.

Two sources have to agree: the attribute had the parameter's value in every run, also in no create without it, and the names say this attribute. They do if the gateway's own
matcher finds it, if it stands in the block that other parameters of the same structure certainly belong to, under the same last name, or if the
parameter has the names of block and attribute in one.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from gateway.effects.schema import TypeSchema, match
from tests.tools.effects_tracing.columns import leaf
from tests.tools.effects_tracing.comparison import Way
from tests.tools.effects_tracing.evidence import Observation
from tests.tools.effects_tracing.explanation import Explanation, Source, Sureness, candidates, folded
from tests.tools.effects_tracing.traces import Phase

_PLAIN = Way.CASE
"""The last of the ways that leave a value as it is, but for its spelling."""
_SWITCH = re.compile(r"^(?:[Ee]nable|[Ii]s)(?=[A-Z_])|(?<=[a-z0-9])_?[Ee]nabled$")
"""What names of switches have in different places: `EnableSiteLink` and `sitelink_enabled`."""


def explain_by_name(
    path: str, observations: Sequence[Observation], source: Source, schema: TypeSchema, blocks: Collection[str]
) -> Explanation | None:
    """The attribute that values and names say. `blocks` are those that the other parameters of the same structure certainly belong to."""
    seen = [each for each in observations if path in each.parameters]
    silent = [each for each in observations if path not in each.parameters and each.phase is Phase.CREATE]
    fitting = {
        name: way
        for name, way in candidates(path, seen, source).items()
        if way <= _PLAIN and not _is_denied(name, seen, silent, source)
    }
    named = match(schema, tuple(path.split(".")))
    if named not in fitting:
        whole = [name for name in fitting if _folds(name) == _folds(path)]
        beside = [name for name in fitting if _parent(name) in blocks and _core(leaf(name)) == _core(leaf(path))]
        joined = [name for name in fitting if "." in name and folded(name.replace(".", "_")) == folded(leaf(path))]
        found = whole or (beside or joined if len(seen) > 1 else [])
        named = found[0] if len(found) == 1 else None
    return None if named is None else Explanation(attribute=named, way=fitting[named], sureness=Sureness.NAME)


def blocks_beside(path: str, explained: Mapping[str, Explanation]) -> frozenset[str]:
    """The blocks that the other parameters of the same structure belong to, by their markers; the empty name is the top of the resource."""
    return frozenset(
        _parent(each.attribute)
        for other, each in explained.items()
        if other != path and each.sureness is Sureness.MARKER and _parent(other) == _parent(path)
    )


def _is_denied(name: str, seen: Sequence[Observation], silent: Sequence[Observation], source: Source) -> bool:
    """Whether a create without the parameter had a value of the attribute with which another one sent it."""
    return any(source(without).get(name) == source(each)[name] for without in silent for each in seen)


def _folds(path: str) -> list[str]:
    return [folded(step) for step in path.split(".")]


def _core(name: str) -> str:
    """The folded name without what only says that it is a switch."""
    return folded(_SWITCH.sub("", name)) or folded(name)


def _parent(path: str) -> str:
    return path.rpartition(".")[0]
