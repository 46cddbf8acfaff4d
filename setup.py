"""Builds the hot modules of the engine with Cython; everything else about the package is in pyproject.toml.

STRUCTGEN_BUILD=skip      build no extension: the same files run as plain Python, slower.
STRUCTGEN_BUILD=require   fail when an extension cannot be built (what the tests use).
By default a missing compiler costs speed, not the installation.
"""

import os
import pathlib

from setuptools import setup

HERE = pathlib.Path(__file__).parent
BUILD = os.environ.get("STRUCTGEN_BUILD", "optional")


def extensions():
    """One extension for each engine module that has a .pxd beside it."""
    if BUILD == "skip":
        return []
    from Cython.Build import cythonize
    from setuptools import Extension

    modules = sorted(p.relative_to(HERE).with_suffix("") for p in (HERE / "structgen").rglob("*.pxd"))
    found = [
        Extension(".".join(m.parts), [f"{m.as_posix()}.py"], optional=BUILD != "require", extra_compile_args=["-O2"])
        for m in modules
        if m.name != "__init__"
    ]
    directives = {
        "language_level": 3,
        "boundscheck": False,
        "wraparound": False,
        "cdivision": True,
        "initializedcheck": False,
        "annotation_typing": False,
    }
    return cythonize(found, compiler_directives=directives, build_dir="build", quiet=True)


setup(ext_modules=extensions())
