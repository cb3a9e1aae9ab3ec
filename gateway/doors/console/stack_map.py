"""The page of the map: a stack as a graph, whose groups open and close by links."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from starlette.responses import Response

from gateway.doors.console.map_picture import MARK_WORDS, map_picture
from gateway.doors.console.visit import Visit

SIZES: Final = ("fit", "1", "2")
"""How large the picture is: as wide as the page, as it was drawn, and twice that."""
_MOST_OPEN: Final = 40


async def stack_map(visit: Visit) -> Response:
    """The map of the chosen stack."""
    asked = visit.request.query_params
    chosen = {name: asked.get(name, "") for name in ("stack", "at")}
    wanted = asked.getlist("open")[:_MOST_OPEN]
    found = await visit.api.get("/map", **chosen, open=wanted or ([_NONE] if "closed" in asked else None))
    size = asked.get("size", SIZES[0])
    kept = {**chosen, "stack": found["stack"], "size": size if size in SIZES else SIZES[0]}
    return visit.page(
        "map.html",
        found=found,
        picture=map_picture(found["nodes"], found["edges"]),
        links={node["id"]: _link(node, found["open"], kept) for node in found["nodes"]},
        closing=[
            (each, _address(kept, [other for other in found["open"] if not _inside(other, each)]))
            for each in found["open"]
        ],
        sizes=[(each, _address({**kept, "size": each}, found["open"])) for each in SIZES],
        marked={mark: sum(bool(node["marks"][mark]) for node in found["nodes"]) for mark in MARK_WORDS},
        words=MARK_WORDS,
        chosen=kept,
    )


_NONE: Final = "-"
"""Names no group, so that none is open."""


def _link(node: Mapping[str, Any], opened: Sequence[str], kept: Mapping[str, str]) -> str:
    if node["kind"] == "resource":
        return f"/console/resource?{urlencode({'address': node['id']})}"
    return _address(kept, [*opened, node["id"]])


def _address(kept: Mapping[str, str], opened: Sequence[str]) -> str:
    given = [(name, value) for name, value in kept.items() if value]
    given += [("open", each) for each in opened[-_MOST_OPEN:]] or [("closed", "")]
    return f"/console/map?{urlencode(given)}"


def _inside(group: str, other: str) -> bool:
    """Whether a group is another one or in it."""
    return group == other or group.startswith((f"{other}.", f"{other}/"))
