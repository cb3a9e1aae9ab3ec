"""One of several stacks alone, as a plan of it sees the world."""

from gateway.errors import NotFound
from gateway.terraform.stack import Stack
from gateway.terraform.stacks import Stacks


class OneStack(Stacks):
    """One stack. An address that it does not have yet belongs to it too, so that its contracts hold for what a plan creates."""

    def __init__(self, stack: Stack) -> None:
        super().__init__((), default_mode=stack.mode)
        self._stack = stack

    @property
    def stack(self) -> Stack:
        """The stack, which nothing reloads."""
        return self._stack

    @property
    def all(self) -> tuple[Stack, ...]:
        """The stack alone."""
        return (self._stack,)

    @property
    def default_name(self) -> str:
        """Its name."""
        return self._stack.name

    def snapshot(self) -> "OneStack":
        """Itself."""
        return self

    def declaring(self, address: str) -> Stack:  # noqa: ARG002  the base class's signature
        """The stack."""
        return self._stack


def one_stack(stacks: Stacks, name: str) -> OneStack:
    """The stack of this name alone, as it is now. Raises `errors.NotFound`."""
    for stack in stacks.all:
        if stack.name == name:
            return OneStack(stack)
    names = ", ".join(stack.name for stack in stacks.all) or "none"
    raise NotFound(f"There is no stack {name[:64]!r}. The settings have: {names}.")
