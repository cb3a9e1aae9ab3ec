"""`sentinel chat`, `deliveries` and `resend`: who is who in the chat, and the state of webhooks and cards."""

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

import typer

from gateway.cli.client import call_api_as
from gateway.cli.options import As, Json
from gateway.cli.output import answer, console, run, safe, show_json, show_table
from gateway.core.times import utc_cell

chat_app = typer.Typer(add_completion=False, help="Who is who in the chat where people approve.", no_args_is_help=True)

User = Annotated[
    str, typer.Argument(help="The id of the user in the chat, U… (in Slack: profile, More, Copy member ID).")
]


@chat_app.command("link")
def link_command(user: User, *, actor: As = None, as_json: Json = False) -> None:
    """Link your own user of the chat to your key: what you click there then counts as yours. It ends with the key.

    It prints what you have to type in the chat, as this user, within ten minutes: so the chat proves that the user is you.
    """
    reply = answer(call_api_as(actor, "POST", "/chat/links", member="code", body={"user": user}), as_json=as_json)
    console.print(
        f"Type this in the chat, as the user {safe(reply['user'])}, within ten minutes; then it is {safe(reply['actor'])}. "
        "Give it to nobody."
    )
    console.print(f"/sentinel link {safe(reply['code'])}")


@chat_app.command("unlink")
def unlink_command(user: User, *, actor: As = None, as_json: Json = False) -> None:
    """End a link: your own, or with the role `operator` another person's."""
    path = f"/chat/links/{quote(user, safe='')}"
    reply = answer(call_api_as(actor, "DELETE", path, member="linked"), as_json=as_json)
    console.print(f"{safe(reply['user'])} is linked to nobody now; it was {safe(reply['actor'])}.")


@chat_app.command("links")
def links_command(*, actor: As = None, as_json: Json = False) -> None:
    """List which user of the chat is which person."""
    reply = answer(call_api_as(actor, "GET", "/chat/links", member="links"), as_json=as_json)
    columns = ["user", "person", "key", "since"]
    rows = [[each["user"], each["actor"], each["key"], utc_cell(each["at"])] for each in reply["links"]]
    show_table("Links", columns, rows)


Receiver = Annotated[str, typer.Option(help="Only those of this receiver.")]


def deliveries(
    *,
    receiver: Receiver = "",
    failed: Annotated[bool, typer.Option("--failed", help="Only those that are tried again or were given up.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Most deliveries to show.")] = 50,
    actor: As = None,
    as_json: Json = False,
) -> None:
    """List the last attempt of each webhook and card, newest first, and what still waits for each receiver."""
    query = {"limit": str(limit)}
    query |= {"receiver": receiver} if receiver else {}
    query |= {"state": "failed"} if failed else {}
    reply = answer(call_api_as(actor, "GET", "/deliveries", member="deliveries", query=query), as_json=as_json)
    if not reply["receivers"]:
        console.print("No webhook and no chat is set ([[webhooks]], [chat.slack]).", markup=False)
        return
    show_table(
        "Deliveries", ["at", "receiver", "type", "mutation", "state", "answer", "id"], _rows(reply["deliveries"])
    )
    for each in reply["receivers"]:
        console.print(safe(_state(each)))


def resend(
    receiver: Annotated[str, typer.Argument(help="The receiver's name in the settings.")],
    identifiers: Annotated[
        list[str], typer.Argument(metavar="ID...", help="The notices, rec_…; `sentinel deliveries` lists them.")
    ],
    *,
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Have notices sent again, with the ids that they have. Needs the role `operator`."""
    replies = []
    for identifier in identifiers:
        body = {"receiver": receiver, "id": identifier}
        replies.append(
            run(call_api_as(actor, "POST", "/deliveries/resend", member="asked", body=body), as_json=as_json)
        )
    if as_json:
        show_json({"asked": replies})
        return
    console.print(
        f"Asked for {len(replies)} to be sent again to {safe(receiver)}. `sentinel deliveries` shows what becomes of it."
    )


def _rows(found: list[Mapping[str, Any]]) -> list[list[str]]:
    return [
        [
            utc_cell(each["at"]),
            each["receiver"],
            each["type"],
            each["mutation_id"],
            f"{each['state'].replace('_', ' ')} (attempt {each['attempt']})",
            each["error"] or str(each["status"]),
            each["id"],
        ]
        for each in found
    ]


def _state(receiver: Mapping[str, Any]) -> str:
    name = receiver["receiver"]
    if not receiver["begun"]:
        return f"{name}: not begun. Does the reconciler run (`sentinel reconcile`, `python -m reconciler serve`)?"
    down = f", not available {receiver['failures']} times in a row" if receiver["failures"] else ""
    return f"{name}: {receiver['waiting']} waiting{down}; told of everything up to record {receiver['position']} else."
