"""docs/json-schema.md is what the benchmark writes from its committed results, with the limits of today."""

import json
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "json_schema.json"


@pytest.mark.skipif(not RESULTS.exists(), reason="the benchmark json_schema has not been run")
def test_the_page_is_up_to_date(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from _schema_page import page

    text = (ROOT / "docs" / "json-schema.md").read_text()
    assert text == page(json.loads(RESULTS.read_text())), "run: python benchmarks/json_schema.py --page-only"
    for name in ("_schema_page", "_schema_keywords"):
        del sys.modules[name]


def test_keywords_of_a_schema(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from _schema_keywords import keywords_of, sections

    schema = {"items": [True, {"format": "date"}], "x": {"not": {}}, "properties": {"enum": {"const": {"minimum": 1}}}}
    assert keywords_of(schema) == {
        "items (a list)",
        "true and false as schemas",
        "format",
        "format: date",
        "(unknown)",
        "properties",
        "const",
    }
    drafts = {keyword: found for section in sections().values() for keyword, found in section.items()}
    assert drafts["dependencies"] == ["4", "6", "7"]
    assert drafts["prefixItems"] == ["2020-12"]
