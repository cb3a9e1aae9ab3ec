"""The parts of an effect: what is new, of which class, whose accounts it names; of secrets only what is shown anyway."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.core.model.contract import Contract
from gateway.core.model.facts import Subject
from gateway.core.model.json import Json
from gateway.core.model.mutation import EffectAction
from gateway.line.checks.dangerous_parts import accounts_in, dangerous_parts
from tests.kit import nouns

US, THEM = "123456789012", "999999999999"
FUNCTION = "aws_lambda_function.f"


def parts(
    attribute: str,
    value: Json,
    before: Json = None,
    declared: Json = None,
    *,
    account: str = US,
    known: bool = True,
    address: str = FUNCTION,
    mutable: tuple[str, ...] = (),
    **effect: Any,
) -> list[Any]:
    made = replace(nouns.effect(address, attribute, value, **effect), declared=known)
    contract = Contract(managed_by_agent=True, mutable=mutable)
    subject: Subject = nouns.subject(made, before, declared, contract=contract)
    return dangerous_parts(subject, account)


def test_what_is_plain_or_a_label_is_no_part() -> None:
    assert parts("memory_size", 512) == []
    assert parts("description", f"arn:aws:iam::{THEM}:role/x") == []
    assert parts("tags", {"owner": f"arn:aws:iam::{THEM}:role/x"}) == []
    assert parts("policy", "{}", address="aws_sqs_queue.q") == []
    assert parts("handler", None) == []


def test_a_part_says_its_class_and_what_is_declared_or_named() -> None:
    assert parts("handler", "a.b", "x.y", "a.b") == [
        {"path": "handler", "class": "runs_code", "texts": [], "fresh": [], "accounts": [], "declared": True, "named": False}
    ]  # fmt: skip
    (part,) = parts("handler", "a.b", mutable=("handler",))
    assert (part["declared"], part["named"]) == (False, True)


def test_only_what_is_new_is_a_part() -> None:
    layer = f"arn:aws:lambda:us-east-1:{THEM}:layer:x:1"
    assert parts("layers", [layer], [layer]) == []
    (part,) = parts("layers", [layer, f"arn:aws:lambda:us-east-1:{US}:layer:y:1"], [layer])
    assert part["accounts"] == []


def test_a_block_is_judged_by_its_members() -> None:
    action: Json = [{"type": "redirect", "redirect": [{"host": "evil.example", "status_code": "HTTP_301"}]}]
    (part,) = parts("default_action", action, address="aws_lb_listener.l", mutable=("default_action",))
    assert (part["path"], part["class"], part["named"]) == ("default_action.redirect.host", "sends_to", False)
    assert part["texts"] == ["evil.example"]
    whole = parts("*", {"default_action": action}, address="aws_lb_listener.l", action=EffectAction.CREATE)
    assert [each["path"] for each in whole] == ["default_action.redirect.host"]


@pytest.mark.parametrize(
    "text",
    [
        f"arn:aws:kms:us-east-1:{THEM}:alias/x", f"arn:aws-cn:kms:cn-north-1:{THEM}:key/x", f"{THEM}:alias/x",
        f"{THEM}.dkr.ecr.us-east-1.amazonaws.com/x", f"https://sqs.us-east-1.amazonaws.com/{THEM}/q", THEM,
    ],
)  # fmt: skip
def test_an_account_is_recognised_in_any_form(text: str) -> None:
    (part,) = parts("kms_key_arn", text)
    assert part["accounts"] == [THEM]


def test_in_plain_attributes_only_an_arn_names_an_account() -> None:
    (part,) = parts("architectures", [f"arn:aws:x:us-east-1:{THEM}:y"])
    assert (part["class"], part["accounts"]) == ("harmless", [THEM])
    assert parts("architectures", [THEM, "1234567890123"]) == []


def test_where_no_account_is_known_only_what_nobody_declares_names_one() -> None:
    arn = f"arn:aws:kms:us-east-1:{US}:key/x"
    (bare,) = parts("kms_key_arn", US, account="", known=False)
    (strange,) = parts("kms_key_arn", arn, account="", known=False)
    (own,) = parts("kms_key_arn", arn, account="")
    assert (bare["accounts"], strange["accounts"], own["accounts"]) == ([], [US], [])


def test_variables_are_known_by_their_names_and_secrets_stay_hidden() -> None:
    digest = {"hmac_sha256": "ab"}
    value = {"KEPT": digest, "NEW": digest}
    (part,) = parts("environment.variables", value, {"KEPT": "hunter2"}, {"KEPT": "hunter2"}, sensitive=True)
    assert (part["texts"], part["fresh"], part["declared"]) == (["KEPT", "NEW"], ["NEW"], False)
    (same,) = parts("environment.variables.KEPT", "hunter2", "hunter3", "hunter2")
    assert (same["path"], same["texts"], same["declared"]) == ("environment.variables", ["KEPT"], True)
    plain = parts("environment", [{"variables": {"KEPT": "x"}}], [{"variables": {"KEPT": "x"}}])
    assert plain == []


def test_what_nobody_classified_counts_where_a_role_or_a_network_is() -> None:
    (part,) = parts("some_new_thing", "x")
    assert part["class"] == "unclassified"
    (other,) = parts("name", "x", address="aws_new_thing.x")
    assert other["class"] == "unclassified"
    assert parts("some_new_thing", "x", address="aws_athena_data_catalog.c") == []


def test_a_version_is_a_text_though_it_is_a_number() -> None:
    (part,) = parts("default_version", 7, address="aws_launch_template.t")
    assert part["class"] == "runs_code"


def test_accounts_of_parameters() -> None:
    given = {
        "A": [{"B": f"arn:aws:s3:us-east-1:{THEM}:accesspoint/x"}],
        "C": f"arn:aws:iam::{US}:role/x",
        "D": b"x",
        "E": 1,
    }
    assert accounts_in(given, US) == [THEM]
