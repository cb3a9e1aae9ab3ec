"""`Stacks` satisfies the `Inventory` Protocol."""

import inspect

from gateway.effects.inventory import Inventory
from gateway.terraform.stacks import Stacks


def test_the_stacks_have_the_same_methods_with_the_same_parameters() -> None:
    for name in ("locate", "find", "recorded", "place", "accounts"):
        wanted, given = (inspect.signature(getattr(kind, name)) for kind in (Inventory, Stacks))
        assert list(wanted.parameters) == list(given.parameters)
