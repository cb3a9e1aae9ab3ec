"""`sentinel effects`: what an AWS call would touch and by which row Sentinel knows, and how many operations it understands."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli import effects_learning
from gateway.cli.client import call_api_as
from gateway.cli.options import As, Json
from gateway.cli.output import console, fail, run, safe, shortened, show_json, show_pairs, show_table
from gateway.core.errors import Malformed, SentinelError, UnknownOperation
from gateway.core.model.verdict import Verdict

if TYPE_CHECKING:
    from gateway.core.derived_rows import DerivedRow
    from gateway.effects.coverage import ServiceCoverage, TypeCoverage

effects_app = typer.Typer(
    add_completion=False, help="What AWS calls do to resources, as far as Sentinel knows.", no_args_is_help=True
)

effects_app.command("learn")(effects_learning.learn)
effects_app.command("list")(effects_learning.list_)
effects_app.command("accept")(effects_learning.accept)

NOT_UNDERSTOOD = 2
"""Exit code if Sentinel does not know what the call does; 1 is an error."""
_LARGEST = 1 << 20
"""Bytes of a file with parameters."""
_PAGE = 200
_MOST_PAGES = 500
_NAMED = 4
"""The most operations that a cell names."""


@effects_app.command()
def explain(
    service: Annotated[str, typer.Argument(help="AWS service by its boto3 name, e.g. autoscaling.")],
    operation: Annotated[str, typer.Argument(help="Operation, e.g. SetDesiredCapacity or set_desired_capacity.")],
    parameters: Annotated[
        str,
        typer.Argument(help="Parameters as a JSON object, or @FILE with one. Without them only the rows are shown."),
    ] = "",
    *,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Ask the gateway which declared resources the call would touch. Nothing is sent to AWS."
        ),
    ] = False,
    region: Annotated[str, typer.Option(help="AWS region of the call, for --dry-run. Default: the gateway's.")] = "",
    who: As = None,
    as_json: Json = False,
) -> None:
    """Show what a call would touch, by which row that is known (hand-made, traced, model, learned), and how certainly.

    It needs no gateway, because the rows come with Sentinel. Exit code 0: a row has the operation. 2: none has.
    With --dry-run, 0: the gateway understands this call. 2: it does not, and would hold it.
    """
    try:
        given = _parameters(parameters)
        known = _explained(service, operation, given)
    except SentinelError as error:
        fail(error, as_json=as_json)
    asked = run(_ask_gateway(who, known, given or {}, region), as_json=as_json) if dry_run else None
    if as_json:
        show_json({**known, "dry_run": asked})
    else:
        _show_explained(known)
        if asked:
            _show_asked(asked)
    understood = asked["mutation"]["effects"] if asked else known["known_by"]
    raise typer.Exit(0 if understood else NOT_UNDERSTOOD)


@effects_app.command()
def coverage(
    *,
    stack: Annotated[str, typer.Option(help="Only the resource types of this stack. Asks the gateway for them.")] = "",
    service: Annotated[str, typer.Option(help="Only this AWS service, by its boto3 name.")] = "",
    who: As = None,
    as_json: Json = False,
) -> None:
    """Show how many of AWS's changing operations Sentinel understands, by service; or for a stack, which calls on its resources it does not.

    With a stack: calls that are known exactly, as touching the resource as a whole, or by the type only, which are held unless a plan explains them.
    """
    if stack:
        declared = run(_declared_types(who, stack), as_json=as_json)
        _show_types(stack, declared, service, as_json=as_json)
        return
    from gateway.aws.models.call_classes import shipped
    from gateway.effects.coverage import service_coverage

    operations = {name: each for name, each in shipped().mutating().items() if service in ("", name)}
    if not operations:
        fail(UnknownOperation(f"AWS has no service {service[:64]!r} by boto3's names."), as_json=as_json)
    found = [service_coverage(name, each) for name, each in operations.items()]
    if as_json:
        show_json({"services": [_service_to_json(each) for each in found], "total": _total(found)})
        return
    show_table("Services", _SERVICE_COLUMNS, [_service_row(_service_to_json(each)) for each in found])
    total = _total(found)
    known = total["operations"] - total["unknown"]
    console.print(f"The resource type is known of {known} of {total['operations']} operations that change something.")


# One operation ----------------------------------------------------------------------------------------------------


def _parameters(text: str) -> dict[str, Any] | None:
    """The parameters; None without any. Raises `errors.Malformed`."""
    if not text:
        return None
    if text.startswith("@"):
        try:
            with Path(text[1:]).open("rb") as file:
                content = file.read(_LARGEST + 1)
        except OSError as error:
            raise Malformed(f"{text[1:]} cannot be read: {error.strerror}.") from error
        if len(content) > _LARGEST:
            raise Malformed(f"{text[1:]} has more than {_LARGEST} bytes.")
        text = content.decode(errors="replace")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Malformed("The parameters are not JSON.") from error
    if not isinstance(found, dict):
        raise Malformed('The parameters must be a JSON object, e.g. {"DesiredCapacity": 6}.')
    return found


def _explained(service: str, operation: str, given: dict[str, Any] | None) -> dict[str, Any]:
    """What the tables say. Raises `errors.UnknownOperation`, `errors.Malformed`, `errors.CallTooLarge`."""
    from gateway.aws.models.call_classes import shipped
    from gateway.core.derived_rows import derived_rows, row_to_json
    from gateway.core.model.mutation import Call
    from gateway.core.service_models import ServiceModels
    from gateway.doors.api.decoder import parameters
    from gateway.effects.coverage import understanding
    from gateway.effects.inventory import NO_RESOURCES
    from gateway.effects.registry import SERVICES
    from gateway.effects.resolver import EffectResolver
    from gateway.presentation.serialize import effect_to_json

    name = _operation_name(service, operation)
    rows = derived_rows(service, name)
    best = understanding(service, name)
    by_hand = SERVICES.get(service, {}).get(name)
    found: dict[str, Any] = {
        "service": service,
        "operation": name,
        "class": shipped().of(service, name).value,
        "known_by": best.origin if best else None,
        "confidence": best.confidence.value if best else None,
        "hand": None
        if by_hand is None
        else {
            "type": by_hand.resource_type,
            "other_types": list(by_hand.other_types),
            "action": by_hand.action.value,
            "identity": {key: rule if isinstance(rule, str) else None for key, rule in by_hand.identity.items()},
        },
        "rows": [] if by_hand else [{**row_to_json(row), "names": _names(row, given or {})} for row in rows],
        "effects": [],
        "reason": "",
    }
    if given is not None:
        call = Call(service=service, operation=name, parameters=parameters(ServiceModels().shape(service, name), given))
        explanation = EffectResolver(NO_RESOURCES).explain(call)
        found["effects"] = [effect_to_json(effect) for effect in explanation.effects]
        found["reason"] = explanation.reason
    return found


def _operation_name(service: str, operation: str) -> str:
    """The operation's name in botocore. Raises `errors.UnknownOperation`."""
    from botocore import xform_name

    from gateway.aws.models.routing_index import shipped

    known = shipped().services.get(service)
    if known is None:
        raise UnknownOperation(f"AWS has no service {service[:64]!r} by boto3's names.")
    for name in known.operations:
        if operation in (name, xform_name(name)):
            return name
    raise UnknownOperation(f"{service} has no operation {operation[:64]!r} by boto3's names.")


