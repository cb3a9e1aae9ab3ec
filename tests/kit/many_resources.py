"""A stack of a thousand resources in modules, as large ones are: networks, services and queues that need each other."""

import json
from pathlib import Path
from typing import Any, Final

MODULES: Final = 10
_KINDS: Final = (
    ("aws_vpc", 1, ()),
    ("aws_subnet", 6, ("aws_vpc.n0",)),
    ("aws_security_group", 8, ("aws_vpc.n0",)),
    ("aws_sqs_queue", 35, ()),
    ("aws_instance", 25, ("aws_subnet.n1", "aws_security_group.n2", "aws_vpc.n0")),
    ("aws_cloudwatch_metric_alarm", 24, ("aws_sqs_queue.n3",)),
)
"""In each module: type, how many blocks, and what each needs there."""


def write_many_resources(directory: Path) -> list[str]:
    """Write a stack with 990 resources in ten modules and ten outside, into a directory that is made; the addresses of all."""
    directory.mkdir(parents=True)
    (directory / "main.tf").write_text("")
    names = [f"module.cell_{number}" for number in range(MODULES)]
    resources = [
        _resource(kind, f"n{number}", module, [f"{module}.{each}" for each in needs])
        for module in names
        for kind, count, needs in _KINDS
        for number in range(count)
    ]
    resources += [
        _resource("aws_route53_record", f"n{number}", "", [f"{name}.aws_instance.n0"])
        for number, name in enumerate(names)
    ]
    state = {"version": 4, "terraform_version": "1.9.0", "serial": 1, "lineage": "x", "outputs": {}}
    (directory / "terraform.tfstate").write_text(json.dumps(state | {"resources": resources}))
    return [".".join(filter(None, (each.get("module"), each["type"], each["name"]))) for each in resources]


def _resource(kind: str, name: str, module: str, needs: list[str]) -> dict[str, Any]:
    instance = {"schema_version": 0, "attributes": {"id": f"{module}/{name}", "tags": {}}, "dependencies": needs}
    found = {
        "mode": "managed",
        "type": kind,
        "name": name,
        "provider": 'provider["registry.terraform.io/hashicorp/aws"]',
        "instances": [instance],
    }
    return found | ({"module": module} if module else {})
