"""Resources as the state has them and as they are now, for `sentinel effects learn`. Secrets are left out."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from gateway.core.model.json import Json
from gateway.terraform.secrets import is_secret, may_hold_secret
from reconciler.terraform.live_reads import LiveReads
from reconciler.terraform.plugin.state_resources import StoredResource, read_stored


async def observe(reads: LiveReads, root: Path, *, state: Path, targets: Sequence[str]) -> list[dict[str, Json]]:
    """Address, type, attributes before (in the state) and after (now; null if it does not exist) of each target that can be read.

    Raises as `LiveReads.refresh`, `errors.PluginUnavailable` for a state that cannot be read.
    """
    stored = read_stored(state, targets)
    live = await reads.refresh(root, state=state, targets=targets)
    return [
        {
            "address": each.address,
            "type": each.resource_type,
            "before": _shown(each, each.attributes),
            "after": _shown(each, live.objects[each.address]) if live.exists(each.address) else None,
        }
        for each in stored
        if live.exists(each.address) is not None
    ]


def _shown(stored: StoredResource, attributes: Mapping[str, Json]) -> dict[str, Json]:
    """The attributes that are no secrets and hold none."""
    kind = stored.resource_type
    return {
        name: value
        for name, value in attributes.items()
        if name not in stored.sensitive and not is_secret(kind, name) and not may_hold_secret(kind, name)
    }
