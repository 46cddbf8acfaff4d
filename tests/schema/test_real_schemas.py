"""Real schemas of MaskBench: nothing invalid is let through, and random texts under the mask are valid."""

import json
import pathlib
import warnings

import pytest

from structgen.errors import UnsatisfiableSchemaError, UnsupportedSchemaError
from structgen.schema import SchemaWarning, resolve

DATA = pathlib.Path(__file__).parents[3] / "shared" / "data" / "maskbench"
FILES = sorted(DATA.glob("*.json")) if DATA.is_dir() else []
EVERY = 20

pytestmark = [
    pytest.mark.skipif(not FILES, reason="the shared data is not there"),
    pytest.mark.filterwarnings("ignore::structgen.schema.SchemaWarning"),
]


def _loaded(path):
    with path.open() as file:
        return json.load(file)


@pytest.mark.parametrize("path", FILES[::EVERY], ids=lambda path: path.stem)
def test_invalid_instances_are_refused_and_random_texts_are_valid(accepts, walks, path):
    case = _loaded(path)
    try:
        accepted = accepts(case["schema"])
    except (UnsupportedSchemaError, UnsatisfiableSchemaError) as error:
        assert error.keyword or isinstance(error, UnsatisfiableSchemaError)
        return
    for test in case["tests"]:
        if not test["valid"]:
            assert not accepted(json.dumps(test["data"], ensure_ascii=False)), test["data"]
    parse = resolve(case["schema"]).parse
    for text in walks(case["schema"], 2, whitespace="single"):
        parse(text)


def test_most_schemas_are_expressed_and_most_valid_instances_allowed(accepts):
    """Valid instances are refused for the order of their keys alone: what is counted here are those in order."""
    cases = [_loaded(path) for path in FILES[5::EVERY]]
    expressed = allowed = valid = 0
    for case in cases:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SchemaWarning)
            try:
                accepted = accepts(case["schema"])
            except UnsupportedSchemaError:
                continue
        expressed += 1
        for test in case["tests"]:
            if test["valid"]:
                valid += 1
                allowed += accepted(json.dumps(test["data"], ensure_ascii=False))
    assert expressed >= 0.95 * len(cases)
    assert allowed >= 0.93 * valid
