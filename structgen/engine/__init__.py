"""The engine: regexes, automata, vocabularies, Earley sets, masks. It imports nothing of the packages above it.

The modules that have a `.pxd` beside them are compiled by Cython where that is possible, and run as plain Python
where it is not. `STRUCTGEN_UNCOMPILED=1` in the environment runs them as plain Python even when they are compiled.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Sequence
from types import ModuleType


class _SourceFinder:
    """Finds this package's modules as `.py` files, past compiled twins in the same folder."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package, _, module = name.rpartition(".")
        if package != __name__:
            return None
        location = os.path.join(os.path.dirname(__file__), f"{module}.py")
        return importlib.util.spec_from_file_location(name, location) if os.path.exists(location) else None


if os.environ.get("STRUCTGEN_UNCOMPILED") == "1":
    sys.meta_path.insert(0, _SourceFinder)
