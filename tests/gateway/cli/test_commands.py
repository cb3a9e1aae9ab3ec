"""A command imports only what it needs. What is imported decides how long it takes, and unlike a time it is the same on every machine."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.__main__ import app
from gateway.cli.commands import PLACES, LazyCommands
from gateway.cli.summaries import SUMMARIES
from tests.kit.up import environment, free_port

ROOT = Path(__file__).parents[3]
SLOW = frozenset(
    [
        "aiohttp",
        "alembic",
        "boto3",
        "botocore",
        "cryptography",
        "dbos",
        "dulwich",
        "fastapi",
        "hcl2",
        "lark",
        "moto",
        "psycopg",
        "pydantic_settings",
        "sqlmodel",
        "re2",
        "requests",
        "sqlalchemy",
        "starlette",
        "tree_sitter",
        "uvicorn",
        "uvloop",
        "wasmtime",
    ]
)
"""Packages that take long to import."""
SETTINGS = frozenset({"pydantic_settings"})
"""What a command needs that reads the settings."""
LEDGER = SETTINGS | {"cryptography", "sqlalchemy", "sqlmodel"}
"""What a command needs that opens the ledger itself."""
NEEDED = {
    ("--help",): frozenset(),
    ("config",): SETTINGS,
    ("records",): frozenset(),
    ("holds",): frozenset(),
    ("left",): frozenset(),
    ("blame", "aws_instance.web.ami"): frozenset(),
    ("propose", "sqs", "PurgeQueue", "{}"): frozenset(),
    ("session", "--intent", "cost", "--motivation", "budget"): frozenset(),
    ("approve", "mut_" + "0" * 26): frozenset(),
    ("serve", "--help"): frozenset(),
    ("up", "--help"): frozenset(),
    ("policy", "test", "--help"): frozenset(),
    ("key", "list"): SETTINGS,
    ("key", "create", "ann"): LEDGER,
    ("verify",): LEDGER,
    ("reconcile", "--help"): frozenset(),
}
MOST_MODULES = {frozenset(): 352, SETTINGS: 409, LEDGER: 664}
"""Modules of a command, by what it needs. Of those that need nothing, `records` needed 390 while Rich printed what nobody watches; `config` needed 452
then, and `verify` 814 while it imported the drivers of PostgreSQL and what decides, too. `key create` needed 714 while it imported the ports."""
MOST_MODULES_OF_HELP = 415
"""Modules of `sentinel --help`. It needed 540 while it imported every command."""
MOST_MODULES_OF_A_HELP = 541
"""Modules of the help of one command, which Rich draws. All commands together needed 830 before each imported its own."""
MOST_MODULES_WITHOUT_A_PLAN = 542
"""Modules of `sentinel reconcile --no-plan --json`. It needed 555 while it imported what prints text, too."""

REPORT = """
import atexit, json, sys
report = sys.argv.pop(1)
atexit.register(lambda: open(report, "w").write(json.dumps(sorted(sys.modules))))
from gateway.__main__ import main
main()
"""


MOST_MODULES_OF_A_GATEWAY = 1550
"""Modules of a gateway that is ready. It needed 1,730 while it imported what it has no use for."""

STARTED = """
import json, sys, uvicorn
report = sys.argv.pop(1)
async def serve(self, sockets):
    open(report, "w").write(json.dumps([name for name, module in sys.modules.items() if module]))
uvicorn.Server.serve = serve
from gateway.__main__ import main
main()
"""
"""`sentinel serve`, which ends when it is ready."""


def imported(tmp_path: Path, *command: str) -> list[str]:
    """The modules that a command imports in a process of its own."""
    report = tmp_path / "modules.json"
    subprocess.run(
        [sys.executable, "-c", REPORT, str(report), *command],
        cwd=tmp_path, env={**environment(), "PYTHONPATH": str(ROOT)}, capture_output=True, timeout=300, check=False,
    )  # fmt: skip
    modules: list[str] = json.loads(report.read_text())
    return modules


@pytest.fixture(scope="module")
def first_key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory in which `sentinel key create` made a ledger."""
    directory = tmp_path_factory.mktemp("first_key")
    subprocess.run(
        [sys.executable, "-m", "gateway", "key", "create", "first"],
        cwd=directory, env={**environment(), "PYTHONPATH": str(ROOT)}, capture_output=True, timeout=300, check=True,
    )  # fmt: skip
    return directory


