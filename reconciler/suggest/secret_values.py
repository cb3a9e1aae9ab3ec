"""Values of variables in JSON without their secrets."""

from collections.abc import Mapping, Sequence

from gateway.model.json import Json
from gateway.model.masking import Masker
from gateway.terraform.secrets import may_hold_secret
from reconciler.suggest.secret_settings import VALUE_NAMES, has_secret_key, is_secret_label, is_secret_name


def masked_values(values: Mapping[str, Json], keys: frozenset[str], masker: Masker) -> tuple[Json, frozenset[str]]:
    """The values of variables with the secrets in them masked, and the texts that were. `keys` names secret variables: `var.a`."""
    found: set[str] = set()

    def hide(value: Json) -> Json:
        found.update(_texts(value))
        return masker.mask(value)

    def show(name: str, value: Json, *, labelled: bool) -> Json:
        secret = is_secret_name(name) or may_hold_secret("", name or "_") or (labelled and name in VALUE_NAMES)
        if secret or (isinstance(value, str) and has_secret_key(value)):
            return hide(value)
        if isinstance(value, Mapping):
            named = any(isinstance(item, str) and is_secret_label(item) for item in value.values())
            return {key: show(key, item, labelled=named) for key, item in value.items()}
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [show("", item, labelled=False) for item in value]
        return value

    shown: Json = {
        name: hide(value) if f"var.{name}" in keys else show(name, value, labelled=False)
        for name, value in values.items()
    }
    return shown, frozenset(found)


def _texts(value: Json) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset({value})
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, Sequence) else ()
    return frozenset(text for part in parts for text in _texts(part))