def _names(row: "DerivedRow", given: Mapping[str, Any]) -> dict[str, Any]:
    """Identifying attribute → the value that the call gives for it."""
    found = {source.attribute: _value_at(given, path) for path, source in row.identity.items()}
    return {attribute: value for attribute, value in found.items() if value is not None}


def _value_at(given: Any, path: str) -> Any:
    for step in path.split("."):
        given = given.get(step) if isinstance(given, Mapping) else None
    return given


async def _ask_gateway(
    who: str | None, known: Mapping[str, Any], given: Mapping[str, Any], region: str
) -> dict[str, Any]:
    body = {
        "service": known["service"],
        "operation": known["operation"],
        "parameters": given,
        "region": region,
        "dry_run": True,
    }
    return await call_api_as(who, "POST", "/mutations", default="agent", member="mutation", body=body)


def _show_explained(known: Mapping[str, Any]) -> None:
    hand = known["hand"]
    certainty = {"attributes": "exactly", "resource": "the resource as a whole", "type": "only the type"}
    show_pairs(
        {
            "operation": f"{known['service']}:{known['operation']}",
            "class": known["class"],
            "known by": known["known_by"] or "no row",
            "certain": certainty.get(known["confidence"] or "", ""),
            "type": f"{hand['type']} ({hand['action']})" if hand else "",
            "named by": ", ".join(hand["identity"]) if hand else "",
        }
    )
    if known["rows"]:
        show_table("Rows", _ROW_COLUMNS, [_row_cells(each) for each in known["rows"]])
    for effect in known["effects"]:
        console.print(f"  would touch {safe(_touched(effect))}")
    if known["reason"]:
        said = "Only the resource is known" if known["effects"] else "This call is not understood without a gateway"
        console.print(safe(f"{said}: {known['reason']}."))


