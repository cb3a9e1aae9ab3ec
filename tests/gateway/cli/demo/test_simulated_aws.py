"""What the simulated AWS cannot do is refused at once, in words, and never with a status that clients retry."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from werkzeug.serving import make_server

from gateway.cli.demo.simulated_aws import Simulated

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


class _Lacks:
    """A moto that lacks everything, and counts what it is asked."""

    def __init__(self, journal: Path) -> None:
        self.asked = 0
        self.journal = journal

    def __call__(self, _environ: Any, _start_response: Any) -> Any:
        self.asked += 1
        message = "The <thing> has not been implemented"
        raise LookupError(message)


@pytest.fixture
def lacks(tmp_path: Path) -> _Lacks:
    return _Lacks(tmp_path / "journal")


@pytest.fixture
def url(lacks: _Lacks) -> Iterator[str]:
    """The address of a simulated AWS that lacks everything."""
    server = make_server("127.0.0.1", 0, Simulated(lacks, lacks.journal), threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.mark.parametrize(
    ("service", "operation", "parameters"),
    [
        ("events", "put_rule", {"Name": "r", "ScheduleExpression": "rate(1 day)"}),
        ("sns", "create_topic", {"Name": "t"}),
        ("ec2", "create_vpc", {"CidrBlock": "10.0.0.0/16"}),
        ("lambda", "list_functions", {}),
    ],
)
def test_what_moto_lacks_is_an_error_that_nobody_sends_again(
    service: str, operation: str, parameters: dict[str, Any], url: str, lacks: _Lacks
) -> None:
    client: Any = boto3.client(
        service,
        region_name="us-east-1", endpoint_url=url, aws_access_key_id="a", aws_secret_access_key="b",
        config=Config(retries={"mode": "standard", "max_attempts": 4}),
    )  # fmt: skip
    with pytest.raises(ClientError) as refused:
        getattr(client, operation)(**parameters)
    error = refused.value.response["Error"]
    assert error["Code"] == "NotSimulated"
    assert "The simulated AWS cannot answer" in error["Message"]
    assert "The <thing> has not been implemented" in error["Message"]
    assert lacks.asked == 1
    assert not lacks.journal.exists()
