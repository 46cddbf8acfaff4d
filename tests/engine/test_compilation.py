"""One source, two speeds: the variant that is loaded, and the warning about it."""

import importlib
import importlib.machinery
import inspect
import os
import pathlib
import runpy
import shutil
import subprocess
import sys

import pytest

import structgen

PACKAGE = pathlib.Path(structgen.__file__).parent
HOT = sorted(".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts) for file in PACKAGE.rglob("*.pxd"))
UNCOMPILED = os.environ.get("STRUCTGEN_UNCOMPILED") == "1"


def twin(source):
    """Return the compiled file beside a source, or None."""
    found = [source.with_name(source.stem + suffix) for suffix in importlib.machinery.EXTENSION_SUFFIXES]
    return next((file for file in found if file.exists()), None)


def test_the_engine_has_hot_modules():
    assert {
        "structgen.engine.vocabulary.token_trie",
        "structgen.engine.earley.item_sets",
        "structgen.engine.masks.set_masks",
    } <= set(HOT)


@pytest.mark.parametrize("name", HOT)
def test_the_variant_asked_for_is_loaded(name):
    file = importlib.import_module(name).__file__
    assert file.endswith(".py" if UNCOMPILED else tuple(importlib.machinery.EXTENSION_SUFFIXES))


@pytest.mark.skipif(UNCOMPILED, reason="compiled modules are not used in this run")
@pytest.mark.parametrize("name", HOT)
def test_compiled_modules_are_not_older_than_their_sources(name):
    source = PACKAGE.parent.joinpath(*name.split(".")).with_suffix(".py")
    built = twin(source)
    assert built is not None, "run `make build`"
    if not (PACKAGE.parent / "setup.py").exists():
        return  # an installed package: its files have the times of the installation
    for file in (source, source.with_suffix(".pxd")):
        assert file.stat().st_mtime <= built.stat().st_mtime, f"{file.name} was changed: run `make build`"


def test_the_lists_of_the_build_name_compiled_modules(monkeypatch):
    setuptools = pytest.importorskip("setuptools", reason="the build group has it")
    file = PACKAGE.parent / "setup.py"
    if not file.exists():
        pytest.skip("the package is installed: its build is not here")
    monkeypatch.setenv("STRUCTGEN_BUILD", "skip")
    monkeypatch.setattr(setuptools, "setup", lambda **_: None)
    build = runpy.run_path(str(file))
    for kind in ("PLAIN", "ACYCLIC", "PUBLIC", "VECTORS", "COLD", "COPIES"):
        assert {f"structgen.{part}" for part in build[kind]} <= set(HOT), kind
    assert not build["VECTORS"] & build["COLD"]


@pytest.mark.skipif(UNCOMPILED, reason="compiled modules are not used in this run")
def test_help_shows_signatures_of_what_users_call():
    from structgen.engine.matching.matcher import Matcher

    assert list(inspect.signature(Matcher.accept_token).parameters) == ["self", "token_id"]
    assert "vocab_size" in inspect.signature(structgen.allocate_token_bitmask).parameters


# -- the warning -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sources_only(tmp_path_factory):
    """Return a folder with the package without any compiled file."""
    folder = tmp_path_factory.mktemp("uncompiled")
    shutil.copytree(PACKAGE, folder / "structgen", ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    return folder


def run(code, folder, **environment):
    """Run code in a folder, from which modules are imported first; return what it prints on stderr."""
    environment = {key: value for key, value in os.environ.items() if key != "STRUCTGEN_UNCOMPILED"} | environment
    command = [sys.executable, "-W", "always", "-c", code]
    done = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True, timeout=60)
    return done.stderr


USE = (
    "import structgen, structgen.engine.vocabulary.token_trie as hot\n"
    "assert hot.__file__.endswith('.py'), hot.__file__\n"
    "print(structgen.Vocabulary.from_bytes({0: b'a'}))"
)


def test_one_warning_where_nothing_is_compiled(sources_only):
    said = run(USE, sources_only)
    assert said.count("UncompiledWarning") == 1
    assert "token_trie" in said
    assert "C compiler" in said


def test_no_warning_where_plain_python_is_asked_for(sources_only):
    assert run(USE, sources_only, STRUCTGEN_UNCOMPILED="1") == ""
    assert run(USE, PACKAGE.parent, STRUCTGEN_UNCOMPILED="1") == ""


def test_the_warning_can_be_filtered(sources_only):
    quiet = "import warnings; warnings.simplefilter('ignore', RuntimeWarning)\n"
    assert run(quiet + USE, sources_only) == ""


def test_only_what_is_missing_is_named(sources_only, tmp_path):
    shutil.copytree(sources_only / "structgen", tmp_path / "structgen")
    for name in HOT:
        if name != "structgen.engine.vocabulary.token_trie":
            source = tmp_path.joinpath(*name.split("."))
            source.with_suffix(importlib.machinery.EXTENSION_SUFFIXES[-1]).touch()
    said = run("import structgen.engine", tmp_path)
    assert "runs uncompiled (token_trie)" in said
