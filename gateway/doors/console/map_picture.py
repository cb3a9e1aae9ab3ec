"""Places the nodes of a map: what something depends on is left of it. The lines between are curves of numbers, so the picture needs no script."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_WIDTH: Final = 240
_HEIGHT: Final = 34
_COLUMN: Final = 310
_ROW: Final = 46
_MARGIN: Final = 14
_MOST_ROWS: Final = 22
"""Nodes above each other; a column with more has several files."""
_SWEEPS: Final = 3
_LONGEST: Final = 32
"""Characters that fit into a node."""
_ALONE_COLUMNS: Final = 4
_PREFIXES: Final = re.compile(r"\b(?:module\.|aws_)")
"""What nearly every name has, and so tells nothing apart."""
MARK_WORDS: Final[Mapping[str, str]] = {
    "held": "held by a claim",
    "waits": "waits for a person",
    "drifted": "live differs from code",
    "changed": "changed in the last day",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MapPlace:
    """A node where it stands."""

    x: int
    y: int
    id: str
    label: str
    note: str
    """What it holds, in a few words; empty for a single resource."""
    kind: str
    marks: tuple[str, ...]
    """The names of the marks that it has."""
    told: str
    """All of it in a sentence, which a pointer and a screen reader get."""
    here: bool
    needs: tuple[str, ...]
    """The nodes that it depends on, by their ids."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapPicture:
    """The whole map."""

    nodes: tuple[MapPlace, ...]
    edges: tuple[tuple[str, bool], ...]
    """The path of each line, and whether it begins or ends at the node that was asked for."""
    width: int
    height: int


def map_picture(nodes: Sequence[Mapping[str, Any]], edges: Sequence[Mapping[str, int]]) -> MapPicture:
    """The picture of a map as the API answers it. Its work grows with nodes and edges."""
    needs: dict[int, list[int]] = {}
    needed_by: dict[int, list[int]] = {}
    for edge in edges:
        needs.setdefault(edge["from"], []).append(edge["to"])
        needed_by.setdefault(edge["to"], []).append(edge["from"])
    tied = [place for place in range(len(nodes)) if place in needs or place in needed_by]
    columns = _ordered(_columns(tied, needs), needs, needed_by)
    where: dict[int, tuple[int, int]] = {}
    x, height = _MARGIN, 0
    for column in columns:
        for begin in range(0, len(column), _MOST_ROWS):
            part = column[begin : begin + _MOST_ROWS]
            where |= {place: (x, _MARGIN + row * _ROW) for row, place in enumerate(part)}
            height = max(height, len(part))
            x += _COLUMN
    alone = [place for place in range(len(nodes)) if place not in where]
    below = _MARGIN + height * _ROW + (_ROW // 2 if where and alone else 0)
    across = max(_ALONE_COLUMNS, len(columns))
    where |= {
        place: (_MARGIN + (number % across) * _COLUMN, below + (number // across) * _ROW)
        for number, place in enumerate(alone)
    }
    right = max((each for each, _ in where.values()), default=0)
    bottom = max((each for _, each in where.values()), default=0)
    return MapPicture(
        nodes=tuple(_place(node, where[number], nodes, needs.get(number, ())) for number, node in enumerate(nodes)),
        edges=tuple(_edge(where[each["from"]], where[each["to"]], nodes, each) for each in edges),
        width=right + _WIDTH + _MARGIN,
        height=bottom + _HEIGHT + _MARGIN,
    )


def _columns(tied: Sequence[int], needs: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """The nodes by how long the longest way to something that needs nothing is. Of a circle, which groups can make, one line is not counted."""
    depth: dict[int, int] = {}
    for start in tied:
        waiting, on_way = [(start, iter(needs.get(start, ())))], {start}
        if start in depth:
            continue
        reached = {start: 0}
        while waiting:
            place, further = waiting[-1]
            following = next(further, None)
            if following is None:
                waiting.pop()
                on_way.discard(place)
                depth[place] = reached[place]
                if waiting:
                    before = waiting[-1][0]
                    reached[before] = max(reached[before], depth[place] + 1)
            elif following in depth:
                reached[place] = max(reached[place], depth[following] + 1)
            elif following not in on_way:
                on_way.add(following)
                reached[following] = 0
                waiting.append((following, iter(needs.get(following, ()))))
    columns: list[list[int]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for place in tied:
        columns[depth[place]].append(place)
    return columns


def _ordered(
    columns: list[list[int]], needs: Mapping[int, Sequence[int]], needed_by: Mapping[int, Sequence[int]]
) -> list[list[int]]:
    """The columns with neighbours at about the same height, so that few lines cross."""
    rank = {place: float(row) for column in columns for row, place in enumerate(column)}
    for sweep in range(_SWEEPS):
        beside = needs if sweep % 2 == 0 else needed_by
        for column in columns if sweep % 2 == 0 else reversed(columns):
            means = {
                place: sum(rank[each] for each in beside[place]) / len(beside[place])
                if beside.get(place)
                else rank[place]
                for place in column
            }
            column.sort(key=lambda place: (means[place], rank[place]))
            rank |= {place: float(row) for row, place in enumerate(column)}
    return columns


def _place(
    node: Mapping[str, Any], at: tuple[int, int], nodes: Sequence[Mapping[str, Any]], needs: Sequence[int]
) -> MapPlace:
    single = node["kind"] == "resource"
    count = node["instances"]
    note = "" if single and count == 1 else f"×{count:,}" if single else f"{count:,} resources"
    marks = tuple(mark for mark in MARK_WORDS if node["marks"][mark])
    states = ", ".join(MARK_WORDS[mark] if single else f"{node['marks'][mark]:,} {MARK_WORDS[mark]}" for mark in marks)
    told = f"{node['id']}{f', {note}' if note else ''}{f': {states}' if states else ''}"
    return MapPlace(
        x=at[0],
        y=at[1],
        id=node["id"],
        label=_label(node["id"], _LONGEST - (len(note) + 1 if note else 0)),
        note=note,
        kind=node["kind"],
        marks=marks,
        told=told if single else f"{told}. Open this group",
        here=node["here"],
        needs=tuple(str(nodes[each]["id"]) for each in needs),
    )


def _label(name: str, most: int) -> str:
    """The end of a name, which tells nodes apart."""
    short = name.rpartition("/")[2] if "/" in name.rpartition("]")[2] else name
    short = _PREFIXES.sub("", short)
    return short if len(short) <= most else f"…{short[-most + 1 :]}"


def _edge(
    one: tuple[int, int], other: tuple[int, int], nodes: Sequence[Mapping[str, Any]], edge: Mapping[str, int]
) -> tuple[str, bool]:
    """From the right side of what is needed to the left side of what needs it."""
    x1, y1 = other[0] + _WIDTH, other[1] + _HEIGHT // 2
    x2, y2 = one[0], one[1] + _HEIGHT // 2
    bend = max(abs(x2 - x1) // 2, 30)
    near = bool(nodes[edge["from"]]["here"] or nodes[edge["to"]]["here"])
    return f"M{x1},{y1}C{x1 + bend},{y1} {x2 - bend},{y2} {x2},{y2}", near
