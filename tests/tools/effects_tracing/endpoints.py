"""The environment of a provider that reaches all of AWS at the stub."""

import os
from collections.abc import Mapping

from botocore.loaders import Loader

from tests.tools.effects_tracing.request_reader import DOMAIN


def provider_environment(port: int, home: str) -> Mapping[str, str]:
    """The environment: the stub is the proxy, and every service has an endpoint that names it.

    Source: "Service-specific endpoints" in the reference guide of AWS's SDKs.
    """
    proxy = f"http://127.0.0.1:{port}"
    endpoints = {f"AWS_ENDPOINT_URL_{name}": f"http://{service}{DOMAIN}" for name, service in _services().items()}
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": home,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ACCESS_KEY_ID": "AKIAMARKERMARKER0001",
        "AWS_SECRET_ACCESS_KEY": "not-a-secret",
        "AWS_REGION": "us-east-1",
        "HTTP_PROXY": proxy,
        "http_proxy": proxy,
        "GOGC": "400",
        "AWS_ENDPOINT_URL": f"http://unknown{DOMAIN}",
        **endpoints,
    }


def _services() -> Mapping[str, str]:
    """The name of a service in such a variable → botocore's name of it."""
    loader = Loader(include_default_search_paths=False, extra_search_paths=[Loader.BUILTIN_DATA_PATH])
    found = {}
    for service in loader.list_available_services("service-2"):
        identifier = loader.load_service_model(service, "service-2")["metadata"].get("serviceId", "")
        if identifier:
            found[identifier.upper().replace(" ", "_").replace("-", "_")] = service
    return found
