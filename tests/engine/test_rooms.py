"""The docstrings of rooms are maps: they name each module of the room."""

import importlib
import pathlib
import re

import pytest

import structgen.engine

ENGINE = pathlib.Path(structgen.engine.__file__).parent


@pytest.mark.parametrize("room", ["automata", "grammar", "masks"])
def test_the_map_of_a_room_names_its_modules(room: str) -> None:
    text = importlib.import_module(f"structgen.engine.{room}").__doc__ or ""
    named = set(re.findall(r"`([a-z_]+)`", text))
    modules = {path.stem for path in (ENGINE / room).glob("*.py")} - {"__init__"}
    assert modules - named == set()
    everywhere = {path.stem for path in ENGINE.rglob("*.py")}
    unknown = {name for name in named if "_" in name} - everywhere
    assert unknown == set()
