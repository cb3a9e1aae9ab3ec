"""Splits a batch into its single calls: each entry with what the batch says for all of them."""

from collections.abc import Iterator, Mapping
from functools import cache, partial

from gateway.effects.call_context import CallContext
from gateway.effects.proxies.carried import Carried, Carrier, Parcel, Unread, inner_call
from gateway.effects.proxies.sdk_models import Batch, batches
from gateway.effects.values import NotUnderstood


@cache
def batch_carrier(service: str, operation: str) -> Carrier | None:
    """How a batch is split; None if the operation is none."""
    batch = batches().get((service, operation))
    return None if batch is None else Carrier(unpack=partial(split, batch), own=False)


def split(batch: Batch, context: CallContext) -> Iterator[Parcel]:
    """The single calls of a batch. The label of an entry is dropped. Raises `NotUnderstood`."""
    entries = context.call.parameters.get(batch.entries)
    if not isinstance(entries, (list, tuple)) or not entries:
        raise NotUnderstood(f"{batch.entries} has no entries")
    common = {name: value for name, value in context.call.parameters.items() if name != batch.entries}
    seen: set[str] = set()
    for number, entry in enumerate(entries, 1):
        call = inner_call(context, context.call.service, batch.single, {**common, **_parameters(batch, entry, number)})
        if call.exact_digest in seen:
            yield Unread(f"entry {number} of {batch.entries} repeats another one")
            continue
        seen.add(call.exact_digest)
        yield Carried(call=call, now=True)


def _parameters(batch: Batch, entry: object, number: int) -> Mapping[str, object]:
    if batch.parameter and isinstance(entry, str):
        return {batch.parameter: entry}
    if batch.parameter or not isinstance(entry, Mapping):
        raise NotUnderstood(f"entry {number} of {batch.entries} is in an unknown form")
    return {str(name): value for name, value in entry.items() if name != batch.label}