@pytest.fixture
def ledger(first_key: Path, tmp_path: Path) -> None:
    """A ledger in the directory of the command."""
    shutil.copytree(first_key, tmp_path, dirs_exist_ok=True)


@pytest.mark.slow
@pytest.mark.usefixtures("ledger")
@pytest.mark.parametrize(
    ("command", "needed"),
    NEEDED.items(),
    ids=lambda each: " ".join(sorted(each) if isinstance(each, frozenset) else each)[:20],
)
def test_a_command_imports_only_what_it_needs(command: tuple[str, ...], needed: frozenset[str], tmp_path: Path) -> None:
    modules = imported(tmp_path, *command)
    assert {module.partition(".")[0] for module in modules} & SLOW == needed
    assert len(modules) < (MOST_MODULES_OF_A_HELP if "--help" in command else MOST_MODULES[needed])


@pytest.mark.slow
def test_the_help_of_all_imports_no_command(tmp_path: Path) -> None:
    modules = imported(tmp_path, "--help")
    own = {module for module in modules if module.startswith("gateway.cli.")}
    assert own == {"gateway.cli.commands", "gateway.cli.summaries"}
    assert len(modules) < MOST_MODULES_OF_HELP


@pytest.mark.slow
def test_what_a_program_reads_waits_for_nothing_that_draws(tmp_path: Path) -> None:
    for command in ("config", "records"):
        for options in ([], ["--json"]):
            assert not {"rich", "pygments"} & set(imported(tmp_path, command, *options))


@pytest.mark.slow
@pytest.mark.usefixtures("ledger")
def test_what_opens_the_ledger_imports_neither_what_draws_nor_other_databases(tmp_path: Path) -> None:
    for command in (("verify",), ("key", "create", "ann"), ("observe", "report"), ("policy", "test", "--path", ".")):
        modules = imported(tmp_path, *command)
        assert not {"rich", "pygments", "sqlalchemy.dialects.postgresql"} & set(modules)


@pytest.mark.slow
@pytest.mark.usefixtures("ledger")
def test_what_issues_a_key_or_verifies_imports_neither_what_decides_nor_what_asks(tmp_path: Path) -> None:
    for command, own in ((("verify",), {"gateway.ledger.decide.signatures"}), (("key", "create", "ann"), set())):
        rooms = ("gateway.ledger.ask.", "gateway.ledger.decide.")
        modules = imported(tmp_path, *command)
        assert {each for each in modules if each.startswith(rooms)} == own
        assert "gateway.ledger.ledger" not in modules


@pytest.mark.slow
@pytest.mark.enable_socket
@pytest.mark.usefixtures("ledger")
def test_the_gateway_imports_only_what_it_needs(tmp_path: Path) -> None:
    """What it imports decides how long it takes to be ready, and most of its memory."""
    report, settings = tmp_path / "modules.json", tmp_path / "sentinel.toml"
    settings.write_text(
        f'[server]\nport = {free_port()}\n[upstream]\nsimulated = "http://127.0.0.1:9"\n'
        f'[[stacks]]\nname = "kafka"\npath = "{ROOT / "tests" / "cases" / "stacks" / "kafka"}"\n'
    )
    subprocess.run(
        [sys.executable, "-c", STARTED, str(report), "serve"],
        cwd=tmp_path, env={**environment(), "PYTHONPATH": str(ROOT)}, capture_output=True, timeout=300, check=True,
    )  # fmt: skip
    modules = json.loads(report.read_text())
    unneeded = {
        "aiohttp",
        "alembic",
        "boto3",
        "botocore.client",
        "botocore.docs",
        "botocore.session",
        "cryptography.x509",
        "dbos",
        "gateway.cli.client",
        "gateway.cli.output",
        "mcp",
        "moto",
        "psycopg",
        "pydantic.v1",
        "pygments",
        "rich",
    }
    assert unneeded & set(modules) == set()
    assert len(modules) < MOST_MODULES_OF_A_GATEWAY


@pytest.mark.slow
def test_a_reconciler_without_a_model_does_not_import_its_client() -> None:
    code = "import sys, reconciler.app; sys.exit('anthropic' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=300, check=True)


