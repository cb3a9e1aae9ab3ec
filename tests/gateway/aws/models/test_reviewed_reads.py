"""The reviewed members are names, each once, and none of them is the plain name of a key that AWS hands out."""

import re

import pytest

from gateway.aws.models import reviewed_reads


@pytest.mark.parametrize("listed", [reviewed_reads.OUTPUTS, reviewed_reads.STATEMENTS])
def test_a_list_holds_names_once_each(listed: dict[str, str]) -> None:
    for members in listed.values():
        names = members.split()
        assert names == sorted(set(names))
        assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9]*|\*", name) for name in names)


def test_no_credential_was_reviewed_as_harmless() -> None:
    plain = {
        "SecretAccessKey",
        "SessionToken",
        "SecretString",
        "SecretBinary",
        "ClientSecretValue",
        "streamKey",
        "StreamKey",
        "environmentVariables",
    }
    assert not [
        (service, plain & set(members.split()))
        for service, members in reviewed_reads.OUTPUTS.items()
        if plain & set(members.split())
    ]
