"""What is not decided in a chat."""

from datetime import timedelta
from typing import Any

import pytest

from gateway.notices.no_buttons import no_buttons_reason
from tests.kit.held import effect, held_record

LONGEST = timedelta(hours=8)


def _reason(*effects: dict[str, Any], **changes: Any) -> str:
    body: Any = held_record(*effects, **changes).body
    return no_buttons_reason(body, LONGEST)


def test_an_ordinary_change_has_buttons() -> None:
    assert not _reason()


@pytest.mark.parametrize(
    ("address", "attribute"),
    [
        ("aws_iam_role.admin", "max_session_duration"),
        ("aws_kms_key.a", "description"),
        ("aws_security_group.a", "ingress"),
        ("aws_sqs_queue_policy.a", "policy"),
        ("aws_lambda_permission.a", "*"),
        ("aws_sqs_queue.a", "policy"),
        ("aws_s3_bucket_policy.a", "policy"),
    ],
)
def test_rights_have_buttons_only_for_a_time(address: str, attribute: str) -> None:
    made = effect(address, attribute)
    assert "rights for longer than 8 hours" in _reason(made)
    assert "rights" in _reason(effect(), made, motive={"wanted_seconds": 8 * 3600 + 1})
    assert "rights" in _reason(made, motive={"wanted_seconds": 0})
    assert not _reason(made, motive={"wanted_seconds": 8 * 3600})


def test_what_nobody_can_see_has_no_buttons() -> None:
    assert "Not all of this call" in _reason(cut={"effects": 3})
    assert "Not all of this call" in _reason(*[effect()] * 11)
    assert "Not all of this call" in _reason(effect(value="x" * 301))
    assert "Not all of this call" in _reason(effect(value="x" * 250), *[effect("a" * 300, value="&" * 90)] * 9)
    assert "Not all of this call" in _reason(call={"service": "sqs", "whole": False})
    assert "not known" in no_buttons_reason({"call": {"whole": True}, "effects": []}, LONGEST)
