"""The page of the playground: edit a rule, data or a contract beside a change, and see what the edit would decide. Nothing comes into force."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from starlette.responses import Response

from gateway.core.errors import Malformed, SentinelError
from gateway.core.model.caller import ActorKind
from gateway.doors.console.api_client import http_status
from gateway.doors.console.visit import Visit

LARGEST: Final = 1024 * 1024
"""Bytes of the form, which carries two files."""
_WEEK: Final = timedelta(days=7)
_FIELDS: Final = ("mutation", "call", "actor", "kind", "policy", "policy_text", "stack", "contract", "contract_text", "week")  # fmt: skip


async def playground(visit: Visit) -> Response:
    """The page with the files that the address names."""
    fields = {name: visit.query.get(name, "") for name in ("mutation", "policy", "stack", "contract")}
    stack, _, contract = visit.query.get("of", "").partition("/")
    fields = fields | ({"stack": stack, "contract": contract} if contract else {})
    opened = {
        "policy_text": await _text(visit, fields["policy"], ""),
        "contract_text": await _text(visit, fields["contract"], fields["stack"]),
    }
    return await _page(visit, fields | opened)


async def try_edits(visit: Visit) -> Response:
    """The same page with what the edits do. What was typed stays, also where it is refused."""
    sent = await visit.form(LARGEST)
    # Browsers send every line end of a form as CR LF.
    fields = {name: sent.get(name, "").replace("\r\n", "\n") for name in _FIELDS}
    try:
        body = await _trial(visit, fields)
        found = await visit.api.post("/playground", body)
    except SentinelError as error:
        return await _page(visit, fields, problem=str(error), status=http_status(error))
    return await _page(visit, fields, found=found)


async def _page(
    visit: Visit,
    fields: Mapping[str, str],
    *,
    found: Mapping[str, Any] | None = None,
    problem: str = "",
    status: int = 200,
) -> Response:
    files = await visit.api.get("/playground/files")
    given = {name: fields.get(name, "") for name in _FIELDS}
    return visit.page(
        "playground.html",
        problem=problem,
        status=status,
        files=files,
        given=given,
        kinds=[kind.value for kind in ActorKind],
        found=found,
    )


async def _text(visit: Visit, path: str, stack: str) -> str:
    """The text of a file; empty for one that is new. Raises `errors.Malformed` for one that a form would change."""
    files = await visit.api.get("/playground/files") if path else {}
    if not path or path not in (files["contracts"].get(stack, ()) if stack else files["policies"]):
        return ""
    text = str((await visit.api.get("/playground/file", path=path, stack=stack))["text"])
    if not all(character.isprintable() or character in "\n\t" for character in text):
        raise Malformed(
            f"{path[:200]} has characters that a page cannot show as they are. Edit it in an editor, and use `sentinel policy replay`."
        )
    return text


async def _trial(visit: Visit, fields: Mapping[str, str]) -> dict[str, Any]:
    """The body of the trial: only files whose text is another one. Raises `errors.Malformed`."""
    body: dict[str, Any] = {}
    if fields["mutation"].strip():
        body["mutation"] = fields["mutation"].strip()
    if fields["call"].strip():
        body["call"] = _call(fields)
    if fields["policy"] and fields["policy_text"] != await _text(visit, fields["policy"], ""):
        body["policies"] = {fields["policy"]: fields["policy_text"]}
    if fields["contract"] and fields["contract_text"] != await _text(visit, fields["contract"], fields["stack"]):
        body["contracts"] = {"stack": fields["stack"], "files": {fields["contract"]: fields["contract_text"]}}
    if fields["week"]:
        body["since"] = (visit.clock.now() - _WEEK).isoformat()
    if not {"mutation", "call", "since"} & body.keys():
        raise Malformed("Name a recorded mutation, paste a call, or replay last week. Nothing was tried.")
    return body


def _call(fields: Mapping[str, str]) -> dict[str, Any]:
    """The pasted call. Raises `errors.Malformed`."""
    try:
        call = json.loads(fields["call"])
    except (ValueError, RecursionError) as error:
        raise Malformed(f"The call is not JSON: {error}. Nothing was tried.") from error
    if not isinstance(call, dict):
        raise Malformed("The call is a JSON object with service, operation and parameters. Nothing was tried.")
    who = {name: fields[name].strip() for name in ("actor", "kind") if fields[name].strip()}
    return {**call, **who}
