"""The library of all compiled modules, which `setup.py` builds. `structgen.engine` finds the modules in it."""

MODULES: frozenset[str]
"""Their names."""
