"""The request of a run task: verified first, then read, and no host but those of the settings."""

import json
from typing import Any

import pytest

from gateway.doors.api.run_task_request import read_request, require_listed, verify_signature
from gateway.errors import Malformed, NotAllowed, NotAuthenticated
from tests.kit.hcp import KEY, HcpStub, signed

HOSTS = ("app.terraform.io", "127.0.0.1:8080", "10.0.0.1")


def test_the_signature_is_over_the_body_as_it_arrived() -> None:
    body, headers = signed({"a": 1})
    signature = headers["X-Tfc-Task-Signature"]
    verify_signature(body, signature.upper(), KEY)
    for raw, given in ((body + b"\n", signature), (body, None), (body, ""), (body, "é" * 128), (body, signature[:-1])):
        with pytest.raises(NotAuthenticated, match="not signed"):
            verify_signature(raw, given, KEY)


@pytest.mark.parametrize(
    ("url", "listed"),
    [
        ("https://app.terraform.io/api/v2/plans/x", True),
        ("https://APP.terraform.io/x", True),
        ("http://127.0.0.1:8080/x", True),
        ("https://127.0.0.1:8080/x", True),
        ("http://app.terraform.io/x", False),
        ("http://10.0.0.1/x", False),
        ("https://app.terraform.io:8443/x", False),
        ("https://app.terraform.io.evil.example/x", False),
        ("https://user@app.terraform.io/x", False),
        ("https://app.terraform.io\\@evil.example/x", False),
        ("https://app.terraform.io/x\r\nHost: evil.example", False),
        ("https://[::1", False),
        ("https://app.terraform.io:x/", False),
        ("//app.terraform.io/x", False),
        ("", False),
    ],
)
def test_only_listed_hosts_are_asked(url: str, listed: bool) -> None:
    if listed:
        require_listed(url, HOSTS)
        return
    with pytest.raises(NotAllowed, match=r"not among `run_task.hosts`"):
        require_listed(url, HOSTS)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"payload_version": 2}, "payload_version that this Sentinel does not know"),
        ({"task_result_id": ""}, "no task_result_id"),
        ({"task_result_callback_url": ""}, "no task_result_id or no task_result_callback_url"),
        ({"access_token": ""}, "access_token"),
        ({"stage": ["x"]}, "stage"),
    ],
)
def test_what_cannot_be_read_is_a_sentence(changes: dict[str, Any], sentence: str) -> None:
    raw = json.dumps(HcpStub(port=8080).request(**changes)).encode()
    with pytest.raises(Malformed, match=sentence):
        read_request(raw, HOSTS)


def test_members_of_newer_versions_are_ignored() -> None:
    request = read_request(json.dumps(HcpStub(port=8080).request(brand_new=1)).encode(), HOSTS)
    assert (request.has_plan, request.is_test, request.run_id) == (True, False, "run-1")
    assert "token-of-this-run" not in repr(request)
