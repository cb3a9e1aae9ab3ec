"""Partitions of AWS and the regions in them: which one a region is in, and what a call to a region that is not allowed is told.

Source: https://docs.aws.amazon.com/general/latest/gr/rande.html, and `partitions.json` of botocore, which a test compares.
"""

from collections.abc import Collection
from typing import Final

_PARTITIONS: Final = {
    "cn-": "aws-cn",
    "us-gov-": "aws-us-gov",
    "us-iso-": "aws-iso",
    "us-isob-": "aws-iso-b",
    "eu-isoe-": "aws-iso-e",
    "us-isof-": "aws-iso-f",
    "eusc-": "aws-eusc",
}
"""Beginning of a region → its partition; every other region is in `aws`."""
_DOMAINS: Final = {
    "aws-cn": "amazonaws.com.cn",
    "aws-iso": "c2s.ic.gov",
    "aws-iso-b": "sc2s.sgov.gov",
    "aws-iso-e": "cloud.adc-e.uk",
    "aws-iso-f": "csp.hci.ic.gov",
    "aws-eusc": "amazonaws.eu",
}
"""Partition → the domain of its endpoints; that of every other one is `amazonaws.com`."""


def partition_of(region: str) -> str:
    """The partition of a region, as ARNs name it."""
    return next((name for start, name in _PARTITIONS.items() if region.startswith(start)), "aws")


def domain_of(region: str) -> str:
    """The domain of the endpoints in a region."""
    return _DOMAINS.get(partition_of(region), "amazonaws.com")


def region_refused(region: str, allowed: Collection[str]) -> str:
    """What a call to a region that is not allowed is told, and how it is allowed."""
    partition = partition_of(region)
    other = (
        ""
        if any(partition_of(each) == partition for each in allowed)
        else (
            f" Its partition {partition} needs a Sentinel with credentials of that partition, since those of one are worth nothing in another."
        )
    )
    return (
        f"The region {region[:40]!r} is not one that this Sentinel may call, so nothing was sent. It may call {', '.join(sorted(allowed))}. "
        f"The person who runs it may add a region to `upstream.regions`.{other}"
    )
