"""Environment variables that send an AWS client's requests to Sentinel only."""

from collections.abc import Mapping

_CONFLICTING = (
    "AWS_SESSION_TOKEN",
    "AWS_SECURITY_TOKEN",
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
)
"""Variables that make a client use other credentials or another endpoint."""


def aws_variables(*, url: str, key_id: str, secret: str, region: str = "") -> dict[str, str]:
    """The variables that every AWS SDK reads: endpoint (see the SDKs' "service-specific endpoints" guide), key and, if given, region."""
    return {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": key_id,
        "AWS_SECRET_ACCESS_KEY": secret,
        **({"AWS_REGION": region, "AWS_DEFAULT_REGION": region} if region else {}),
    }


def conflicting_variables(base: Mapping[str, str]) -> list[str]:
    """Names of the variables to remove from `base`. A service-specific `AWS_ENDPOINT_URL_…` would take precedence over `AWS_ENDPOINT_URL`."""
    return [*_CONFLICTING, *sorted(name for name in base if name.startswith("AWS_ENDPOINT_URL_"))]


def with_aws_variables(base: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """`base` with these variables added and the conflicting ones removed."""
    removed = set(conflicting_variables(base))
    return {**{name: value for name, value in base.items() if name not in removed}, **variables}
