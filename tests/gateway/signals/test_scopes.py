"""Labels decide which resources a signal concerns. A label that is no plain name concerns none."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from gateway.core.model.signal import SignalEvent, SignalScope, SignalState
from gateway.core.settings.signals import ConcernSettings, SignalForm, SignalSourceSettings
from gateway.signals.scopes import concerns, mapped

BY_NAME = ConcernSettings(
    labels={"env": "prod*"}, stack="{stack}", addresses=("module.{service}.*", "aws_lb.{service}")
)


def scopes(labels: dict[str, str], *rules: ConcernSettings) -> Sequence[SignalScope]:
    event = SignalEvent(source="s", key="k", name="n", state=SignalState.OPEN, at=datetime.now(UTC), labels=labels)
    settings = SignalSourceSettings(name="s", form=SignalForm.ALERTMANAGER, secret_env="S", concerns=rules)
    return mapped(event, settings).scopes


def test_labels_stand_in_for_names() -> None:
    labels = {"env": "prod-1", "stack": "shop", "service": "cart"}
    assert scopes(labels, BY_NAME, BY_NAME) == (SignalScope(stack="shop", addresses=("module.cart.*", "aws_lb.cart")),)


@pytest.mark.parametrize(
    "labels",
    [
        {},
        {"env": "dev", "stack": "shop", "service": "cart"},
        {"env": "prod", "stack": "shop"},
        {"env": "prod", "stack": "*", "service": "cart"},
        {"env": "prod", "stack": "shop", "service": "*"},
        {"env": "prod", "stack": "shop", "service": "a?"},
        {"env": "prod", "stack": "shop", "service": "{stack}"},
        {"env": "prod", "stack": "shop", "service": ""},
    ],
)
def test_what_does_not_fit_concerns_nothing(labels: dict[str, str]) -> None:
    assert scopes(labels, BY_NAME) == ()


@pytest.mark.parametrize(
    ("stack", "address", "fits"),
    [
        ("shop", "module.cart.aws_lb.a[0]", True),
        ("shop", "aws_lb.cart", True),
        ("shop", "aws_lb.carts", False),
        ("other", "aws_lb.cart", False),
        ("", "aws_lb.cart", False),
    ],
)
def test_a_scope_covers_the_resources_of_its_stack(stack: str, address: str, fits: bool) -> None:
    found = scopes({"env": "prod", "stack": "shop", "service": "cart"}, BY_NAME)
    assert concerns(found, stack, address) == fits


def test_every_stack_includes_resources_that_none_declares() -> None:
    everywhere = scopes({}, ConcernSettings(stack="*"))
    assert concerns(everywhere, "", "aws_x.y")
    assert concerns(everywhere, "shop", "aws_x.y")
    assert not concerns((), "shop", "aws_x.y")
