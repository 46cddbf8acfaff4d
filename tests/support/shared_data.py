"""Where the official JSON-Schema-Test-Suite and MaskBench's real schemas lie, and what is in them.

Neither is part of the project. `STRUCTGEN_DATA=FOLDER` names a folder that holds `json-schema-test-suite/` (with its
`tests/` and `remotes/`) and `maskbench/` (a JSON file for each schema, with its instances).
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import pathlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import referencing
import referencing.jsonschema

__all__ = ["NO_DATA", "Case", "Instance", "real_case", "real_files", "remotes", "suite_cases", "suite_files"]

FOLDER = pathlib.Path(
    os.environ.get("STRUCTGEN_DATA") or pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"
)
SUITE = FOLDER / "json-schema-test-suite"
MASKBENCH = FOLDER / "maskbench"
NO_DATA = "the data is not there: STRUCTGEN_DATA names its folder (see CONTRIBUTING.md)"

DRAFTS = ("draft2020-12", "draft7")
"""The drafts that are run."""

_NAMES = {
    "draft3": "http://json-schema.org/draft-03/schema#",
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
"""The `$schema` of the drafts, by the suite's folders."""


@dataclass(frozen=True)
class Instance:
    """A value, and whether its schema allows it."""

    description: str
    data: Any
    is_valid: bool


@dataclass(frozen=True)
class Case:
    """A schema with instances: a group of the official suite, or a file of MaskBench."""

    name: str
    schema: Any
    instances: tuple[Instance, ...]

    def without(self, is_left_out: Callable[[Instance], bool]) -> Case:
        """The same case with fewer instances."""
        return dataclasses.replace(self, instances=tuple(i for i in self.instances if not is_left_out(i)))


def suite_files() -> list[str]:
    """The suite's files as `draft7/optional/format/date`, in the order of their names; empty where there is no data."""
    folder = SUITE / "tests"
    found = (file for draft in DRAFTS for file in (folder / draft).rglob("*.json"))
    return sorted(file.relative_to(folder).with_suffix("").as_posix() for file in found)


def suite_cases(file: str) -> Iterator[Case]:
    """The groups of one file of the suite.

    A group that does not name its draft is in the one of its folder; `optional/no-schema` is about just that.
    """
    draft, _, rest = file.partition("/")
    for group in json.loads((SUITE / "tests" / f"{file}.json").read_text()):
        schema = group["schema"]
        if isinstance(schema, dict) and rest != "optional/no-schema":
            schema = {"$schema": _NAMES[draft]} | schema
        tests = (Instance(test["description"], test["data"], test["valid"]) for test in group["tests"])
        yield Case(group["description"], schema, tuple(tests))


@functools.cache
def remotes() -> referencing.Registry[Any]:
    """What the suite expects to find at `http://localhost:1234/`."""
    folder = SUITE / "remotes"
    registry: referencing.Registry[Any] = referencing.Registry()
    for file in folder.rglob("*.json"):
        path = file.relative_to(folder).as_posix()
        contents = json.loads(file.read_text())
        resource = referencing.Resource.from_contents(contents, default_specification=_specification(path))
        registry = registry.with_resource(f"http://localhost:1234/{path}", resource)
    return registry


def _specification(path: str) -> referencing.Specification[Any]:
    """The draft of a remote schema that does not say: that of its folder, the newest one outside of them."""
    return referencing.jsonschema.specification_with(_NAMES.get(path.partition("/")[0], _NAMES["draft2020-12"]))


def real_files() -> list[pathlib.Path]:
    """MaskBench's files, in the order of their names; empty where there is no data."""
    return sorted(MASKBENCH.glob("*.json"))


def real_case(path: pathlib.Path) -> Case:
    """One schema of MaskBench with its instances, which have numbers: their descriptions are all alike."""
    content = json.loads(path.read_text())
    numbered = (Instance(f"#{n}", test["data"], test["valid"]) for n, test in enumerate(content["tests"]))
    return Case(path.stem, content["schema"], tuple(numbered))