def _touched(effect: Mapping[str, Any]) -> str:
    """The resource, and the attribute with its new value."""
    if effect["attribute"] == "*":
        return f"{effect['address']} ({effect['action']})"
    value = "a secret" if effect.get("sensitive") else shortened(json.dumps(effect["value"], ensure_ascii=False))
    return f"{effect['address']}.{effect['attribute']} = {value}"


_ROW_COLUMNS = ("type", "does", "origin", "confidence", "named by", "attributes", "left open")


def _row_cells(row: Mapping[str, Any]) -> list[str]:
    named = [
        f"{parameter} = {shortened(json.dumps(row['names'][attribute]))}" if attribute in row["names"] else parameter
        for parameter, source in row.get("identity", {}).items()
        for attribute in (source if isinstance(source, str) else source[0],)
    ]
    return [
        row["type"],
        ", ".join(row["actions"]),
        row["origin"],
        row["confidence"],
        ", ".join(named),
        str(len(row.get("attributes", {}))),
        ", ".join(row.get("unexplained", ())),
    ]


def _show_asked(asked: Mapping[str, Any]) -> None:
    decision = asked.get("decision") or {}
    console.print(f"The gateway would say: {safe(str(decision.get('verdict', '')))}. Nothing was changed.")
    for effect in asked["mutation"]["effects"]:
        console.print(f"  would touch {safe(_touched(effect))}")
    for finding in decision.get("findings", ()):
        if finding["verdict"] != Verdict.ALLOW:
            console.print(f"  {finding['verdict']}: {safe(finding['reason'])} \\[{safe(finding['rule'])}]")


# Many operations --------------------------------------------------------------------------------------------------

_SERVICE_COLUMNS = (
    "service", "operations", "hand", "traced", "model", "learned", "exactly", "as a whole", "type only", "unknown",
)  # fmt: skip
_COUNTS = ("operations", "hand", "traced", "model", "learned", "attributes", "resource", "type", "unknown")


def _service_to_json(found: "ServiceCoverage") -> dict[str, Any]:
    counts: dict[str, int] = {"operations": found.operations, "unknown": found.unknown}
    counts |= found.origins
    counts |= {level.value: count for level, count in found.confidences.items()}
    return {"service": found.service, **{name: counts.get(name, 0) for name in _COUNTS}}


def _service_row(found: Mapping[str, Any]) -> list[str]:
    return [found["service"], *(str(found[name] or "") for name in _COUNTS)]


def _total(found: Iterable["ServiceCoverage"]) -> dict[str, int]:
    rows = [_service_to_json(each) for each in found]
    return {name: sum(row[name] for row in rows) for name in _COUNTS}


async def _declared_types(who: str | None, stack: str) -> dict[str, int]:
    """Resource type → how many resources of it the stack declares or records, from the gateway."""
    found: dict[str, int] = {}
    query = {"stack": stack, "limit": str(_PAGE)}
    for _ in range(_MOST_PAGES):
        reply = await call_api_as(who, "GET", "/resources", member="resources", query=query)
        for each in reply["resources"]:
            found[each["type"]] = found.get(each["type"], 0) + 1
        if not reply["left_off"] or not reply["resources"]:
            break
        query["after"] = reply["resources"][-1]["address"]
    return found


def _show_types(stack: str, declared: Mapping[str, int], service: str, *, as_json: bool) -> None:
    from gateway.effects.coverage import type_coverage

    found = [_type_to_json(each, declared[each.resource_type], service) for each in type_coverage(declared)]
    found = [each for each in found if not service or any(each[name] for name in _LEVELS)]
    if as_json:
        show_json({"stack": stack, "types": found})
        return
    show_table(f"Types of {stack}", _TYPE_COLUMNS, [_type_row(each) for each in found])
    held = sum(len(each["with_a_plan"]) for each in found)
    without = [each["type"] for each in found if not any(each[name] for name in _LEVELS)]
    console.print(f"{held} operations on these types are understood only with a plan.")
    if without:
        console.print(safe(f"No row names {', '.join(without)}."))


_LEVELS = ("exactly", "as_a_whole", "with_a_plan")
_TYPE_COLUMNS = ("type", "resources", "exactly", "as a whole", "only with a plan", "such as")


def _type_to_json(found: "TypeCoverage", resources: int, service: str) -> dict[str, Any]:
    levels = {name: getattr(found, name) for name in _LEVELS}
    of_service = {
        name: [each for each in operations if service in ("", each.partition(":")[0])]
        for name, operations in levels.items()
    }
    return {"type": found.resource_type, "resources": resources, **of_service}


def _type_row(found: Mapping[str, Any]) -> list[str]:
    named = found["with_a_plan"]
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    counts = [str(len(found[name]) or "") for name in _LEVELS]
    return [found["type"], str(found["resources"]), *counts, ", ".join(named[:_NAMED]) + more]
