"""Archives the records of a ledger, and kills itself at a point."""

import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gateway.core.failpoints import Point, arm
from gateway.ledger.archive.archiving import archive_records
from gateway.ledger.chain.checkpoint import CheckpointFile
from gateway.ledger.store.database import open_store
from tests.kit.stores import KEYS


def _main() -> None:
    url, checkpoint, to, point = sys.argv[1:]

    def hit(reached: Point, *_: Any) -> None:
        if reached == point:
            os.kill(os.getpid(), signal.SIGKILL)

    arm(hit)
    now = datetime.now(UTC)
    file = CheckpointFile(Path(checkpoint), KEYS.signing)
    archive_records(open_store(url), KEYS, file, to=Path(to), before=now, now=now)


if __name__ == "__main__":
    _main()
