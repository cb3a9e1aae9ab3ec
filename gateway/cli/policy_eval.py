"""`sentinel policy eval`: what the policies say of an input document or of a recorded change, by which conditions, and what would change it."""

import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.client import call_api, identity, mutation_path
from gateway.cli.options import As, Json
from gateway.cli.output import answer, console, fail, log_to_stderr, safe
from gateway.core.errors import Malformed, PolicyInvalid, SentinelError

if TYPE_CHECKING:
    from gateway.core.model.verdict import Asked, Finding
    from gateway.policy.bundle import Bundle
    from gateway.policy.embedded import Embedded
    from gateway.policy.smallest_flip import Flip, Judged
    from gateway.policy.trace import RuleTrace, Trace

_DEADLINE_MS, _MEMORY_MB = 1000, 64

Directory = Annotated[
    Path | None, typer.Option("--path", help="Directory of the policies. Default: those shipped with Sentinel.")
]


def eval_command(
    document: Annotated[
        Path | None,
        typer.Argument(help="A JSON file with the input document (policies/README.md); - for standard input."),
    ] = None,
    entrypoint: Annotated[str, typer.Option(help="The rule to evaluate.")] = "sentinel/guardrails/result",
    path: Directory = None,
    *,
    mutation: Annotated[
        str, typer.Option(help="A recorded mutation in place of a document: its facts are those of then.")
    ] = "",
    trace: Annotated[
        bool,
        typer.Option("--trace", help="With --mutation: each rule with its conditions and their values. Needs opa."),
    ] = False,
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Evaluate the policies on a document, or on what was known about a recorded mutation, with the embedded engine.

    With --mutation it prints what the policies object, and the smallest change of a number or a list of the input that would change
    the verdict, or of several together where none alone would. --trace adds the conditions of each rule, with file and line.
    """
    from gateway.policy.sources import shipped

    log_to_stderr()
    directory = path or shipped()
    if mutation:
        if document is not None:
            fail(Malformed("Give either a document or --mutation."), as_json=as_json)
        explained = answer(_explained(directory, mutation, actor, trace=trace), as_json=as_json)
        _show(explained)
        return
    if document is None:
        fail(
            Malformed("Name a JSON file with the input document, or a recorded mutation with --mutation."),
            as_json=as_json,
        )
    try:
        text = sys.stdin.read() if str(document) == "-" else document.read_text(encoding="utf-8")
        result = asyncio.run(_evaluate(directory, entrypoint, text))
    except SentinelError as error:
        fail(error, as_json=as_json)
    except OSError as error:
        fail(PolicyInvalid(f"{document} cannot be read: {error.strerror}."), as_json=as_json)
    except ValueError as error:
        fail(PolicyInvalid(f"{document} is not JSON: {error}"), as_json=as_json)
    typer.echo(json.dumps(result, indent=2, ensure_ascii=False))


def open_bundle(directory: Path) -> "Embedded":
    """An engine with the policies of the directory, built if need be. Raises `errors.PolicyInvalid`."""
    from gateway.policy.bundle import select_bundle
    from gateway.policy.embedded import Embedded

    with tempfile.TemporaryDirectory() as scratch:
        bundle: Bundle = select_bundle(directory, Path(scratch))
    return Embedded(bundle, deadline_ms=_DEADLINE_MS, memory_mb=_MEMORY_MB)


async def _evaluate(directory: Path, entrypoint: str, text: str) -> object:
    document = json.loads(text)
    engine = open_bundle(directory)
    try:
        return await engine.ask(entrypoint, document)
    finally:
        await engine.close()


async def _explained(directory: Path, mutation: str, actor: str | None, *, trace: bool) -> dict[str, Any]:
    """What the policies in the directory say of the recorded mutation. Raises a `SentinelError`."""
    from gateway.policy.replay import answers

    found = await call_api(identity(actor, default="human"), "GET", mutation_path(mutation, "asked"), member="asked")
    questions = tuple(_question(each) for each in found["asked"])
    engine = open_bundle(directory)
    try:
        findings = [each for question in questions for each in await answers(question, engine)]
        traces = _traces(directory, questions, wanted=trace)
        flips, together = await _flips(engine, questions, [value for each in traces for value in each.compared])
        texts = engine.rules()
    finally:
        await engine.close()
    return {
        "mutation_id": mutation,
        "recorded_verdict": found["verdict"],
        "revision": engine.revision,
        "findings": [
            {
                "rule": each.rule,
                "verdict": each.verdict.value,
                "reason": each.reason,
                "address": each.address,
                "attribute": each.attribute,
                "source": texts[each.rule].source if each.rule in texts else "",
            }
            for each in findings
        ],
        "flips": [_flip_to_json(each) for each in flips],
        "together": [_flip_to_json(each) for each in together],
        "trace": [_trace_to_json(each) for each in traces] if trace else None,
    }


def _question(given: Mapping[str, Any]) -> "Asked":
    from gateway.core.model.verdict import Asked

    untold = given["untold"]
    return Asked(
        check=given["check"],
        entrypoint=given["entrypoint"],
        document=given["document"],
        lifted=tuple(given["lifted"]),
        untold=None if untold is None else tuple((address, attribute) for address, attribute in untold),
    )


def _traces(directory: Path, questions: "tuple[Asked, ...]", *, wanted: bool) -> "list[Trace]":
    """The trace of each question; none without opa, unless it is wanted. Raises `errors.PolicyInvalid`."""
    from gateway.policy.bundle import GET_OPA
    from gateway.policy.opa_command import find_opa
    from gateway.policy.trace import traced

    tool = find_opa()
    if tool is None and wanted:
        raise PolicyInvalid(f"--trace needs `opa`, and there is none on PATH. {GET_OPA} Or leave --trace out.")
    return [traced(directory, tool, each.entrypoint, each.document) for each in questions] if tool else []


def _flip_to_json(flip: "Flip") -> dict[str, Any]:
    return {"path": flip.path, "before": flip.before, "after": flip.after, "verdict": flip.verdict.value}


async def _flips(
    engine: "Embedded", questions: "tuple[Asked, ...]", compared: list[Any]
) -> "tuple[tuple[Flip, ...], tuple[Flip, ...]]":
    """The smallest changes of the first question's input, which all questions about it are asked with; if there are none, several together."""
    from gateway.core.model.verdict import Verdict
    from gateway.policy.replay import answers
    from gateway.policy.smallest_flip import smallest_flips, smallest_set

    main = questions[0].document
    about = [each for each in questions if each.document == main]

    async def ask(document: Mapping[str, Any]) -> "Judged":
        found: list[Finding] = []
        for each in about:
            found += await answers(replace(each, document=document), engine)
        verdict = min((each.verdict for each in found), key=tuple(Verdict).index, default=Verdict.ALLOW)
        objecting = (f"{each.rule} {each.address} {each.attribute}" for each in found if each.verdict is verdict)
        return verdict, frozenset(objecting)

    numbers = [*compared, *_numbers(json.loads(engine.bundle.data))]
    alone = await smallest_flips(main, ask, numbers)
    return alone, () if alone else await smallest_set(main, ask, numbers)


def _numbers(value: object) -> list[Any]:
    """Every number in the policies' data."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return [number for item in value for number in _numbers(item)]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def _trace_to_json(trace: "Trace") -> list[dict[str, Any]]:
    return [_rule_to_json(rule) for rule in trace.rules]


def _rule_to_json(rule: "RuleTrace") -> dict[str, Any]:
    return {
        "rule": rule.rule,
        "title": rule.title,
        "source": rule.source,
        "fired": rule.fired,
        "conditions": [
            {
                "text": each.text,
                "source": each.source,
                "held": each.held,
                "values": dict(each.values),
                "helpers": [_rule_to_json(helper) for helper in each.helpers],
            }
            for each in rule.conditions
        ],
    }


def _change(flip: Mapping[str, Any]) -> str:
    before, after = (json.dumps(flip[name], ensure_ascii=False) for name in ("before", "after"))
    return f"{flip['path']} = {after} in place of {before}"


def _show(explained: Mapping[str, Any]) -> None:
    """Print it as text."""
    recorded = explained["recorded_verdict"]
    console.print(
        safe(f"{explained['mutation_id']}, recorded as {recorded}, under policies {explained['revision'][:12]}:")
    )
    for each in explained["findings"]:
        where = f" ({each['source']})" if each["source"] else ""
        console.print(safe(f"  {each['verdict']} by {each['rule']}{where}: {each['reason']}"))
    if not explained["findings"]:
        console.print("  no rule of the policies objects.")
    for each in explained["flips"]:
        console.print(safe(f"  With {_change(each)} the policies would {each['verdict']} it."))
    if not explained["flips"]:
        console.print("  No single number or list of the input would change that.")
    if together := explained["together"]:
        changes = " and ".join(map(_change, together))
        console.print(
            safe(
                f"  With {changes} the policies would {together[0]['verdict']} it; with fewer of these they would not."
            )
        )
    elif not explained["flips"]:
        console.print("  Nor would several together, as far as was tried.")
    for question in explained["trace"] or ():
        for rule in question:
            _show_rule(rule, "")


def _show_rule(rule: Mapping[str, Any], indent: str) -> None:
    """Print a rule with its conditions, and below each what it asks."""
    console.print(
        safe(
            f"{indent}{'fired' if rule['fired'] else 'did not fire'}: {rule['rule']} {rule['title']} ({rule['source']})"
        )
    )
    for each in rule["conditions"]:
        values = ", ".join(
            f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in each["values"].items()
        )
        mark = "holds" if each["held"] else "does not hold"
        console.print(safe(f"{indent}    {mark}: {each['text']}  [{each['source']}]{f'  {values}' if values else ''}"))
        for helper in each["helpers"]:
            _show_rule(helper, f"{indent}        ")
