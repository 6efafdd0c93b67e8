"""Digests of what has been built and checked: the tables of data/digests.toml, which is installed with the package."""

import os
from functools import cache

from solver.files import read_whole
from solver.folders import shared_folders


@cache
def published(table: str) -> dict[str, str]:
    """Return a table of digests by name: `digests` has those of stores, `proofs` those of proof files."""
    import tomllib  # only now: a query of a store needs no digest

    for folder in shared_folders():
        try:
            digests = tomllib.loads(read_whole(os.path.join(folder, "digests.toml")).decode())[table]
            return {str(name): str(digest) for name, digest in digests.items()}
        except (OSError, ValueError, KeyError, AttributeError, RecursionError):
            continue  # it is not there, or not ours
    return {}
