"""The partition of each region, and its domain, are those that botocore knows."""

from typing import Any

import pytest
from botocore.loaders import Loader

from gateway.core.partitions import domain_of, partition_of, region_refused

PARTITIONS: list[dict[str, Any]] = Loader().load_data("partitions")["partitions"]
REGIONS = [(region, each) for each in PARTITIONS for region in each["regions"] if not region.endswith("-global")]


@pytest.mark.parametrize(("region", "partition"), REGIONS, ids=[region for region, _ in REGIONS])
def test_each_region_is_in_its_partition(region: str, partition: dict[str, Any]) -> None:
    assert (partition_of(region), domain_of(region)) == (partition["id"], partition["outputs"]["dnsSuffix"])


def test_a_region_that_is_not_allowed_says_who_allows_it_and_what_another_partition_needs() -> None:
    near = region_refused("eu-west-3", ["eu-west-1", "us-east-1"])
    assert "'eu-west-3' is not one that this Sentinel may call, so nothing was sent" in near
    assert near.endswith("may add a region to `upstream.regions`.")
    assert "partition aws-cn needs a Sentinel with credentials of that partition" in region_refused(
        "cn-north-1", ["eu-west-1"]
    )
    assert "partition" not in region_refused("cn-north-1", ["cn-northwest-1"])
