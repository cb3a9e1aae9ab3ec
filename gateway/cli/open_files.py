"""How many connections this process may have by the system's limit of open files, which is raised as far as they need it.

Each has a file, and so may the connection to AWS of its request. Without the limit, strangers who only connect would take the files that the ledger, the
policies and the calls to AWS need.
"""

import resource
from typing import Final

RESERVE: Final = 256
"""Files for everything else: the ledger, policies, logs, programs that the gateway starts."""
_FEWEST: Final = 16
"""Connections that there may be whatever the limit is."""


def connections_within(most: int) -> int:
    """Let this process open the files that `most` connections need, if its hard limit lets it; how many connections it may have."""
    needed = 2 * most + RESERVE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if soft == resource.RLIM_INFINITY or soft >= files:
        files = needed if soft == resource.RLIM_INFINITY else min(needed, soft)
    else:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    return max(_FEWEST, min(most, (files - RESERVE) // 2))
