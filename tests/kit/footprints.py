"""The footprints of all blocks of a module, made from nothing: what an edit's own, narrower comparison is judged by."""

from gateway.terraform.config.module import Module
from reconciler.rewrite.footprint.changes import block_keys, parts_of
from reconciler.rewrite.footprint.values import Footprint, Marker


def footprints(module: Module) -> dict[str, dict[str, Footprint]]:
    """Attributes by address, for every block whose change would show in a plan.

    The addresses of instances with unknown keys, and of blocks other than resources, begin with `?`.
    """
    marker = Marker()
    every = (part for each in module.modules() for keys in block_keys(each) for part in parts_of(each, keys))
    return {part.address: part.footprint(marker) for part in every}
