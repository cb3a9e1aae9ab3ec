"""What a program invents for an attempt is told from what a person chose."""

import pytest

from gateway.core.model.invented import generated_prefix, renamed, texts_at, without

GENERATED = "20261123080912345600000001"


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        (f"terraform-{GENERATED}", "terraform-"),
        (f"jobs-{GENERATED}", "jobs-"),
        (GENERATED, ""),
        (f"{GENERATED}-x", None),
        ("jobs-20261123", None),
        (f"jobs-{GENERATED[:-1]}G", None),
        ("", None),
    ],
)
def test_a_generated_name_is_told_by_its_end(text: str, prefix: str | None) -> None:
    assert generated_prefix(text) == prefix


def test_members_are_left_out_by_their_path_only() -> None:
    parameters = {"Token": "a", "Config": {"Reference": "b", "Name": "n"}, "Tags": {"Token": "kept"}}
    paths = ("Token", "Config.Reference", "Missing", "Token.Inside")

    assert without(parameters, paths) == {"Config": {"Name": "n"}, "Tags": {"Token": "kept"}}
    assert texts_at(parameters, paths) == {"a", "b"}
    assert parameters["Token"] == "a"


def test_only_whole_texts_are_renamed() -> None:
    value = {"a": ["x", "xx", {"x": "x"}], "b": b"x", "n": 1}
    assert renamed(value, {"x": "place"}) == {"a": ["place", "xx", {"x": "place"}], "b": b"x", "n": 1}
