"""A refresh tells what was read, what exists, and what only the old state says."""

import json

from reconciler.terraform.refresh import messages, read_refreshed

EVENTS = b"\n".join(
    [
        b"Warning: plain text of terraform itself",
        json.dumps({"type": "refresh_start", "hook": {"resource": {"addr": "aws_x.there"}}}).encode(),
        json.dumps({"type": "refresh_start", "hook": {"resource": {"addr": "aws_x.gone"}}}).encode(),
        json.dumps({"type": "diagnostic", "@level": "error", "@message": "Error: no credentials"}).encode(),
        b"[1]",
    ]
)
DOCUMENT = {
    "prior_state": {
        "values": {
            "root_module": {
                "resources": [
                    {"address": "aws_x.there", "values": {"size": 2}},
                    {"address": "aws_x.old", "values": {"size": 1}},
                ],
                "child_modules": [{"resources": [{"address": "module.m.aws_x.in", "values": {}}]}],
            }
        }
    }
}


def test_what_was_not_read_is_not_known_to_exist() -> None:
    live = read_refreshed(EVENTS, DOCUMENT)
    assert live.exists("aws_x.there") is True
    assert live.exists("aws_x.gone") is False
    assert live.exists("aws_x.old") is None
    assert live.exists("aws_x.never") is None
    assert live.objects["aws_x.there"] == {"size": 2}
    assert "module.m.aws_x.in" in live.objects


def test_a_plan_without_a_state_has_nothing() -> None:
    assert read_refreshed(b"", {}).objects == {}


def test_errors_are_found() -> None:
    assert messages(EVENTS) == ["Error: no credentials"]
