"""`sentinel policy`: build the bundle, test the policies, evaluate them on an input document, and show the numbers in force."""

import json
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.config import config_file
from gateway.cli.options import Config, Json
from gateway.cli.output import answer, console, fail, log_to_stderr, safe, show_json, show_table
from gateway.cli.policy_eval import eval_command
from gateway.cli.policy_packs import packs_command
from gateway.cli.policy_replay import replay_command
from gateway.cli.policy_write import (
    bench_command,
    diff_command,
    fmt_command,
    lint_command,
    new_command,
    require_opa,
    schema_command,
)
from gateway.core.errors import PolicyInvalid, SentinelError
from gateway.core.model.path import AttributePath

if TYPE_CHECKING:
    from gateway.policy.bundle import Bundle
    from gateway.policy.sources import Sources

_DEADLINE_MS, _MEMORY_MB = 1000, 64
_LOOK_SECONDS = 0.3


async def numbers_in_force(path: Path | None, config: Path | None, stack: str) -> dict[str, Any]:
    """The stack, its layers, the revision that records show, the numbers, and by dotted name the layer of each.

    Raises a `SentinelError` if the policies or settings are invalid.
    """
    from gateway.core.settings import read_settings
    from gateway.line.checks.priorities import idle_layers, priorities_of
    from gateway.policy.bundle import select_bundle
    from gateway.policy.embedded import Embedded
    from gateway.policy.priority_layers import origins
    from gateway.policy.sources import shipped

    settings = read_settings(config)
    with tempfile.TemporaryDirectory() as scratch:
        bundle = select_bundle(path or settings.policy.path or shipped(), Path(scratch))
        engine = Embedded(bundle, deadline_ms=_DEADLINE_MS, memory_mb=_MEMORY_MB)
    try:
        found = await priorities_of(engine, (stack,))
        stacks = [each.name for each in settings.stacks]
        warnings = await idle_layers(engine, stacks) if stacks else []
    finally:
        await engine.close()
    base = json.loads(bundle.data)["data"]["priorities"]
    return {
        "stack": stack,
        "layers": list(found.layers),
        "revision": found.revision,
        "numbers": found.numbers,
        "origins": {name: layer for name, (_, layer) in origins(base, found.layers).items()},
        "every_layer": found.every,
        "warnings": warnings,
    }


def show_numbers(shown: Mapping[str, Any]) -> None:
    """Print them as a table."""
    layers = ", ".join(shown["layers"])
    of = f"stack {shown['stack']}" if shown["stack"] else "a stack without layers"
    console.print(
        safe(f"Priorities of {of}: {f'base, {layers}' if layers else 'base'} (revision {shown['revision']}).")
    )
    for warning in shown["warnings"]:
        console.print(f"  {safe(warning)}")
    rows = [
        [name, json.dumps(AttributePath(name).value_at(shown["numbers"])), layer]
        for name, layer in shown["origins"].items()
    ]
    show_table("Numbers", ["number", "value", "from"], rows)


policy_app = typer.Typer(
    add_completion=False, help="Write, test, build, evaluate and replay the policies (Rego).", no_args_is_help=True
)
policy_app.command("new")(new_command)
policy_app.command("lint")(lint_command)
policy_app.command("fmt")(fmt_command)
policy_app.command("schema")(schema_command)
policy_app.command("eval")(eval_command)
policy_app.command("diff")(diff_command)
policy_app.command("bench")(bench_command)
policy_app.command("replay")(replay_command)
policy_app.command("packs")(packs_command)

Directory = Annotated[
    Path | None, typer.Option("--path", help="Directory of the policies. Default: those shipped with Sentinel.")
]


