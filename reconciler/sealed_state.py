"""Seals what DBOS stores of workflows with a key of ours: its own form is Python's pickle, and who may write its tables would run code here.

What is not sealed is never read. Sealed are arguments, results and errors alike, so that nobody but a reconciler with the key makes one up.
"""

import base64
import binascii
import hmac
import pickle
from typing import Any, Final

from dbos import _serialization as dbos_forms
from dbos._serialization import Serializer

from gateway.core.errors import SentinelError

NAME: Final = "sentinel_sealed"
_TAG_BYTES: Final = 32


class StateForged(SentinelError):
    """What a workflow stored is not what a reconciler with our key wrote."""

    code = "workflow_forged"

    def __init__(self) -> None:
        super().__init__(
            "The stored state of a workflow is not sealed with this reconciler's key, so it was not read: somebody else wrote it, or it is of an "
            "older version. Nothing was done with it; the ledger says what is still to be written back."
        )


class SealedSerializer(Serializer):
    """DBOS's serializer with the key. Only what carries a valid seal is unpickled."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def name(self) -> str:
        """What DBOS stores beside each value."""
        return NAME

    def serialize(self, data: Any) -> str:
        """The sealed text of a value."""
        content = pickle.dumps(data)
        return base64.b64encode(self._seal(content) + content).decode()

    def deserialize(self, serialized_data: str) -> Any:
        """The value. Raises `StateForged`."""
        try:
            sealed = base64.b64decode(serialized_data, validate=True)
        except (binascii.Error, ValueError, TypeError):
            raise StateForged from None
        seal, content = sealed[:_TAG_BYTES], sealed[_TAG_BYTES:]
        if not hmac.compare_digest(seal, self._seal(content)):
            raise StateForged
        return pickle.loads(content)  # noqa: S301  sealed: it was pickled here, or by another process with the key

    def _seal(self, content: bytes) -> bytes:
        return hmac.digest(self._key, b"sentinel workflow\0" + content, "sha256")


def refuse_unsealed() -> None:
    """Have DBOS read no other form: the row itself names its form, and DBOS would unpickle what says `py_pickle`, whatever serializer it is given."""

    def refused(_self: object, _text: object) -> Any:
        raise StateForged

    for form in (dbos_forms.DefaultSerializer, dbos_forms.DBOSPortableJSONSerializer):
        form.deserialize = refused  # type: ignore[method-assign,assignment]  # DBOS has no switch for it