@pytest.mark.slow
def test_a_reconcile_without_a_plan_imports_only_what_it_needs(tmp_path: Path) -> None:
    """It is meant to take a second, with the start of a provider."""
    (tmp_path / ".terraform").mkdir()
    (tmp_path / "main.tf").write_text("locals {}\n")
    (tmp_path / "terraform.tfstate").write_text('{"version": 4, "resources": []}')
    modules = imported(tmp_path, "reconcile", ".", "--no-plan", "--only", "aws_sqs_queue.jobs", "--json")
    assert "reconciler.rewrite.value_edits" in modules
    assert {module.partition(".")[0] for module in modules} & SLOW == {"re2", "tree_sitter"}
    unneeded = {
        "attr",
        "gateway.core.ports",
        "gateway.core.settings",
        "google",
        "grpc",
        "http.client",
        "pygments",
        "reconciler.working_copy.printer",
        "reconciler.working_copy.with_plan",
        "rich",
        "structlog",
        "yaml",
    }
    assert unneeded.isdisjoint(modules)
    assert len(modules) < MOST_MODULES_WITHOUT_A_PLAN


def commands(places: dict[str, str]) -> tuple[LazyCommands, list[str]]:
    asked: list[str] = []

    def others() -> dict[str, Callable[[], object]]:
        asked.append("others")
        return {"extra": lambda: len}

    return LazyCommands(places, context_settings={"a": {"allow_interspersed_args": False}}, others=others), asked


def test_other_packages_are_asked_only_for_what_is_not_ours() -> None:
    found, asked = commands({"a": "gateway.cli.drift:left", "b": "gateway.nowhere:none"})
    assert (found["a"].name, found["a"].context_settings) == ("a", {"allow_interspersed_args": False})
    assert asked == []
    assert found["a"] is found["a"]
    assert list(found) == ["a", "b", "extra"]
    assert len(found) == 3
    assert asked == ["others"]
    assert found.get("none") is None


def test_every_command_is_where_the_table_says() -> None:
    found, _ = commands(dict(PLACES))
    for name in PLACES:
        assert found[name].name == name
        assert " ".join(found[name].help.partition("\n\n")[0].split()) == SUMMARIES[name]
        assert not found[name].hidden
        assert not found[name].deprecated
    assert list(SUMMARIES) == list(PLACES)


def test_the_list_of_all_commands_imports_none_that_has_a_summary() -> None:
    found, asked = commands({"a": "gateway.nowhere:none", "b": "gateway.cli.drift:left"})
    listed = found.listed({"a": "Does this.", "extra": "Does more."})
    assert list(listed) == ["a", "b", "extra"]
    assert (listed["a"].name, listed["a"].help) == ("a", "Does this.")
    assert listed["b"] is found["b"]
    assert asked == ["others"]


COMMANDS = sorted(
    [name for name in PLACES if name not in ("key", "policy")]
    + ["reconcile"]
    + ["key create", "key list", "key revoke", "policy build", "policy test", "policy eval"]
)

MISTYPED = {
    "no such command": ("bogus",),
    "no such option": ("records", "--bogus"),
    "an argument is missing": ("approve",),
    "an option is missing": ("session",),
    "not one of the words": ("records", "--intent", "glory"),
    "a stage there is not": ("records", "--stage", "thought"),
    "too many": ("records", "--limit", "100000"),
    "not a number": ("records", "--limit", "many"),
}


@pytest.mark.parametrize("typed", MISTYPED.values(), ids=MISTYPED)
def test_a_usage_error_is_printed_on_standard_error(typed: tuple[str, ...], sentinel: Callable[..., Any]) -> None:
    done = sentinel(*typed)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "Error" in done.stderr


ON_A_MUTATION = {
    "approve": ("--yes",),
    "break-glass": ("--reason", "Orders are lost", "--yes"),
    "end": (),
    "explain": (),
    "extend": ("--for", "1h"),
    "holds": (),
    "reject": ("--reason", "No"),
    "release": (),
    "settle": ("--applied", "--reason", "I looked"),
}
"""The commands on one mutation, with the options that each needs."""


@pytest.mark.parametrize("command", ON_A_MUTATION)
def test_a_wrong_id_of_a_mutation_ends_with_a_sentence(
    command: str, monkeypatch: pytest.MonkeyPatch, sentinel: Callable[..., Any], document: Callable[..., Any]
) -> None:
    monkeypatch.setenv("SENTINEL_TOKEN", "SNTL00000000000000.secret")
    done = sentinel(command, "mut_nosuch", *ON_A_MUTATION[command])
    assert (done.exit_code, done.stdout) == (1, "")
    assert "'mut_nosuch' is not a mutation id." in done.stderr
    code, reply = document(command, "mut_nosuch", *ON_A_MUTATION[command])
    assert (code, reply["code"]) == (1, "malformed")


