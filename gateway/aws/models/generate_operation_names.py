"""Writes the names of AWS's operations that contracts are checked against, from botocore's models: `python -m gateway.aws.models.generate_operation_names`."""

import sys
from typing import Any

import botocore

from gateway.aws.models.routing_index import models, packed
from gateway.terraform.contracts.operation_names import SHIPPED


def build() -> dict[str, Any]:
    """Every service's operations, sorted, with the version of botocore they were read from."""
    return {
        "botocore": botocore.__version__,
        "services": {name: sorted(model["operations"]) for name, model in models()},
    }


def main() -> None:
    """Write the shipped file."""
    data = build()
    SHIPPED.write_bytes(packed(data))
    sys.stdout.write(f"{SHIPPED.name}: botocore {data['botocore']}, {len(data['services'])} services\n")


if __name__ == "__main__":
    main()
