"""The policies' work grows with the document and not with its square, counted in the instructions that the policies execute."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import wasmtime

from gateway.line.checks.arbitration import ENTRYPOINT as ARBITRATION
from gateway.line.checks.policy import ENTRYPOINT
from gateway.policy.bundle import SHIPPED, read_bundle
from gateway.policy.sources import shipped
from gateway.policy.wasm_instance import WasmInstance
from tests.policies.documents import document, effect

PLENTY = 10**12
SMALL, LARGE = 200, 800
MOST = 1.6 * LARGE / SMALL
"""How much more work four times the size may be."""

Make = Callable[[int], dict[str, Any]]


def _statements(count: int, **more: Any) -> str:
    return json.dumps(
        {"Statement": [{"Sid": f"s{number}", "Effect": "Allow", "Action": f"sqs:Act{number}*", "Resource": "*", **more} for number in range(count)]}
    )  # fmt: skip


def _actions(count: int) -> str:
    return json.dumps(
        {"Statement": {"Effect": "Allow", "Action": [f"iam:A{number}" for number in range(count)], "Resource": "*"}}
    )


def _trust(count: int) -> str:
    condition = {"StringLike": {"aws:PrincipalArn": [f"arn:aws:iam::*:role/{number}" for number in range(4)]}}
    return json.dumps(
        {"Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": f"{number:012}"}, "Condition": condition} for number in range(count)]}
    )  # fmt: skip


def _ranges(count: int) -> list[dict[str, Any]]:
    cidrs = [f"8.{number // 256}.{number % 256}.0/24" for number in range(count)]
    return [{"from_port": 22, "to_port": 22, "protocol": "tcp", "cidr_blocks": cidrs, "ipv6_cidr_blocks": []}]


def _rules(count: int) -> list[dict[str, Any]]:
    return [{**_ranges(1)[0], "from_port": port, "to_port": port} for port in range(1000, 1000 + count)]


def _prefixed(count: int) -> list[dict[str, Any]]:
    return [
        {
            "from_port": 22,
            "to_port": 22,
            "protocol": "tcp",
            "prefix_list_ids": [f"pl-{number}" for number in range(count)],
        }
    ]


def _expiring(count: int) -> list[dict[str, Any]]:
    return [{"id": str(number), "status": "Enabled", "expiration": [{"days": number + 1}]} for number in range(count)]


def _singles(count: int) -> list[dict[str, Any]]:
    rule = {"security_group_id": "sg-1", "from_port": 22, "to_port": 22, "ip_protocol": "tcp"}
    return [
        {**effect("aws_vpc_security_group_ingress_rule", "create", attribute, value), "address": f"a.r{number}"}
        for number in range(count)
        for attribute, value in {**rule, "cidr_ipv4": f"8.0.{number % 256}.0/24"}.items()
    ]


GROWING: dict[str, Make] = {
    "statements of a policy": lambda n: document(effect("aws_iam_role_policy", "set", "policy", _statements(n))),
    "actions of a statement": lambda n: document(effect("aws_iam_role_policy", "set", "policy", _actions(n))),
    "statements of a trust policy": lambda n: document(effect("aws_iam_role", "set", "assume_role_policy", _trust(n))),
    "statements of a bucket policy": lambda n: document(
        effect("aws_s3_bucket_policy", "set", "policy", _statements(n, Principal={"AWS": ["*", "999999999999"]}))
    ),
    "ranges of a rule": lambda n: document(effect("aws_security_group", "set", "ingress", _ranges(n))),
    "rules of a group": lambda n: document(effect("aws_security_group", "set", "ingress", _rules(n))),
    "the world by many ranges": lambda n: document(
        effect("aws_security_group", "set", "ingress", [{**_ranges(1)[0], "cidr_blocks": [f"{number % 223}.{number // 223}.0.0/0" for number in range(n)]}])
    ),
    "ranges that are open already": lambda n: document(
        effect("aws_security_group", "set", "ingress", _ranges(n + 1), before=_ranges(n))
    ),
    "prefix lists that are open already": lambda n: document(
        effect("aws_security_group", "set", "ingress", _prefixed(n + 1), before=_prefixed(n))
    ),
    "rules of their own": lambda n: document(*_singles(n)),
    "alarms": lambda n: document(
        *({**effect("aws_cloudwatch_metric_alarm", "set", "actions_enabled", True), "address": f"a.x{number}"} for number in range(n))
    ),
    "deleted stores": lambda n: document(
        *({**effect("aws_dynamodb_table", "delete", "*", None), "address": f"a.x{number}"} for number in range(n))
    ),
    "rules of a lifecycle": lambda n: document(
        effect("aws_s3_bucket_lifecycle_configuration", "set", "rule", _expiring(n))
    ),
    "rules of a lifecycle as before": lambda n: document(
        effect("aws_s3_bucket_lifecycle_configuration", "set", "rule", _expiring(n), before=_expiring(n))
    ),
    "grants of a list": lambda n: document(
        effect("aws_s3_bucket_acl", "set", "access_control_policy.grant", [{"grantee": [{"id": f"id{number}"}], "permission": "READ"} for number in range(n)])
    ),
    "targets": lambda n: document(service="elbv2", operation="RegisterTargets", parameters={"Targets": [{"Id": f"203.0.113.{number}"} for number in range(n)]}),
}  # fmt: skip


def _contested(count: int, action: str = "set", flips: int = 0, **more: Any) -> dict[str, Any]:
    """Effects on many resources, and a claim on each."""
    attribute = "*" if action == "delete" else "size"
    effects = [{**effect("aws_x", action, attribute, 4), "address": f"aws_x.x{number}"} for number in range(count)]
    claim = {
        "attribute": "size", "value": 6, "actor": "other", "kind": "agent", "intent": "cost", "motivation": "incident", "evidence": ["A-1"],
        "since_ns": 1, "until_ns": None, "until": None, "unsettled": False, "relation": "same", **more,
    }  # fmt: skip
    claims = [{"id": f"clm_{number}", "address": f"aws_x.x{number}", **claim} for number in range(count)]
    return {
        **document(*effects),
        "claims": claims,
        "flips": {f"aws_x.x{number}.size": flips for number in range(count)},
    }


ARBITRATED: dict[str, Make] = {
    "claims of others": _contested,
    "unsettled claims": lambda n: _contested(n, unsettled=True),
    "claims of its own": lambda n: _contested(n, actor="somebody"),
    "claims on parts": lambda n: _contested(n, attribute="size.a.b.c"),
    "claims on other attributes": lambda n: _contested(n, attribute="other"),
    "frozen attributes": lambda n: _contested(n, flips=9),
    "deletions": lambda n: _contested(n, "delete"),
    "deletions of what others depend on": lambda n: _contested(n, "delete", address="aws_y.y", relation="dependant"),
}


class Counted:
    """A policy whose instructions are counted."""

    def __init__(self) -> None:
        bundle = read_bundle(shipped() / SHIPPED)
        config = wasmtime.Config()
        config.epoch_interruption = True
        config.consume_fuel = True
        self._engine = wasmtime.Engine(config)
        module = wasmtime.Module(self._engine, bundle.wasm)
        self._instance = _Fueled(module, engine=self._engine, data=bundle.data, memory_bytes=512 * 2**20, ticks=10**6)

    def work(self, asked: dict[str, Any], entrypoint: str = ENTRYPOINT) -> int:
        """How many instructions a decision takes."""
        before = self._instance.fuel()
        self._instance.evaluate(self._instance.entrypoints[entrypoint], json.dumps(asked).encode(), 10**6)
        return before - self._instance.fuel()


class _Fueled(WasmInstance):
    def _link(self, module: wasmtime.Module) -> Any:
        self._store.set_fuel(PLENTY)
        return super()._link(module)

    def fuel(self) -> int:
        return int(self._store.get_fuel())


@pytest.fixture(scope="module")
def counted() -> Counted:
    return Counted()


@pytest.mark.parametrize("make", GROWING.values(), ids=GROWING.keys())
def test_work_grows_with_size(counted: Counted, make: Make) -> None:
    small, large = counted.work(make(SMALL)), counted.work(make(LARGE))
    assert large <= MOST * small, f"{large / small:.1f} times the work for {LARGE // SMALL} times the size"


@pytest.mark.parametrize("make", ARBITRATED.values(), ids=ARBITRATED.keys())
def test_the_work_of_arbitration_grows_with_size(counted: Counted, make: Make) -> None:
    small, large = counted.work(make(SMALL), ARBITRATION), counted.work(make(LARGE), ARBITRATION)
    assert large <= MOST * small, f"{large / small:.1f} times the work for {LARGE // SMALL} times the size"
