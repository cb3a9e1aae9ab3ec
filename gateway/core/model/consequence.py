"""Says in a sentence what an effect does that no pair of values shows: a deletion, a creation, an action."""

from gateway.core.model.mutation import EffectAction
from gateway.core.model.path import WHOLE


def consequence(action: EffectAction, attribute: str) -> str:
    """The sentence for the people who decide on the effect; empty for a new value, which shows itself."""
    whole = attribute == WHOLE
    match action:
        case EffectAction.DELETE if whole:
            return "This resource goes, with everything that is stored in it. Its code can make an empty one again; nothing brings the data back."
        case EffectAction.DELETE:
            return "This attribute goes, with its value."
        case EffectAction.CREATE if whole:
            return "This resource is created."
        case EffectAction.INVOKE if whole:
            return "This is an action on the resource. Its parameters say what it does."
        case EffectAction.INVOKE:
            return "The attribute gets a value that only AWS knows."
    return ""
