"""The name under which the package is installed: the index has another project's package called structgen."""

import importlib.metadata
import pathlib
import re
import runpy
import tomllib

import pytest
import setuptools

import structgen
from structgen.cli import main

ROOT = pathlib.Path(__file__).parents[2]
NAME = "structgen-llm"
FILES = [
    path
    for pattern in ("*.md", "*.toml", "Makefile", "docs/*.md", "requirements/*", "structgen/**/*.py", "examples/*.py")
    for path in sorted(ROOT.glob(pattern))
]
_STRANGER = re.compile(r"""\bstructgen\[[a-z]|\binstall\s+(?:-\S+\s+)*["']?structgen(?![\w-])""")
"""An extra of, or an installation of, the package of the other project."""


def test_nothing_that_we_print_installs_the_package_of_another_project():
    assert _STRANGER.search("pip install 'structgen[serve]'") and _STRANGER.search("pip install -U structgen")
    assert not _STRANGER.search("pip install 'structgen-llm[serve]'")
    assert len(FILES) > 300
    for path in FILES:
        found = _STRANGER.search(path.read_text(encoding="utf-8"))
        assert found is None, (path, found)


def test_extras_that_hints_name_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == NAME
    named = {
        extra for path in FILES for extra in re.findall(rf"{NAME}\[([a-z0-9-]+)\]", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 5
    assert named <= set(project["optional-dependencies"])


def test_version(capsys):
    assert importlib.metadata.version(NAME) == structgen.__version__
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"structgen {structgen.__version__}\n"


def test_the_oldest_versions_that_are_tested_are_the_lower_bounds():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["transformers"]]
    lines = (ROOT / "requirements" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert len(pins) > 3
    assert {pin.replace("==", ">=") for pin in pins} <= set(needed)


def test_modules_with_other_checks_are_never_built_from_the_same_c(monkeypatch):
    monkeypatch.setattr(setuptools, "setup", lambda **_: None)
    monkeypatch.setenv("STRUCTGEN_BUILD", "skip")
    checked = {}
    for value in ("", "1"):
        monkeypatch.setenv("STRUCTGEN_BOUNDS", value)
        build = runpy.run_path(str(ROOT / "setup.py"))
        checked[build["BUILD_FOLDER"]] = build["DIRECTIVES"]["boundscheck"]
    assert sorted(checked.values()) == [False, True]
