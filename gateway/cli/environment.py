"""The environment that points an AWS client at Sentinel, and nowhere else."""

from collections.abc import Mapping

_OVERRIDING = (
    "AWS_SESSION_TOKEN",
    "AWS_SECURITY_TOKEN",
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
)
"""Variables that make a client use other credentials, or not our endpoint."""


def aws_variables(*, url: str, key_id: str, secret: str, region: str = "") -> dict[str, str]:
    """What any AWS client needs: the endpoint (the AWS SDKs' "service-specific endpoints" guide) and a key; the region where known."""
    return {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": key_id,
        "AWS_SECRET_ACCESS_KEY": secret,
        **({"AWS_REGION": region, "AWS_DEFAULT_REGION": region} if region else {}),
    }


def overriding(base: Mapping[str, str]) -> list[str]:
    """Variables that must go, so that a client keeps to ours; a service's own endpoint wins over `AWS_ENDPOINT_URL`."""
    return [*_OVERRIDING, *sorted(name for name in base if name.startswith("AWS_ENDPOINT_URL_"))]


def pointed(base: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """`base` with these variables, and without what would override them."""
    gone = set(overriding(base))
    return {**{name: value for name, value in base.items() if name not in gone}, **variables}