@pytest.mark.parametrize("typed", MISTYPED.values(), ids=MISTYPED)
def test_with_json_it_is_one_document(typed: tuple[str, ...], document: Callable[..., Any]) -> None:
    code, reply = document(*typed)
    assert code == 2
    assert reply["code"] == "usage"
    assert len(reply["detail"]) > 10


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_and_every_option(command: str, sentinel: Callable[..., Any]) -> None:
    done = sentinel(*command.split(), "--help")
    assert done.exit_code == 0
    assert "Usage" in done.stdout


def leaves(command: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Every command that is no group, with the words that call it."""
    inner = getattr(command, "commands", None)
    if inner is None:
        return [(path, command)]
    return [leaf for name, one in inner.items() for leaf in leaves(one, (*path, name))]


def test_every_option_has_a_help_text() -> None:
    import typer.main  # noqa: PLC0415  only tests look inside

    for path, command in leaves(typer.main.get_command(app)):
        assert command.help, path
        for parameter in command.params:
            assert getattr(parameter, "help", None), f"{path} {parameter.name}"


def required(command: Any) -> list[str]:
    """Something for each argument and option that the command must have."""
    words: list[str] = []
    for parameter in command.params:
        if not parameter.required:
            continue
        words += ["1h"] if parameter.param_type_name == "argument" else [parameter.opts[0], "1h"]
    return words


@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_every_command_prints_one_document_with_json(
    monkeypatch: pytest.MonkeyPatch, document: Callable[..., Any]
) -> None:
    """Whatever a command says without a gateway or with words that make no sense, it says it as one JSON document, or on standard error."""
    import typer.main  # noqa: PLC0415  only tests look inside

    monkeypatch.setenv("SENTINEL_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("SENTINEL_TOKEN", "SNTL00000000000000.secret")
    with_json = [
        (path, command)
        for path, command in leaves(typer.main.get_command(app))
        if any("--json" in parameter.opts for parameter in command.params)
    ]
    assert len(with_json) > 40
    for path, command in with_json:
        code, reply = document(*path, *required(command))
        assert isinstance(reply, dict | list), path
        assert code in {0, 1, 2}, path


def test_no_help_text_has_what_rich_takes_for_markup(sentinel: Callable[..., Any]) -> None:
    shown = " ".join(sentinel("export", "--help").stdout.split())
    assert "[]" not in shown
    found, _ = commands(dict(PLACES))
    for name in PLACES:
        command = found[name]
        for each in (command, *getattr(command, "commands", {}).values()):
            texts = [each.help or "", *(getattr(option, "help", None) or "" for option in each.params)]
            assert not [text for text in texts if re.search(r"\[[a-z\[/]", text)], name


def test_the_options_that_install_completion_are_not_in_the_help(sentinel: Callable[..., Any]) -> None:
    groups = [name for name, each in commands(dict(PLACES))[0].items() if getattr(each, "commands", None)]
    assert {"policy", "key", "contract"} <= set(groups)
    for command in ((), *((name,) for name in groups)):
        assert "completion" not in sentinel(*command, "--help").stdout, command


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("sentinel pol", {"policy"}),
        ("sentinel policy ev", {"eval"}),
        ("sentinel records --ver", {"--verdict"}),
        ("sentinel records --verdict ", {"allow", "hold", "deny"}),
    ],
)
def test_a_shell_completes_commands_options_and_words(typed: str, offered: set[str]) -> None:
    asked = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split(" ")) - 1), "_SENTINEL_COMPLETE": "complete_bash"}
    program = Path(sys.executable).parent / "sentinel"
    done = subprocess.run([program], env={**os.environ, **asked}, capture_output=True, text=True, check=False)
    assert set(done.stdout.split()) == offered, done.stderr


def test_json_after_two_dashes_belongs_to_the_users_command(sentinel: Callable[..., Any]) -> None:
    done = sentinel("session", "--intent", "glory", "--", "jq", "--json")
    assert done.exit_code == 2
    assert done.stdout == ""
