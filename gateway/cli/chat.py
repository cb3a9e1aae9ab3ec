"""`sentinel chat`: who is who in the chat where people approve."""

from typing import Annotated
from urllib.parse import quote

import typer

from gateway.cli.client import call_api_as
from gateway.cli.options import As, Json
from gateway.cli.output import console, run, safe, show_json, show_table

chat_app = typer.Typer(help="Who is who in the chat where people approve.", no_args_is_help=True)

User = Annotated[
    str, typer.Argument(help="The id of the user in the chat, U… (in Slack: profile, More, Copy member ID).")
]


@chat_app.command("link")
def link_command(user: User, *, actor: As = None, as_json: Json = False) -> None:
    """Link your own user of the chat to your key: what you click there then counts as yours. It ends with the key.

    It prints what you have to type in the chat, as this user, within ten minutes: so the chat proves that the user is you.
    """
    reply = run(call_api_as(actor, "POST", "/chat/links", member="code", body={"user": user}), as_json=as_json)
    if as_json:
        show_json(reply)
        return
    console.print(
        f"Type this in the chat, as the user {safe(reply['user'])}, within ten minutes; then it is {safe(reply['actor'])}. "
        "Give it to nobody."
    )
    console.print(f"/sentinel link {safe(reply['code'])}")


@chat_app.command("unlink")
def unlink_command(user: User, *, actor: As = None, as_json: Json = False) -> None:
    """End a link: your own, or with the role `operator` another person's."""
    path = f"/chat/links/{quote(user, safe='')}"
    reply = run(call_api_as(actor, "DELETE", path, member="linked"), as_json=as_json)
    if as_json:
        show_json(reply)
        return
    console.print(f"{safe(reply['user'])} is linked to nobody now; it was {safe(reply['actor'])}.")


@chat_app.command("links")
def links_command(*, actor: As = None, as_json: Json = False) -> None:
    """List which user of the chat is which person."""
    reply = run(call_api_as(actor, "GET", "/chat/links", member="links"), as_json=as_json)
    if as_json:
        show_json(reply)
        return
    columns = ["user", "person", "key", "since"]
    rows = [[each["user"], each["actor"], each["key"], each["at"][:19].replace("T", " ")] for each in reply["links"]]
    show_table("Links", columns, rows)
