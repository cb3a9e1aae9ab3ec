"""Clients of boto3 for commands that look at an AWS account, with the credentials of this environment."""

from collections.abc import Callable
from typing import Any

import boto3
from botocore.config import Config

from gateway.core.settings import Settings


def aws_clients(settings: Settings, region: str = "") -> Callable[[str], Any]:
    """Makes clients of services in a region, by default that of the settings; for a simulated AWS, of that."""
    options: dict[str, Any] = {"region_name": region or settings.upstream.default_region}
    options["config"] = Config(connect_timeout=5, read_timeout=60, retries={"total_max_attempts": 3})
    if settings.upstream.simulated:
        simulated = {"aws_access_key_id": "simulated", "aws_secret_access_key": "simulated"}
        options |= {"endpoint_url": settings.upstream.simulated, **simulated}

    def client(service: str) -> Any:
        return boto3.client(service, **options)

    return client
