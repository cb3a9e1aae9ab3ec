"""Usage errors, and the help."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.__main__ import app
from gateway.cli.command_group import PLACES

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
    "break-glass": ("--reason", "Orders are lost"),
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


def test_every_option_has_a_help_text() -> None:
    import typer.main  # noqa: PLC0415  only this test looks inside

    def leaves(command: Any, path: str) -> list[tuple[str, Any]]:
        inner = getattr(command, "commands", None)
        if inner is None:
            return [(path, command)]
        return [leaf for name, one in inner.items() for leaf in leaves(one, f"{path} {name}")]

    for path, command in leaves(typer.main.get_command(app), "sentinel"):
        assert command.help, path
        for parameter in command.params:
            assert getattr(parameter, "help", None), f"{path} {parameter.name}"


def test_json_after_two_dashes_belongs_to_the_users_command(sentinel: Callable[..., Any]) -> None:
    done = sentinel("session", "--intent", "glory", "--", "jq", "--json")
    assert done.exit_code == 2
    assert done.stdout == ""
