"""A page with every part that the console's pages are made of, shown at `/console/components` of a test's browser and nowhere else."""

from pathlib import Path
from typing import Any, Final

from jinja2 import ChoiceLoader, FileSystemLoader
from playwright.sync_api import Page, Route

from gateway.core.model.caller import ActorKind, Caller
from gateway.doors.console.differences import difference
from gateway.doors.console.map_picture import map_picture
from gateway.doors.console.rendering import environment
from gateway.doors.console.site import HEADERS
from gateway.doors.console.visit import Templates
from tests.kit.doubles import NOW

ADDRESS: Final = "/console/components"
_MARKS: Final = ("asked", "decided", "applied", "in code", "merged")


def show_components(page: Page) -> None:
    """Open the page. Its files come from the gateway, and the policy of the console's pages holds for it."""

    def answer(route: Route) -> None:
        route.fulfill(body=components(), headers={**HEADERS, "content-type": "text/html; charset=utf-8"})

    page.route(f"**{ADDRESS}", answer)
    page.goto(ADDRESS)


def components() -> str:
    """The page as HTML."""
    made = environment()
    made.loader = ChoiceLoader([made.loader, FileSystemLoader(Path(__file__).parent)] if made.loader else [])
    marks = {"held": 1, "waits": 0, "drifted": 0, "changed": 1}
    nodes = [
        {"id": name, "kind": kind, "instances": 3, "marks": marks, "here": name == "aws_instance.web"}
        for name, kind in (("module.network", "module"), ("aws_instance.web", "resource"), ("/aws_sqs_queue", "type"))
    ]
    return Templates(environment=made).text(
        "components.html",
        caller=Caller(actor="ana", kind=ActorKind.HUMAN, key_id="SNTL", roles=("approver",)),
        by_proxy=False,
        path=ADDRESS,
        done="",
        problem="",
        ending=(),
        now=NOW,
        rows=[_row("applied", "done"), _row("held", "waits"), _row("denied", "stopped")],
        difference=difference(4, 6),
        motive={
            "intent": "availability",
            "motivation": "incident",
            "text": "The lag grows",
            "evidence": ["A-1"],
            "wanted_seconds": None,
        },
        picture=map_picture(nodes, [{"from": 1, "to": 0, "count": 1}]),
    )


def _row(state: str, mark: str) -> dict[str, Any]:
    return {
        "id": "mut_1",
        "headline": "desired capacity 4 → 6 on kafka_consumer",
        "stack": "kafka",
        "state": state,
        "actor": "agent",
        "kind": "agent",
        "on_behalf_of": "",
        "intent": "availability",
        "motivation": "incident",
        "why": "The lag grows",
        "reason": "A sentence that says why." if mark != "done" else "",
        "rule": "SEN-X001",
        "at": NOW.isoformat(),
        "path": [{"name": name, "state": mark, "at": None, "told": ""} for name in _MARKS],
    }
