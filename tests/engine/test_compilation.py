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
compiled_only = pytest.mark.skipif(UNCOMPILED, reason="compiled modules are not used in this run")


def library():
    """Return the file of the compiled modules, or None."""
    found = [PACKAGE / f"_compiled{suffix}" for suffix in importlib.machinery.EXTENSION_SUFFIXES]
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


@compiled_only
def test_the_library_has_all_hot_modules():
    from structgen import _compiled

    assert set(HOT) < _compiled.MODULES


@compiled_only
@pytest.mark.parametrize("name", HOT)
def test_a_compiled_module_looks_like_one_of_a_file(name):
    module = importlib.import_module(name)
    assert module.__name__ == module.__spec__.name == name
    assert module.__package__ == name.rpartition(".")[0]
    assert module.__file__ == module.__spec__.origin == str(library())
    assert getattr(sys.modules[module.__package__], name.rpartition(".")[2]) is module


@compiled_only
@pytest.mark.parametrize("room", ["engine", "schema", "tokenization"])
def test_compiled_modules_are_found_whichever_is_imported_first(room):
    """Those of another package than the engine are imported where nothing else has been."""
    first = next(name for name in HOT if name.startswith(f"structgen.{room}."))
    code = f"import {first} as module; assert not module.__file__.endswith('.py'), module.__file__"
    assert run(code, PACKAGE.parent) == ""


@compiled_only
def test_compiled_modules_are_not_older_than_their_sources():
    built = library()
    assert built is not None, "run `make build`"
    if not (PACKAGE.parent / "setup.py").exists():
        return  # an installed package: its files have the times of the installation
    for name in HOT:
        source = PACKAGE.parent.joinpath(*name.split(".")).with_suffix(".py")
        for file in (source, source.with_suffix(".pxd")):
            assert file.stat().st_mtime <= built.stat().st_mtime, f"{file.name} was changed: run `make build`"


def test_the_order_of_functions_names_compiled_modules():
    file = PACKAGE.parent / "tools" / "function_order.txt"
    if not file.exists():
        pytest.skip("the package is installed: its build is not here")
    in_c = {name: "_".join(f"{len(part)}{part}" for part in name.split(".")) for name in HOT}
    names = [line for line in file.read_text(encoding="utf-8").splitlines() if "_9structgen_" in line]
    assert len(names) > 1000
    for name in names:
        assert any(f"_{part}_" in name for part in in_c.values()), name
    run_often = {name for name, part in in_c.items() if any(f"_{part}_" in line for line in names)}
    assert len(run_often) > len(HOT) / 2


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


@compiled_only
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
    built = sorted({*HOT} - {"structgen.engine.vocabulary.token_trie"})
    (tmp_path / "structgen" / "_compiled.py").write_text(f"MODULES = frozenset({built})", encoding="utf-8")
    said = run("import structgen.engine", tmp_path)
    assert "runs uncompiled (token_trie)" in said