@policy_app.command("build")
def build_command(path: Directory = None, *, as_json: Json = False) -> None:
    """Compile the policies with opa and write the bundle to `bundle/` in their directory, if a gateway would run it.

    If only data (`data/*.json`) changed since the last time, they are taken into the bundle, and opa is not needed.
    """
    log_to_stderr()
    from gateway.policy.bundle import SHIPPED, write_bundle
    from gateway.policy.bundle_check import try_bundle
    from gateway.policy.sources import read_sources, shipped

    directory = path or shipped()
    try:
        sources = read_sources(directory)
        bundle = _built(directory / SHIPPED, sources)
        try_bundle(bundle, sources.files)
        write_bundle(bundle, directory / SHIPPED)
    except SentinelError as error:
        fail(error, as_json=as_json)
    if as_json:
        packages = sorted(bundle.packages)
        show_json(
            {
                "bundle": str(directory / SHIPPED),
                "opa": bundle.manifest.opa,
                "revision": bundle.revision,
                "guardrails": packages,
            }
        )
        return
    typer.echo(f"Built {directory / SHIPPED} with opa {bundle.manifest.opa}: revision {bundle.revision}.")
    typer.echo(f"Guardrails: {', '.join(sorted(bundle.packages))}.")


def _built(directory: Path, sources: "Sources") -> "Bundle":
    """The bundle of these sources. Raises `errors.PolicyInvalid`."""
    from gateway.policy.bundle import build, has_rules_of, read_bundle, with_data_of
    from gateway.policy.opa_command import find_opa

    if find_opa() is None:
        try:
            last = read_bundle(directory)
        except PolicyInvalid:
            require_opa()
            raise
        if has_rules_of(last, sources):
            return with_data_of(sources, last)
    return build(sources, require_opa())


@policy_app.command("test")
def run_tests_command(
    path: Directory = None,
    *,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Also name the lines of rules that no test reaches; exit code 1 if any.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Run them again after each edit, until interrupted.")] = False,
    as_json: Json = False,
) -> None:
    """Check the policies' data (`data/*.json`) and run their tests (`*_test.rego`) with opa. Exit code 1 if one fails."""
    log_to_stderr()
    from gateway.policy.sources import shipped

    directory = path or shipped()
    passes = _tests_pass(directory, coverage=coverage, as_json=as_json)
    while watch:
        passes = _after_edit(directory, lambda: _tests_pass(directory, coverage=coverage, as_json=as_json))
    raise typer.Exit(0 if passes else 1)


def _after_edit(directory: Path, again: Callable[[], bool], wait: Callable[[float], None] = time.sleep) -> bool:
    """Wait for an edit, and do it again."""
    from gateway.policy.engine import fingerprint

    before = fingerprint(directory, tests=True)
    while fingerprint(directory, tests=True) == before:
        wait(_LOOK_SECONDS)
    return again()


def _tests_pass(directory: Path, *, coverage: bool, as_json: bool) -> bool:
    """Run the tests once and print what they say; whether they pass."""
    from gateway.policy import opa_command
    from gateway.policy.ci import check_tests
    from gateway.policy.data_schema import check_data_files
    from gateway.policy.sources import read_sources

    try:
        check_data_files(read_sources(directory).files)
        # --verbose traces every test, which takes seven times as long; failures are shown without it.
        output_format = ["--format", "json"] if as_json else []
        done = opa_command.run_opa(
            require_opa(),
            ["test", "--timeout", opa_command.OPA_TEST_TIMEOUT, *output_format, "."],
            cwd=directory,
        )
    except SentinelError as error:
        fail(error, as_json=as_json)
    typer.echo(done.stdout + done.stderr)
    if not coverage or done.returncode != 0:
        return done.returncode == 0
    try:
        typer.echo(check_tests(directory, require_opa()))
    except PolicyInvalid as error:
        typer.echo(str(error))
        return False
    return True


@policy_app.command("numbers")
def numbers_command(
    stack: Annotated[str, typer.Option(help="The stack to show the numbers for. Default: the base.")] = "",
    path: Directory = None,
    config: Config = None,
    *,
    as_json: Json = False,
) -> None:
    """Show the numbers that motives are ranked by in a stack: each with the layer that it comes from.

    Without --path they are those of the policies in the settings (`policy.path`), as the gateway has them.
    """
    log_to_stderr()
    show_numbers(answer(numbers_in_force(path, config_file(config), stack), as_json=as_json))
